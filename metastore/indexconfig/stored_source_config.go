package indexconfig

import (
	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// ParseStoredSourceConfig reads a config that a store holds: its shape, but not
// whether it validates. A text of another shape is carried as it is; see
// [ParseStoredIndexConfig]. Only a text that is no JSON object with a source_id
// is an error.
func ParseStoredSourceConfig(text []byte) (*SourceConfig, error) {
	c, err := parse("source_config", text, (*SourceConfig).read)
	if err == nil {
		return c, nil
	}
	return parse("source_config", text, (*SourceConfig).salvage)
}

// Readable reports whether the whole config could be read. Only configs from
// [ParseStoredSourceConfig] may not be.
func (c *SourceConfig) Readable() bool { return c.verbatim == nil }

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
