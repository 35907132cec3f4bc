package indexconfig

import (
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

func defaultInputFormats() []string { return []string{"rfc3339", "unix_timestamp"} }

// readInputFormats reads the formats in which a datetime is accepted: named
// ones, not case-sensitive, and patterns of strftime directives. Repetitions
// are dropped; an empty list stands for the default.
func readInputFormats(r *strictjson.Reader, into *[]string) error {
	formats := []string{}
	err := r.Array(func(int) error {
		var text string
		if err := r.String(&text); err != nil {
			return err
		}
		format, err := dateTimeFormat(text, "iso8601", "rfc2822", "rfc3339", "unix_timestamp")
		if err == nil && !slices.Contains(formats, format) {
			formats = append(formats, format)
		}
		return err
	})
	if len(formats) == 0 {
		formats = defaultInputFormats()
	}
	*into = formats
	return err
}

func readDateTimeOutputFormat(r *strictjson.Reader, into *string) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	format, err := dateTimeFormat(text, "iso8601", "rfc2822", "rfc3339",
		"unix_timestamp_secs", "unix_timestamp_millis", "unix_timestamp_micros", "unix_timestamp_nanos")
	*into = format
	return err
}

// dateTimeFormat returns the name in lower case when it is one of names, and
// otherwise the text, which must then hold a strftime directive.
func dateTimeFormat(text string, names ...string) (string, error) {
	if lower := strings.ToLower(text); slices.Contains(names, lower) {
		return lower, nil
	}
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			return "", fmt.Errorf("unknown date time format %s; it must be one of %s, or hold a strftime directive such as %%Y",
				strictjson.Quote(text), strings.Join(names, ", "))
		}
		if after != "" && isLetter(after[0]) {
			return text, nil
		}
		rest = strings.TrimPrefix(after, "%")
	}
}
