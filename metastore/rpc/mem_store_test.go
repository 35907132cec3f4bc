package rpc_test

import (
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
)

// memStore opens a store that is forgotten after the test.
func memStore(t testing.TB) metastore.Store {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: "mem://"})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return store
}

// createIndex creates an index in a store or through a client.
func createIndex(t testing.TB, store metastore.Store, id string) metastore.IndexUID {
	t.Helper()
	index, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, id)})
	if err != nil {
		t.Fatalf("create index: %v", err)
	}
	return index.IndexUID
}

func indexConfig(t testing.TB, id string) *indexconfig.IndexConfig {
	t.Helper()
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"`+id+`","index_uri":"s3://bucket/`+id+`","doc_mapping":{}}`), ulid.Make)
	if err != nil {
		t.Fatalf("parse index config: %v", err)
	}
	return config
}

// byNode makes a split whose node id tells who staged it.
func byNode(node, id string) metastore.SplitMetadata {
	split := split(id)
	split.NodeID = node
	return split
}

func stage(t testing.TB, store metastore.Store, uid metastore.IndexUID, splits ...metastore.SplitMetadata) {
	t.Helper()
	if _, err := store.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits}); err != nil {
		t.Fatalf("stage: %v", err)
	}
}

// rowsOf returns "id by node, state" of each split of an index, sorted.
func rowsOf(t testing.TB, store metastore.Store, uid metastore.IndexUID) []string {
	t.Helper()
	rows := []string{}
	err := store.ListSplits(t.Context(), metastore.AllSplits(uid), func(row *metastore.SplitRow) error {
		split, err := row.Split()
		if err != nil {
			return err
		}
		rows = append(rows, split.Metadata.SplitID+" by "+split.Metadata.NodeID+", "+split.State.String())
		return nil
	})
	if err != nil {
		t.Fatalf("list splits: %v", err)
	}
	slices.Sort(rows)
	return rows
}

func listOf(splits ...metastore.SplitMetadata) string {
	list := "["
	for i := range splits {
		if i > 0 {
			list += ","
		}
		list += splits[i].Document()
	}
	return list + "]"
}
