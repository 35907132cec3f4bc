package indexconfig

import (
	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// ParseStoredIndexConfig reads a config that a store holds. It must have the
// shape of a config, but nothing more is validated: a peer can store settings
// that contradict each other. A text of another shape, for example of a newer
// version, is carried as it is; of its fields only those that could be read are
// set, and [IndexConfig.AppendJSON] returns the text. Only a text that is no
// JSON object with an index_id is an error.
//
// A doc mapping of version 0.9 without UID, which no peer stores, gets the nil
// UID, so that it does not change from read to read.
func ParseStoredIndexConfig(text []byte) (*IndexConfig, error) {
	c, err := parse("index_config", text, func(c *IndexConfig, r *strictjson.Reader) error {
		uri, err := c.read(r, nil)
		if err == nil && uri != nil {
			c.IndexURI = storedURI(*uri)
		}
		return err
	})
	if err == nil {
		return c, nil
	}
	return parse("index_config", text, func(c *IndexConfig, r *strictjson.Reader) error { return c.salvage(r) })
}

func storedURI(uri string) string {
	if normalized, err := normalizeURI(uri); err == nil {
		return normalized
	}
	return uri
}

var salvagedKeys = strictjson.Keys{{Name: "index_id", Required: true}, {Name: "index_uri"}}

// salvage keeps the text of a config that has not the expected shape, and
// reads from it what it can.
func (c *IndexConfig) salvage(r *strictjson.Reader) error {
	*c = IndexConfig{Settings: defaultSettings()}
	var raw []byte
	if err := r.Raw(&raw); err != nil {
		return err
	}
	c.verbatim = strictjson.AppendCompact(nil, raw)
	return strictjson.Decode("", raw, func(r *strictjson.Reader) error {
		return r.Object(salvagedKeys, strictjson.Ignore, func(key string) error {
			if key == "index_id" {
				return r.String(&c.IndexID)
			}
			if r.Kind() != jsontext.KindString {
				return r.Skip()
			}
			err := r.String(&c.IndexURI)
			c.IndexURI = storedURI(c.IndexURI)
			return err
		})
	})
}

// Readable reports whether the whole config could be read. Only configs from
// [ParseStoredIndexConfig] may not be.
func (c *IndexConfig) Readable() bool { return c.verbatim == nil }
