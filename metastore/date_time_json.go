package metastore

import (
	"fmt"
	"strconv"
	"time"

	"holdfast/metastore/internal/strictjson"
)

// dateTimeFields are the nine integers of a date-time in a query, with their limits.
var dateTimeFields = [...]struct {
	name     string
	min, max int64
}{
	{"year", -9999, 9999},
	{"day of the year", 1, 366},
	{"hour", 0, 23},
	{"minute", 0, 59},
	{"second", 0, 59},
	{"nanosecond", 0, 999_999_999},
	{"offset hour", -25, 25},
	{"offset minute", -59, 59},
	{"offset second", -59, 59},
}

// readDateTime reads [year, day of the year, hour, minute, second, nanosecond, offset hour, offset
// minute, offset second] as seconds. Nanoseconds are floored away, the offset is honoured.
func readDateTime(r *strictjson.Reader, seconds *int64) error {
	var v [len(dateTimeFields)]int64
	count := 0
	err := r.Array(func(i int) error {
		if count++; count > len(v) {
			return fmt.Errorf("a date-time has %d integers", len(v))
		}
		if err := r.Int64(&v[i]); err != nil {
			return err
		}
		if field := dateTimeFields[i]; v[i] < field.min || v[i] > field.max {
			return fmt.Errorf("the %s must be from %d to %d, not %d", field.name, field.min, field.max, v[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if count != len(v) {
		return fmt.Errorf("a date-time has %d integers, not %d", len(v), count)
	}
	if v[1] == 366 && !isLeapYear(v[0]) {
		return fmt.Errorf("the year %d has 365 days", v[0])
	}
	local := time.Date(int(v[0]), 1, int(v[1]), int(v[2]), int(v[3]), int(v[4]), 0, time.UTC)
	utc := local.Unix() - offsetSeconds(v[6], v[7], v[8])
	if utc < minDateTime || utc > maxDateTime {
		return fmt.Errorf("the date-time is outside the years -9999 to 9999 in UTC")
	}
	*seconds = utc
	return nil
}

// The first and the last second of the years that a date-time can name.
var (
	minDateTime = time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	maxDateTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

func isLeapYear(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// offsetSeconds joins the parts of an offset. Its sign is that of its greatest part that is not zero.
func offsetSeconds(hours, minutes, seconds int64) int64 {
	if hours != 0 && (minutes > 0) != (hours > 0) {
		minutes = -minutes
	}
	if leading := hours*60 + minutes; leading != 0 && (seconds > 0) != (leading > 0) {
		seconds = -seconds
	}
	return (hours*60+minutes)*60 + seconds
}

// appendDateTime appends seconds as readDateTime reads it, in UTC. A time outside the years that can
// be written becomes the nearest one.
func appendDateTime(dst []byte, seconds int64) []byte {
	t := time.Unix(min(max(seconds, minDateTime), maxDateTime), 0).UTC()
	for i, n := range [...]int{t.Year(), t.YearDay(), t.Hour(), t.Minute(), t.Second(), 0, 0, 0, 0} {
		separator := byte(',')
		if i == 0 {
			separator = '['
		}
		dst = strconv.AppendInt(append(dst, separator), int64(n), 10)
	}
	return append(dst, ']')
}
