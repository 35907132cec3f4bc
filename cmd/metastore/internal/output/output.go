// Package output writes the results of commands: tables for people, JSON for machines.
package output

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format is how a command writes its result.
type Format string

const (
	// Text is tables and sentences.
	Text Format = "text"
	// JSON is one JSON value, or one value in a line when that is said.
	JSON Format = "json"
)

// String implements pflag.Value.
func (f *Format) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *Format) Set(text string) error {
	switch Format(text) {
	case Text, JSON:
		*f = Format(text)
		return nil
	}
	return fmt.Errorf("%q is no format, must be text or json", text)
}

// Type implements pflag.Value.
func (f *Format) Type() string { return "text|json" }

// Count writes a number with a blank between groups of three digits.
func Count[T int | int64 | uint64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	if uint64(n) > 1<<63-1 && n > 0 {
		digits = strconv.FormatUint(uint64(n), 10)
	}
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Plural writes a number and its noun: "1 split", "1 200 splits".
func Plural[T int | int64 | uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "ch") {
		return Count(n) + " " + noun + "es"
	}
	return Count(n) + " " + noun + "s"
}

// Bytes writes a size with a decimal unit and three digits: "16.7 kB".
func Bytes(n uint64) string {
	if n < 1000 {
		return strconv.FormatUint(n, 10) + " B"
	}
	value := float64(n)
	unit := ""
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		value /= 1000
		if value < 999.5 {
			break
		}
	}
	decimals := 0
	switch {
	case value < 9.995:
		decimals = 2
	case value < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(value, 'f', decimals, 64) + " " + unit
}

// Seconds writes a Unix time in UTC; a time that no calendar holds is written as a number.
func Seconds(unix int64) string {
	const year1, year10000 = -62135596800, 253402300800
	if unix < year1 || unix >= year10000 {
		return strconv.FormatInt(unix, 10)
	}
	return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05")
}
