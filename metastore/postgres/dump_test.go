package postgres

import (
	"context"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func allIndexes(t testing.TB) *indexconfig.IndexIDPatterns {
	t.Helper()
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	return patterns
}

func TestAStoreServesADatabaseThatThePeerMade(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dsn := restoreDump(t)
	store := reopenStore(t, Options{DSN: dsn})

	indexes, err := store.ListIndexesMetadata(ctx, allIndexes(t))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, index := range indexes {
		ids = append(ids, index.Config.IndexID)
	}
	expect(t, ids, "events", "web-access")

	stats, err := store.ListIndexStats(ctx, allIndexes(t))
	if err != nil {
		t.Fatal(err)
	}
	counted := uint64(0)
	for _, s := range stats {
		counted += s.Staged.NumSplits + s.Published.NumSplits + s.MarkedForDeletion.NumSplits
	}
	listed := states(t, store)
	if counted != 44 || len(listed) != 44 {
		t.Errorf("the stats count %d splits and the listing has %d, want 44", counted, len(listed))
	}

	uid := indexes[0].IndexUID
	stage(t, store, uid, "ours")
	staged := listIDs(t, store, &metastore.ListSplitsQuery{IndexUIDs: []metastore.IndexUID{uid}, States: []metastore.SplitState{metastore.Staged}})
	publish(t, store, uid, staged...)
	mark(t, store, uid, staged...)
	if err := store.DeleteSplits(ctx, uid, staged); err != nil {
		t.Fatal(err)
	}
	// It has metrics splits, whose foreign key does not cascade.
	if err := store.DeleteIndex(ctx, uid); err != nil {
		t.Fatal(err)
	}
	for _, row := range states(t, store) {
		if !slices.Contains(listed, row) || strings.HasPrefix(row, "ours") {
			t.Errorf("unexpected split %s", row)
		}
	}
}

// D1.2 and D1.3 of the checklist in interop_test.go.
func TestAStagedRowIsWhatThePeerWrites(t *testing.T) {
	t.Parallel()
	dsn := restoreDump(t)
	store := reopenStore(t, Options{DSN: dsn})
	conn := connect(t, dsn)
	const columnsOfRow = `SELECT concat_ws('|', split_id, split_state, time_range_start, time_range_end, tags, split_metadata_json,
		index_uid, delete_opstamp, maturity_timestamp, node_id, split_size_bytes, publish_timestamp) FROM splits WHERE split_state = 'Staged' ORDER BY split_id COLLATE "C"`
	rows := func() []string {
		return queryValue[[]string](t, conn, "SELECT array_agg(row) FROM ("+columnsOfRow+") AS rows (row)")
	}
	peers := rows()
	if len(peers) == 0 {
		t.Fatal("the peer left no staged split")
	}
	// Staging again what was staged writes the same rows.
	documents := queryValue[[]string](t, conn, `SELECT array_agg(split_metadata_json ORDER BY split_id COLLATE "C") FROM splits WHERE split_state = 'Staged'`)
	uid := mustUID(t, queryValue[string](t, conn, "SELECT DISTINCT index_uid FROM splits WHERE split_state = 'Staged'"))
	exec(t, conn, "DELETE FROM splits WHERE split_state = 'Staged'")
	request := metastore.StageSplitsRequest{IndexUID: uid}
	for _, document := range documents {
		split, err := metastore.ParseSplitMetadata([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		request.Splits = append(request.Splits, split)
	}
	if _, err := store.StageSplits(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	expect(t, rows(), peers...)
	if n := queryValue[int64](t, conn, `SELECT count(*) FROM splits WHERE create_timestamp <> date_trunc('second', create_timestamp)
		AND split_state = 'Staged'`); n != 0 {
		t.Errorf("%d rows have a fraction of a second", n)
	}
	if !queryValue[bool](t, conn, `SELECT bool_and(abs(extract(epoch FROM now() AT TIME ZONE 'utc' - create_timestamp)) < 3600 AND update_timestamp = create_timestamp)
		FROM splits WHERE split_state = 'Staged'`) {
		t.Error("a timestamp is not the current time in UTC")
	}
}
