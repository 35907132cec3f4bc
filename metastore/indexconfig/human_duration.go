package indexconfig

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// HumanDuration is a length of time as the peer reads it from text and writes
// it back: in years (365.25 days), months (30.44 days), days, hours and so on
// down to nanoseconds. It reaches further than time.Duration.
type HumanDuration struct {
	seconds uint64
	nanos   uint32 // below 10^9
}

const (
	secondsPerMinute = 60
	secondsPerHour   = 60 * secondsPerMinute
	secondsPerDay    = 24 * secondsPerHour
	secondsPerMonth  = 2_630_016  // 30.44 days
	secondsPerYear   = 31_557_600 // 365.25 days

	nanosPerSecond = 1_000_000_000
	// What is longer cannot be meant; the bounds keep exact arithmetic cheap.
	maxDurationText   = 1000 // characters of a duration text
	maxDurationNumber = 40   // characters of one number in it
)

// durationUnit returns the length of a unit in nanoseconds. Unit names are
// case-sensitive: "m" are minutes, "M" are months.
func durationUnit(name string) (nanos int64, known bool) {
	switch name {
	case "nanos", "nsec", "ns":
		return 1, true
	case "micros", "usec", "us", "µs":
		return 1_000, true
	case "millis", "msec", "ms":
		return 1_000_000, true
	case "seconds", "second", "secs", "sec", "s":
		return nanosPerSecond, true
	case "minutes", "minute", "min", "mins", "m":
		return secondsPerMinute * nanosPerSecond, true
	case "hours", "hour", "hrs", "hr", "h":
		return secondsPerHour * nanosPerSecond, true
	case "days", "day", "d":
		return secondsPerDay * nanosPerSecond, true
	case "weeks", "week", "wks", "wk", "w":
		return 7 * secondsPerDay * nanosPerSecond, true
	case "months", "month", "M":
		return secondsPerMonth * nanosPerSecond, true
	case "years", "year", "yrs", "yr", "y":
		return secondsPerYear * nanosPerSecond, true
	default:
		return 0, false
	}
}

// ParseHumanDuration reads a duration such as "2 days", "1week 1h 90s" or
// "1.5 days": numbers, each followed by its unit.
func ParseHumanDuration(text string) (HumanDuration, error) {
	fail := func(problem string) (HumanDuration, error) {
		return HumanDuration{}, fmt.Errorf("%s is not a duration such as \"30 days\" or \"1h 30m\": %s", strictjson.Quote(text), problem)
	}
	rest := strings.TrimSpace(text)
	if rest == "" {
		return fail("it is empty")
	}
	if len(rest) > maxDurationText {
		return fail("it is too long")
	}
	total := new(big.Rat)
	for rest != "" {
		digits := prefixLength(rest, func(c byte) bool { return isDigit(c) || c == '.' })
		number, ok := new(big.Rat), digits > 0 && digits <= maxDurationNumber && isDigit(rest[0])
		if ok {
			number, ok = number.SetString(rest[:digits])
		}
		if !ok {
			return fail("a number was expected at " + strictjson.Quote(rest))
		}
		rest = strings.TrimLeft(rest[digits:], " \t\r\n")
		letters := prefixLength(rest, func(c byte) bool { return isLetter(c) || c >= 0x80 })
		unit, known := durationUnit(rest[:letters])
		if !known {
			if letters == 0 {
				return fail("a unit is missing after a number")
			}
			return fail("unknown unit " + strictjson.Quote(rest[:letters]))
		}
		rest = strings.TrimLeft(rest[letters:], " \t\r\n")
		total.Add(total, number.Mul(number, new(big.Rat).SetInt64(unit)))
	}
	nanos := new(big.Int).Quo(total.Num(), total.Denom())
	seconds, remainder := nanos.QuoRem(nanos, big.NewInt(nanosPerSecond), new(big.Int))
	if !seconds.IsUint64() {
		return fail("it is too long")
	}
	return HumanDuration{seconds: seconds.Uint64(), nanos: uint32(remainder.Uint64())}, nil
}

func prefixLength(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

// String returns the canonical form: groups joined by blanks, largest unit
// first, "s" for the plural of years, months and days only, "0s" for zero.
func (d HumanDuration) String() string {
	if d == (HumanDuration{}) {
		return "0s"
	}
	var groups []string
	add := func(n uint64, unit string, plural bool) {
		if n == 0 {
			return
		}
		group := strconv.FormatUint(n, 10) + unit
		if plural && n > 1 {
			group += "s"
		}
		groups = append(groups, group)
	}
	inYear := d.seconds % secondsPerYear
	inMonth := inYear % secondsPerMonth
	inDay := inMonth % secondsPerDay
	add(d.seconds/secondsPerYear, "year", true)
	add(inYear/secondsPerMonth, "month", true)
	add(inMonth/secondsPerDay, "day", true)
	add(inDay/secondsPerHour, "h", false)
	add(inDay%secondsPerHour/secondsPerMinute, "m", false)
	add(inDay%secondsPerMinute, "s", false)
	nanos := uint64(d.nanos)
	add(nanos/1_000_000, "ms", false)
	add(nanos/1_000%1_000, "us", false)
	add(nanos%1_000, "ns", false)
	return strings.Join(groups, " ")
}

// readDuration reads a duration in text form; a bare number is none.
func readDuration(r *strictjson.Reader, into *HumanDuration) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	duration, err := ParseHumanDuration(text)
	*into = duration
	return err
}
