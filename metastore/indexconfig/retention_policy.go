package indexconfig

import (
	"errors"

	"holdfast/metastore/internal/strictjson"
)

// RetentionPolicy says when old splits of an index are to be deleted. The
// metastore never evaluates it, and compares it as text: "90 days" and
// "3 months" differ.
type RetentionPolicy struct {
	Period   string // a duration, see ParseHumanDuration
	Schedule string // when to look for old splits: a word or a cron expression
}

var retentionPolicyKeys = strictjson.Keys{{Name: "period", Required: true}, {Name: "schedule"}}

// ParseRetentionPolicy reads the document of an update: its shape, not whether
// its texts make sense.
func ParseRetentionPolicy(text []byte) (*RetentionPolicy, error) {
	return parse("retention", text, (*RetentionPolicy).read)
}

func (p *RetentionPolicy) read(r *strictjson.Reader) error {
	*p = RetentionPolicy{Schedule: "hourly"}
	return r.Object(retentionPolicyKeys, strictjson.Reject, func(key string) error {
		if key == "period" {
			return r.String(&p.Period)
		}
		return r.String(&p.Schedule)
	})
}

func (p *RetentionPolicy) write(w *strictjson.Writer) {
	w.Begin('{').Key("period").String(p.Period).Key("schedule").String(p.Schedule).End('}')
}

// validate checks the texts, and that splits have a time to be judged by.
func (p *RetentionPolicy) validate(mapping *DocMapping) error {
	if _, err := ParseHumanDuration(p.Period); err != nil {
		return strictjson.Within("period", err)
	}
	if err := validateSchedule(p.Schedule); err != nil {
		return strictjson.Within("schedule", err)
	}
	if mapping.TimestampField == nil {
		return errors.New("a retention policy requires doc_mapping.timestamp_field")
	}
	return nil
}
