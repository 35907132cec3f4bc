package indexconfig

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/internal/strictjson"
)

// IndexTemplate says which configuration an index gets that is created because
// documents arrive for its id.
type IndexTemplate struct {
	TemplateID string
	// IndexIDPatterns are the patterns of the index ids that the template is for, as
	// they came: negative ones begin with "-". See [IndexTemplate.Match].
	IndexIDPatterns []string
	// IndexRootURI is where the directories of the indexes are, normalised. Nil: at
	// the default root of the cluster.
	IndexRootURI *string
	// Priority ranks templates that match the same id; the highest wins.
	Priority    uint64
	Description *string
	Settings

	// verbatim is the compact text of a stored template that could not be read
	// as a whole; the fields hold what could be.
	verbatim []byte
}

var indexTemplateKeys = append(strictjson.Keys{
	{Name: "version", Required: true},
	{Name: "template_id", Required: true},
	{Name: "index_id_patterns", Required: true},
	{Name: "index_root_uri"},
	{Name: "priority"},
	{Name: "description"},
}, settingsKeys...)

// ParseIndexTemplate reads a template to be created, of version 0.9, 0.8 or 0.7:
// its shape, not whether it is valid; see [IndexTemplate.Validate]. newUID draws
// the UID of a doc mapping that has none. Unlike that of an index config, a doc
// mapping of 0.8 or 0.7 keeps its UID.
func ParseIndexTemplate(text []byte, newUID func() ulid.ULID) (*IndexTemplate, error) {
	return parse("index_template", text, func(t *IndexTemplate, r *strictjson.Reader) error {
		return t.read(r, readURI, newUID)
	})
}

func (t *IndexTemplate) setDefaults() {
	*t = IndexTemplate{IndexIDPatterns: []string{}, Settings: defaultSettings()}
}

func (t *IndexTemplate) read(r *strictjson.Reader, readURI func(*strictjson.Reader, *string) error, newUID func() ulid.ULID) error {
	t.setDefaults()
	return r.Object(indexTemplateKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "version":
			var documentVersion string
			return readVersion(r, &documentVersion)
		case "template_id":
			return r.String(&t.TemplateID)
		case "index_id_patterns":
			return strictjson.List(r, &t.IndexIDPatterns, r.String)
		case "index_root_uri":
			return strictjson.Optional(r, &t.IndexRootURI, func(uri *string) error { return readURI(r, uri) })
		case "priority":
			return r.Uint64(&t.Priority)
		case "description":
			return strictjson.Optional(r, &t.Description, r.String)
		default:
			return t.readSetting(r, key, newUID)
		}
	})
}

// Validate checks a template, in the peer's order: its id, which follows the rules
// of index ids, its patterns, which follow those of [ParseIndexIDPatterns] without
// exception, and then what its parts require of each other. Both stores of the
// peer take, and can read back, what it lets through.
func (t *IndexTemplate) Validate() error {
	if err := validateIdentifier(t.TemplateID); err != nil {
		return fmt.Errorf("template_id %s %w", strictjson.Quote(t.TemplateID), err)
	}
	if err := t.validatePatterns(); err != nil {
		return fmt.Errorf("index_id_patterns: %w", err)
	}
	return t.validateSettings()
}

func (t *IndexTemplate) validatePatterns() error {
	if len(t.IndexIDPatterns) == 0 {
		return errors.New("the list is empty, must have at least one pattern")
	}
	positive := false
	for i, pattern := range t.IndexIDPatterns {
		rest, negative := strings.CutPrefix(pattern, "-")
		if err := validatePattern(rest); err != nil {
			return fmt.Errorf("[%d]: index id pattern %s %w", i, strictjson.Quote(rest), err)
		}
		positive = positive || !negative
	}
	if !positive {
		return errors.New("at least one pattern must be positive, that is, not begin with \"-\"")
	}
	return nil
}

// Match reports whether the template is for an index of that id: at least one
// positive pattern matches it and no negative one does.
func (t *IndexTemplate) Match(indexID string) bool {
	matched := false
	for _, pattern := range t.IndexIDPatterns {
		rest, negative := strings.CutPrefix(pattern, "-")
		switch {
		case negative && matchPattern(rest, indexID):
			return false
		case !negative && !matched:
			matched = matchPattern(pattern, indexID)
		}
	}
	return matched
}

// AppendJSON appends the canonical form to dst. A stored template that could not
// be read is appended as it was stored.
func (t *IndexTemplate) AppendJSON(dst []byte) []byte {
	if t.verbatim != nil {
		return append(dst, t.verbatim...)
	}
	w := strictjson.AppendTo(dst)
	w.Begin('{')
	w.Key("version").String(version)
	w.Key("template_id").String(t.TemplateID)
	w.Key("index_id_patterns").Strings(t.IndexIDPatterns)
	w.Key("index_root_uri").OptionalString(t.IndexRootURI)
	w.Key("priority").Uint64(t.Priority)
	w.Key("description").OptionalString(t.Description)
	t.writeSettings(w)
	w.End('}')
	return w.Bytes()
}

// Equal reports whether two templates have the same canonical form.
func (t *IndexTemplate) Equal(other *IndexTemplate) bool {
	return bytes.Equal(t.AppendJSON(nil), other.AppendJSON(nil))
}
