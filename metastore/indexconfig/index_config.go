package indexconfig

import (
	"errors"
	"slices"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/internal/strictjson"
)

// IndexConfig is the configuration of an index: everything about it but its
// sources and its contents.
type IndexConfig struct {
	IndexID  string
	IndexURI string // where the splits are, normalised
	Settings

	// verbatim is the compact text of a stored config that could not be read
	// as a whole; the fields hold what could be.
	verbatim []byte
}

const version = "0.9"

var indexConfigKeys = append(strictjson.Keys{
	{Name: "version", Required: true},
	{Name: "index_id", Required: true},
	{Name: "index_uri"},
}, settingsKeys...)

// ParseIndexConfig reads and validates the config of an index to be created, of
// version 0.9, 0.8 or 0.7. newUID draws the UID of a doc mapping that has none;
// mappings of 0.8 and 0.7 get the nil UID, whatever they say.
func ParseIndexConfig(text []byte, newUID func() ulid.ULID) (*IndexConfig, error) {
	return parse("index_config", text, func(c *IndexConfig, r *strictjson.Reader) error {
		uri, err := c.read(r, newUID)
		if err != nil {
			return err
		}
		return c.validate(uri)
	})
}

// read reads the shape of a config. It returns the index URI as it came, nil
// when there is none; c.IndexURI is not set.
func (c *IndexConfig) read(r *strictjson.Reader, newUID func() ulid.ULID) (uri *string, err error) {
	*c = IndexConfig{Settings: defaultSettings()}
	var documentVersion string
	err = r.Object(indexConfigKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "version":
			return readVersion(r, &documentVersion)
		case "index_id":
			return r.String(&c.IndexID)
		case "index_uri":
			return strictjson.Optional(r, &uri, r.String)
		default:
			return c.readSetting(r, key, newUID)
		}
	})
	if documentVersion != version {
		c.DocMapping.UID = ulid.ULID{}
	}
	return uri, err
}

func readVersion(r *strictjson.Reader, into *string) error {
	return r.Enum(into, "0.9", "0.8", "0.7")
}

// validate checks a config that was read, in the peer's order, and sets its URI.
func (c *IndexConfig) validate(uri *string) error {
	if err := ValidateIndexID(c.IndexID); err != nil {
		return strictjson.Within("index_id", err)
	}
	if uri == nil {
		return strictjson.Within("index_uri", errors.New("is required"))
	}
	normalized, err := normalizeURI(*uri)
	if err != nil {
		return strictjson.Within("index_uri", err)
	}
	c.IndexURI = normalized
	return c.validateSettings()
}

// AppendJSON appends the canonical form to dst. A stored config that could not
// be read is appended as it was stored.
func (c *IndexConfig) AppendJSON(dst []byte) []byte {
	if c.verbatim != nil {
		return append(dst, c.verbatim...)
	}
	w := strictjson.AppendTo(dst)
	w.Begin('{')
	w.Key("version").String(version)
	w.Key("index_id").String(c.IndexID)
	w.Key("index_uri").String(c.IndexURI)
	c.writeSettings(w)
	w.End('}')
	return w.Bytes()
}

// Equal reports whether two configs have the same canonical form.
func (c *IndexConfig) Equal(other *IndexConfig) bool {
	return slices.Equal(c.AppendJSON(nil), other.AppendJSON(nil))
}

// parse reads a document of the given name into a new value.
func parse[T any](name string, text []byte, read func(*T, *strictjson.Reader) error) (*T, error) {
	into := new(T)
	if err := strictjson.Decode(name, text, func(r *strictjson.Reader) error { return read(into, r) }); err != nil {
		return nil, err
	}
	return into, nil
}
