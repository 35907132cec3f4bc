package indexconfig

import (
	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// WithEnabled returns the config with the source enabled or disabled. The
// receiver stays as it is. In a stored config that could not be read only the
// key "enabled" changes.
func (c *SourceConfig) WithEnabled(enabled bool) *SourceConfig {
	toggled := *c
	toggled.Enabled = enabled
	if c.verbatim != nil {
		toggled.verbatim = withEnabled(c.verbatim, enabled)
	}
	return &toggled
}

func withEnabled(object []byte, enabled bool) []byte {
	w := strictjson.AppendTo(nil)
	w.Begin('{')
	// The text was read before, so reading it again cannot fail.
	_ = strictjson.Decode("", object, func(r *strictjson.Reader) error {
		return r.Object(nil, strictjson.Pass, func(key string) error {
			var value []byte
			err := r.Raw(&value)
			if key != "enabled" {
				w.Key(key).Raw(value)
			}
			return err
		})
	})
	w.Key("enabled").Bool(enabled).End('}')
	return w.Bytes()
}

var salvagedSourceKeys = strictjson.Keys{{Name: "source_id", Required: true}, {Name: "source_type"}, {Name: "enabled"}, {Name: "params"}}

// salvage keeps the text of a config that has not the expected shape, and reads
// from it what the metastore needs as far as it can.
func (c *SourceConfig) salvage(r *strictjson.Reader) error {
	*c = SourceConfig{NumPipelines: 1, Enabled: true, InputFormat: "json"}
	var raw []byte
	if err := r.Raw(&raw); err != nil {
		return err
	}
	c.verbatim = strictjson.AppendCompact(nil, raw)
	return strictjson.Decode("", raw, func(r *strictjson.Reader) error {
		return r.Object(salvagedSourceKeys, strictjson.Ignore, func(key string) error {
			switch kind := r.Kind(); {
			case key == "source_id":
				return r.String(&c.SourceID)
			case key == "source_type" && kind == jsontext.KindString:
				return r.String(&c.SourceType)
			case key == "enabled" && (kind == jsontext.KindTrue || kind == jsontext.KindFalse):
				return r.Bool(&c.Enabled)
			case key == "params" && kind == jsontext.KindBeginObject:
				return r.Object(strictjson.Keys{{Name: "notifications"}}, strictjson.Ignore, func(string) error {
					c.notifications = true
					return r.Skip()
				})
			default:
				return r.Skip()
			}
		})
	})
}
