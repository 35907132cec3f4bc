package postgres

import (
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

// Somebody has spoilt the document of an index. Calls that need it fail as the peer's do and name the index; the others go on, and
// the index can be deleted.
func TestAnIndexWhoseDocumentCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	ctx := t.Context()
	createIndex(t, store, "fine")
	uid := createIndex(t, store, "spoilt")
	stage(t, store, uid, "a", "b")
	exec(t, connect(t, dsn), "UPDATE indexes SET index_metadata_json = replace(index_metadata_json, '0.9', '17') WHERE index_id = 'spoilt'")

	byID := metastore.IndexLookup{IndexID: metastore.Some("spoilt")}
	for name, call := range map[string]func() error{
		"metadata":         func() error { _, err := store.IndexMetadata(ctx, byID); return err },
		"list":             func() error { _, err := store.ListIndexesMetadata(ctx, allIndexes(t)); return err },
		"add source":       func() error { return store.AddSource(ctx, uid, sourceConfig(t, "other")) },
		"reset checkpoint": func() error { return store.ResetSourceCheckpoint(ctx, uid, "source") },
		"publish a delta":  func() error { return store.PublishSplits(ctx, progressOf(uid, "p", "", "5", "a")) },
		"publish a Parquet": func() error {
			return store.PublishParquetSplits(ctx, metastore.MetricsSplits, progressOf(uid, "p", "", "5"))
		},
	} {
		got := metastore.AsError(call())
		if got == nil || got.Kind != metastore.KindJSONDeserializeError || got.StructName != "IndexMetadata" || !strings.Contains(got.Message, uid.String()) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	found, failures, err := store.IndexesMetadata(ctx, []metastore.IndexLookup{byID, {IndexID: metastore.Some("fine")}})
	if err != nil || len(found) != 1 || !slices.Equal(failures, []metastore.IndexLookupFailure{{Lookup: byID}}) {
		t.Errorf("found %d, failures %+v, %v", len(found), failures, err)
	}
	if stats, err := store.ListIndexStats(ctx, allIndexes(t)); err != nil || len(stats) != 2 {
		t.Errorf("statistics %v, %v", stats, err)
	}
	if err := store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"b"}}); err != nil {
		t.Error(err)
	}
	expect(t, states(t, store), "a Staged", "b Published")
	if err := store.DeleteIndex(ctx, uid); err != nil {
		t.Error(err)
	}
	if indexes, err := store.ListIndexesMetadata(ctx, allIndexes(t)); err != nil || len(indexes) != 1 {
		t.Errorf("%d indexes, %v", len(indexes), err)
	}
}
