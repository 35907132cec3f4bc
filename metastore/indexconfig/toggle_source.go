package indexconfig

import "holdfast/metastore/internal/strictjson"

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
