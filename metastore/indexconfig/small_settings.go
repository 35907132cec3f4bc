package indexconfig

import (
	"errors"

	"holdfast/metastore/internal/strictjson"
)

// IngestSettings says how documents are taken into an index.
type IngestSettings struct {
	MinShards    uint64 // at least 1
	ValidateDocs bool
}

// DefaultIngestSettings returns what an empty document stands for.
func DefaultIngestSettings() IngestSettings {
	return IngestSettings{MinShards: 1, ValidateDocs: true}
}

var ingestSettingsKeys = strictjson.Keys{{Name: "min_shards"}, {Name: "validate_docs"}}

// ParseIngestSettings reads the document of an update.
func ParseIngestSettings(text []byte) (*IngestSettings, error) {
	return parse("ingest_settings", text, (*IngestSettings).read)
}

func (s *IngestSettings) read(r *strictjson.Reader) error {
	*s = DefaultIngestSettings()
	return r.Object(ingestSettingsKeys, strictjson.Reject, func(key string) error {
		if key == "validate_docs" {
			return r.Bool(&s.ValidateDocs)
		}
		if err := r.Uint64(&s.MinShards); err != nil {
			return err
		}
		if s.MinShards == 0 {
			return errors.New("must be at least 1")
		}
		return nil
	})
}

func (s *IngestSettings) write(w *strictjson.Writer) {
	w.Begin('{').Key("min_shards").Uint64(s.MinShards)
	if !s.ValidateDocs {
		w.Key("validate_docs").Bool(false)
	}
	w.End('}')
}

// SearchSettings says how an index is searched.
type SearchSettings struct {
	// DefaultSearchFields are searched when a query names no field, in this
	// order. Never nil in what this package reads.
	DefaultSearchFields []string
}

var searchSettingsKeys = strictjson.Keys{{Name: "default_search_fields"}}

// ParseSearchSettings reads the document of an update: its shape, not whether
// the fields exist.
func ParseSearchSettings(text []byte) (*SearchSettings, error) {
	return parse("search_settings", text, (*SearchSettings).read)
}

func (s *SearchSettings) read(r *strictjson.Reader) error {
	*s = SearchSettings{DefaultSearchFields: []string{}}
	return r.Object(searchSettingsKeys, strictjson.Reject, func(string) error {
		return strictjson.List(r, &s.DefaultSearchFields, r.String)
	})
}

func (s *SearchSettings) write(w *strictjson.Writer) {
	w.Begin('{').Key("default_search_fields").Strings(s.DefaultSearchFields).End('}')
}
