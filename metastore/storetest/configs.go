package storetest

import (
	"encoding/json"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// docMappingUID is the UID of the doc mapping of the suite's indexes.
const docMappingUID = "01J9ZJX0M3N4P5Q6R7S8T9V0W1"

// docMapping is the mapping of the suite's indexes.
const docMapping = `{"doc_mapping_uid":"` + docMappingUID + `","field_mappings":[{"name":"at","type":"datetime","fast":true},` +
	`{"name":"body","type":"text"},{"name":"owner","type":"text","tokenizer":"raw"}],"timestamp_field":"at"}`

// configOf returns the config of an index with that id and otherwise default settings.
func (b *bundle) configOf(indexID string) *indexconfig.IndexConfig {
	b.Helper()
	text := `{"version":"0.9","index_id":"` + indexID + `","index_uri":"s3://bucket/indexes/` + indexID + `","doc_mapping":` + docMapping + `}`
	config, err := indexconfig.ParseIndexConfig([]byte(text), ulid.Make)
	if err != nil {
		b.Fatalf("parse index config: %v", err)
	}
	return config
}

// sourceOf reads a source config.
func (b *bundle) sourceOf(text string) *indexconfig.SourceConfig {
	b.Helper()
	source, err := indexconfig.ParseSourceConfig([]byte(text))
	if err != nil {
		b.Fatalf("parse source config: %v", err)
	}
	return source
}

// The sources that the peer gives every index.
const (
	cliSource    = `{"version":"0.9","source_id":"_ingest-cli-source","source_type":"ingest-cli","num_pipelines":1,"enabled":true,"input_format":"json"}`
	ingestSource = `{"version":"0.9","source_id":"_ingest-source","source_type":"ingest","num_pipelines":1,"enabled":true,"input_format":"json"}`
)

// createIndex creates an index without sources and returns its UID.
func (b *bundle) createIndex(indexID string) metastore.IndexUID {
	b.Helper()
	metadata, err := b.tryCreateIndex(indexID)
	if err != nil {
		b.Fatalf("create index %q: %v", indexID, err)
	}
	return metadata.IndexUID
}

func (b *bundle) tryCreateIndex(indexID string) (*metastore.IndexMetadata, error) {
	return b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: b.configOf(indexID)})
}

func (b *bundle) deleteIndex(uid metastore.IndexUID) {
	b.Helper()
	if err := b.store.DeleteIndex(b.ctx, uid); err != nil {
		b.Fatalf("delete index %s: %v", uid, err)
	}
}

// metadata returns the metadata of an index, which must exist.
func (b *bundle) metadata(uid metastore.IndexUID) *metastore.IndexMetadata {
	b.Helper()
	metadata, err := b.store.IndexMetadata(b.ctx, byUID(uid))
	if err != nil {
		b.Fatalf("metadata of %s: %v", uid, err)
	}
	return metadata
}

// exists reports whether an index of that id exists, as the peer's clients ask.
func (b *bundle) exists(indexID string) bool {
	b.Helper()
	_, err := b.store.IndexMetadata(b.ctx, byID(indexID))
	if err != nil {
		b.wantError(err, metastore.KindNotFound, metastore.IndexEntity(indexID))
	}
	return err == nil
}

func byID(indexID string) metastore.IndexLookup {
	return metastore.IndexLookup{IndexID: metastore.Some(indexID)}
}

func byUID(uid metastore.IndexUID) metastore.IndexLookup {
	return metastore.IndexLookup{IndexUID: metastore.Some(uid)}
}

// document returns the metadata document as text.
func document(metadata *metastore.IndexMetadata) string { return string(metadata.AppendJSON(nil)) }

// decoded returns the metadata document as a tree, for comparisons where an order is open.
func (b *bundle) decoded(metadata *metastore.IndexMetadata) map[string]any {
	b.Helper()
	var tree map[string]any
	if err := json.Unmarshal(metadata.AppendJSON(nil), &tree); err != nil {
		b.Fatalf("metadata document: %v", err)
	}
	return tree
}

// wantSameMetadata checks that two answers about an index say the same. The create timestamp of the
// answer to CreateIndex may come from another clock than that of later reads, so it is compared only
// when both are reads.
func (b *bundle) wantSameMetadata(got, want *metastore.IndexMetadata) {
	b.Helper()
	if document(got) != document(want) {
		b.Errorf("metadata is\n%s, want\n%s", document(got), document(want))
	}
}
