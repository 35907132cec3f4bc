package postgres

import (
	"bytes"
	"encoding/json"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func (b *interopBundle) checkDocuments() {
	documents := map[string][]string{
		"index_metadata_json": b.texts("SELECT index_metadata_json FROM indexes"),
		"split_metadata_json": b.texts("SELECT split_metadata_json FROM splits"),
		"index_template_json": b.texts("SELECT index_template_json FROM index_templates"),
		"parquet splits":      b.texts("SELECT split_metadata_json FROM metrics_splits UNION ALL SELECT split_metadata_json FROM sketch_splits"),
		"delete_query_json":   b.texts("SELECT delete_query_json FROM delete_tasks"),
	}
	for column, texts := range documents {
		for _, text := range texts {
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(text)); err != nil || compact.String() != text {
				b.Errorf("%s is not compact, error %v: %s", column, err, text)
			}
			if err := parseStrictly(column, text); err != nil {
				b.Errorf("%s: %v: %s", column, err, text)
			}
		}
	}
	// What migrations of the peer look for.
	b.violations("migration 19 would change node_id", "splits WHERE node_id IS DISTINCT FROM split_metadata_json::json ->> 'node_id'")
	const member = `'%"input_format":"base64"%"output_format":"base64"%'`
	b.violations("migration 13 would not find the formats", "indexes WHERE index_id = 'interop' AND index_metadata_json NOT LIKE "+member)
}

// parseStrictly parses a stored document as one from a client, which refuses what it does not know.
func parseStrictly(column, text string) error {
	var document struct {
		Version string
		Config  json.RawMessage `json:"index_config"`
		Sources []json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	if documentHasVersion := column != "parquet splits" && column != "delete_query_json"; documentHasVersion && document.Version != "0.9" {
		return metastore.InvalidArgument("the version is %q", document.Version)
	}
	var err error
	switch column {
	case "index_metadata_json":
		var members map[string]json.RawMessage
		if err = json.Unmarshal([]byte(text), &members); err == nil && len(members) != 6 {
			return metastore.InvalidArgument("there are %d members instead of 6", len(members))
		}
		if err == nil {
			_, err = metastore.ParseIndexMetadata([]byte(text))
		}
		if err == nil {
			_, err = indexconfig.ParseIndexConfig(document.Config, ulid.Make)
		}
		for _, source := range document.Sources {
			if err == nil {
				_, err = indexconfig.ParseSourceConfig(source)
			}
		}
	case "split_metadata_json":
		_, err = metastore.ParseSplitMetadata([]byte(text))
	case "index_template_json":
		_, err = indexconfig.ParseIndexTemplate([]byte(text), ulid.Make)
	case "parquet splits":
		_, err = metastore.ParseParquetSplitMetadataList([]string{text})
	default:
		_, err = metastore.ParseDeleteQuery([]byte(text))
	}
	return err
}
