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
