package indexconfig

import (
	"github.com/oklog/ulid/v2"

	"holdfast/metastore/internal/strictjson"
)

// Settings are the five documents that the config of an index and an index template have in common. A doc mapping is
// required; what else is left out gets its default.
type Settings struct {
	DocMapping       DocMapping
	IndexingSettings IndexingSettings
	IngestSettings   IngestSettings
	SearchSettings   SearchSettings
	Retention        *RetentionPolicy // nil: keep splits for ever
}

var settingsKeys = strictjson.Keys{
	{Name: "doc_mapping", Required: true},
	{Name: "indexing_settings"},
	{Name: "ingest_settings"},
	{Name: "search_settings"},
	{Name: "retention"},
}

func defaultSettings() Settings {
	return Settings{
		IndexingSettings: DefaultIndexingSettings(),
		IngestSettings:   DefaultIngestSettings(),
		SearchSettings:   SearchSettings{DefaultSearchFields: []string{}},
	}
}

// readSetting reads the value of one of their keys.
func (s *Settings) readSetting(r *strictjson.Reader, key string, newUID func() ulid.ULID) error {
	switch key {
	case "doc_mapping":
		return s.DocMapping.read(r, newUID)
	case "indexing_settings":
		return s.IndexingSettings.read(r)
	case "ingest_settings":
		return s.IngestSettings.read(r)
	case "search_settings":
		return s.SearchSettings.read(r)
	default: // retention
		return strictjson.Optional(r, &s.Retention, func(p *RetentionPolicy) error { return p.read(r) })
	}
}

// writeSettings writes all of their keys.
func (s *Settings) writeSettings(w *strictjson.Writer) {
	w.Key("doc_mapping")
	s.DocMapping.write(w)
	w.Key("indexing_settings")
	s.IndexingSettings.write(w)
	w.Key("ingest_settings")
	s.IngestSettings.write(w)
	w.Key("search_settings")
	s.SearchSettings.write(w)
	w.Key("retention")
	if s.Retention == nil {
		w.Null()
	} else {
		s.Retention.write(w)
	}
}

// validateSettings checks what they require of each other.
func (s *Settings) validateSettings() error {
	if err := validateMapper(&s.DocMapping, &s.SearchSettings); err != nil {
		return err
	}
	if err := s.IndexingSettings.MergePolicy.validate(); err != nil {
		return strictjson.Within("indexing_settings", strictjson.Within("merge_policy", err))
	}
	if s.Retention != nil {
		return strictjson.Within("retention", s.Retention.validate(&s.DocMapping))
	}
	return nil
}
