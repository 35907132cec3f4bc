package indexconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// validateSchedule checks when a retention policy is to be evaluated: one of
// the words hourly, daily, weekly, monthly and yearly, with or without an "@"
// before it, or a cron expression of 6 or 7 fields with the seconds first.
// Blanks around it do not count.
//
// The check is loose where the peer's grammar is not known: it wants plausible
// numbers and names in the fields, and never evaluates them.
func validateSchedule(schedule string) error {
	text := strings.TrimSpace(schedule)
	if err := checkSchedule(text); err != nil {
		return fmt.Errorf("%s is neither a cron expression with seconds first, such as \"0 0 3 * * *\", nor a word such as \"daily\": %w", strictjson.Quote(schedule), err)
	}
	return nil
}

func checkSchedule(text string) error {
	switch strings.TrimPrefix(text, "@") {
	case "hourly", "daily", "weekly", "monthly", "yearly":
		return nil
	}
	fields := strings.Fields(text)
	ranges := cronFields()
	if len(fields) != len(ranges)-1 && len(fields) != len(ranges) {
		return fmt.Errorf("it has %d fields, not 6 or 7", len(fields))
	}
	for i, field := range fields {
		if err := ranges[i].check(field); err != nil {
			return fmt.Errorf("%s: %w", ranges[i].name, err)
		}
	}
	return nil
}

type cronField struct {
	name     string
	min, max int
	names    []string // three-letter names, of the values from min on
}

func cronFields() []cronField {
	months := []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	days := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	return []cronField{
		{name: "seconds", min: 0, max: 59},
		{name: "minutes", min: 0, max: 59},
		{name: "hours", min: 0, max: 23},
		{name: "days of month", min: 1, max: 31},
		{name: "months", min: 1, max: 12, names: months},
		{name: "days of week", min: 1, max: 7, names: days},
		{name: "years", min: 1970, max: 2100},
	}
}

// check accepts lists, joined by commas, of "*", "?", values and ranges, each
// with an optional "/step".
func (f cronField) check(text string) error {
	for _, item := range strings.Split(text, ",") {
		span, step, stepped := strings.Cut(item, "/")
		if stepped {
			if n, err := strconv.Atoi(step); err != nil || n < 1 {
				return fmt.Errorf("the step %s must be a positive number", strictjson.Quote(step))
			}
		}
		if span == "*" || span == "?" {
			continue
		}
		first, last, ranged := strings.Cut(span, "-")
		from, err := f.value(first)
		if err != nil {
			return err
		}
		if !ranged {
			continue
		}
		to, err := f.value(last)
		if err != nil {
			return err
		}
		if from > to {
			return fmt.Errorf("the range %s ends before it begins", strictjson.Quote(span))
		}
	}
	return nil
}

func (f cronField) value(text string) (int, error) {
	if text == "" {
		return 0, errors.New("a value is missing")
	}
	lower := strings.ToLower(text)
	for i, name := range f.names {
		if strings.HasPrefix(lower, name) {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max {
		return 0, fmt.Errorf("%s is not from %d to %d", strictjson.Quote(text), f.min, f.max)
	}
	return n, nil
}
