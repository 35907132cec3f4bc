package main

import (
	"fmt"
	"strconv"
	"time"

	"holdfast/metastore"
)

// timeFlag is a flag that holds a time in whole seconds.
type timeFlag struct {
	at   metastore.Optional[int64]
	text string
}

// String implements pflag.Value.
func (f *timeFlag) String() string { return f.text }

// Type implements pflag.Value.
func (f *timeFlag) Type() string { return "time" }

// Set implements pflag.Value. It reads Unix seconds, a time as RFC 3339 has it, and a time or a day in UTC as the
// tables of this program have it.
func (f *timeFlag) Set(text string) error {
	f.text = text
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		f.at = metastore.Some(seconds)
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			if at.Nanosecond() != 0 {
				return fmt.Errorf("%q has a fraction of a second", text)
			}
			f.at = metastore.Some(at.Unix())
			return nil
		}
	}
	return fmt.Errorf(`%q is no time, must be like 2026-11-30T14:46:30Z, "2026-11-30 14:46:30", 2026-11-30 (both in UTC) or 1796049990`, text)
}
