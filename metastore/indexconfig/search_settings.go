package indexconfig

import "holdfast/metastore/internal/strictjson"

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
