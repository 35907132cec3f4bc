package postgres

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/metastore"
)

// parquetSplits returns small Parquet splits of an index.
func parquetSplits(uid metastore.IndexUID, ids ...string) []metastore.ParquetSplitMetadata {
	list := make([]metastore.ParquetSplitMetadata, len(ids))
	for i, id := range ids {
		list[i] = metastore.ParquetSplitMetadata{
			SplitID: id, IndexUID: uid.String(), TimeStart: 100, TimeEnd: 200, NumRows: 3, SizeBytes: 4, MetricNames: []string{"cpu"},
			LowCardinalityTags: map[string][]string{"service": {"web"}}, CreatedSeconds: 1_700_000_000,
		}
	}
	return list
}

func stageParquet(t testing.TB, store *Store, kind metastore.ParquetKind, uid metastore.IndexUID, splits ...metastore.ParquetSplitMetadata) {
	t.Helper()
	if err := store.StageParquetSplits(context.Background(), kind, uid, splits); err != nil {
		t.Fatal(err)
	}
}

// listParquet returns the rows of a kind that an index has.
func listParquet(t testing.TB, store *Store, kind metastore.ParquetKind, uid metastore.IndexUID) []metastore.ParquetSplitRow {
	t.Helper()
	var rows []metastore.ParquetSplitRow
	err := store.ListParquetSplits(context.Background(), kind, &metastore.ListParquetSplitsQuery{IndexUID: uid}, func(row *metastore.ParquetSplitRow) error {
		rows = append(rows, *row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAStagedParquetRowIsWhatThePeerWrites(t *testing.T) {
	t.Parallel()
	dsn := restoreDump(t)
	store := reopenStore(t, Options{DSN: dsn})
	conn := connect(t, dsn)
	uid, err := metastore.ParseIndexUID(queryValue[string](t, conn, "SELECT index_uid FROM indexes WHERE index_id = 'events'"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, table := range parquetTables {
		kind := metastore.ParquetKind(kind)
		// Sets have no order.
		const set = "(SELECT array_agg(x ORDER BY x) FROM unnest(%) AS x)::text"
		columns := "concat_ws('|', split_id, split_state, index_uid, time_range_start, time_range_end, " +
			strings.ReplaceAll(set, "%", "metric_names") + ", " + strings.ReplaceAll(set, "%", "tag_service") + ", tag_env, tag_datacenter, tag_region, tag_host, " +
			"high_cardinality_tag_keys, num_rows, size_bytes, window_start, window_duration_secs, sort_fields, num_merge_ops, row_keys, zonemap_regexes, " +
			"maturity_timestamp, delete_opstamp, node_id, publish_timestamp, create_timestamp, (split_metadata_json::jsonb - 'low_cardinality_tags')::text)"
		rows := func() []string {
			return queryValue[[]string](t, conn, "SELECT array_agg("+columns+" ORDER BY split_id) FROM "+table.name+" WHERE split_state = 'Staged'")
		}
		peers := rows()
		documents := queryValue[[]string](t, conn, "SELECT array_agg(split_metadata_json) FROM "+table.name+" WHERE split_state = 'Staged'")
		splits, err := metastore.ParseParquetSplitMetadataList(documents)
		if err != nil {
			t.Fatal(err)
		}
		stageParquet(t, store, kind, uid, splits...)
		if ours := rows(); len(peers) == 0 || !slices.Equal(ours, peers) {
			t.Errorf("%s: ours\n%s\nthe peer's\n%s", kind, strings.Join(ours, "\n"), strings.Join(peers, "\n"))
		}
		for _, row := range listParquet(t, store, kind, uid) {
			if !strings.Contains(row.Document, `"low_cardinality_tags":{"env":["prod"],"service":[`) {
				t.Errorf("%s: the listed document is not canonical: %s", kind, row.Document)
			}
		}
	}
}

func TestEveryColumnOfAParquetSplitIsWritten(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	uid := createIndex(t, store, "metrics")
	for kind, table := range parquetTables {
		full := metastore.ParquetSplitMetadata{
			SplitID: "full", IndexUID: uid.String(), TimeStart: 1, TimeEnd: 2, NumRows: 3, SizeBytes: 4,
			MetricNames: []string{`a"b\`, "NULL", ""}, HighCardinalityTagKeys: []string{"pod"},
			LowCardinalityTags: map[string][]string{"service": {"s"}, "env": {"e"}, "datacenter": {"d"}, "region": {}, "zone": {"z"}},
			CreatedSeconds:     100, CreatedNanos: 999_999_999, Maturity: metastore.Maturity{Immature: true, PeriodMillis: 10_999},
			Window: metastore.Some(metastore.ParquetWindow{Start: -900, Duration: 900}), SortFields: "name/V2", NumMergeOps: 5, RowKeys: []byte{0, 255},
			ZonemapRegexes: map[string]string{"env": `^e"$`},
		}
		stageParquet(t, store, metastore.ParquetKind(kind), uid, full, parquetSplits(uid, "small")[0])
		const columns = `to_jsonb(row) - 'create_timestamp' - 'update_timestamp' - 'split_metadata_json' - 'index_uid'`
		for id, want := range map[string]string{
			"full": `{"node_id": null, "tag_env": ["e"], "num_rows": 3, "row_keys": "\\x00ff", "split_id": "full", "tag_host": null, "size_bytes": 4, "tag_region": [], ` +
				`"sort_fields": "name/V2", "split_state": "Staged", "tag_service": ["s"], "metric_names": ["a\"b\\", "NULL", ""], "window_start": -900, "num_merge_ops": 5, ` +
				`"delete_opstamp": 0, "tag_datacenter": ["d"], "time_range_end": 2, "zonemap_regexes": {"env": "^e\"$"}, "time_range_start": 1, "publish_timestamp": null, ` +
				`"maturity_timestamp": "1970-01-01T00:01:50", "window_duration_secs": 900, "high_cardinality_tag_keys": ["pod"]}`,
			"small": `{"node_id": null, "tag_env": null, "num_rows": 3, "row_keys": null, "split_id": "small", "tag_host": null, "size_bytes": 4, "tag_region": null, ` +
				`"sort_fields": "", "split_state": "Staged", "tag_service": ["web"], "metric_names": ["cpu"], "window_start": null, "num_merge_ops": 0, ` +
				`"delete_opstamp": 0, "tag_datacenter": null, "time_range_end": 200, "zonemap_regexes": {}, "time_range_start": 100, "publish_timestamp": null, ` +
				`"maturity_timestamp": "1970-01-01T00:00:00", "window_duration_secs": 0, "high_cardinality_tag_keys": []}`,
		} {
			if got := queryValue[string](t, conn, "SELECT ("+columns+")::text FROM "+table.name+" AS row WHERE split_id = $1", id); got != want {
				t.Errorf("%s %s is\n%s\nwant\n%s", table.name, id, got, want)
			}
		}
		publishParquet(t, store, metastore.ParquetKind(kind), uid, "full")
		whole := queryValue[bool](t, conn, `SELECT bool_and(date_trunc('second', update_timestamp) = update_timestamp AND date_trunc('second', create_timestamp) = create_timestamp
			AND create_timestamp BETWEEN (now() AT TIME ZONE 'utc') - interval '1 minute' AND (now() AT TIME ZONE 'utc')) FROM `+table.name)
		if !whole {
			t.Errorf("%s: timestamps are not whole seconds in UTC", table.name)
		}
		published := queryValue[[]string](t, conn, "SELECT array_agg(split_id || ' ' || split_state ORDER BY split_id) FROM "+table.name+" WHERE (publish_timestamp IS NOT NULL) = (split_state = 'Published')")
		if !slices.Equal(published, []string{"full Published", "small Staged"}) {
			t.Errorf("%s: publish timestamps and states: %v", table.name, published)
		}
	}
}

func publishParquet(t testing.TB, store *Store, kind metastore.ParquetKind, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	if err := store.PublishParquetSplits(context.Background(), kind, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids}); err != nil {
		t.Fatal(err)
	}
}

func TestTheFractionsOfThePeersTimestampsAreRoundedDown(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	uid := createIndex(t, store, "metrics")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Unix()
	for kind, table := range parquetTables {
		kind := metastore.ParquetKind(kind)
		stageParquet(t, store, kind, uid, parquetSplits(uid, "a")...)
		exec(t, conn, "UPDATE "+table.name+" SET update_timestamp = '2026-01-02 03:04:05.6', create_timestamp = '2026-01-02 03:04:05.6'")
		if rows := listParquet(t, store, kind, uid); len(rows) != 1 || rows[0].UpdateTimestamp != at {
			t.Errorf("%s: listed %+v, want update timestamp %d", kind, rows, at)
		}
		second := metastore.FilterRange[int64]{Start: metastore.Bound[int64]{Kind: metastore.Included, Value: at}, End: metastore.Bound[int64]{Kind: metastore.Included, Value: at}}
		query := &metastore.ListParquetSplitsQuery{IndexUID: uid, UpdateTimestamp: second, CreateTimestamp: second}
		found := 0
		err := store.ListParquetSplits(context.Background(), kind, query, func(*metastore.ParquetSplitRow) error { found++; return nil })
		if err != nil || found != 1 {
			t.Errorf("%s: %d splits in that second, error %v", kind, found, err)
		}
	}
}

func TestAParquetSplitOfAnUnknownStateFailsTheListing(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	uid := createIndex(t, store, "metrics")
	for kind, table := range parquetTables {
		kind := metastore.ParquetKind(kind)
		stageParquet(t, store, kind, uid, parquetSplits(uid, "odd")...)
		exec(t, conn, "UPDATE "+table.name+" SET split_state = 'Retired'")
		err := store.ListParquetSplits(context.Background(), kind, &metastore.ListParquetSplitsQuery{IndexUID: uid}, func(*metastore.ParquetSplitRow) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `"odd"`) || !strings.Contains(err.Error(), "Retired") {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}

func TestStatementsOnParquetSplitsNameTheTableOfTheirKind(t *testing.T) {
	t.Parallel()
	for kind, table := range parquetTables {
		other := parquetTables[len(parquetTables)-1-kind].name
		for _, sql := range []string{table.stage, table.states, table.publish, table.mark, table.delete, table.unmarked} {
			if !strings.Contains(sql, table.name) || strings.Contains(sql, other) {
				t.Errorf("a statement for %s:\n%s", table.name, sql)
			}
		}
	}
}

func BenchmarkParquetSplits(b *testing.B) {
	store, _ := openStore(b, Options{})
	uid := createIndex(b, store, "metrics")
	ids := numberedIDs("split-", 100)
	b.Run("stage 100", func(b *testing.B) {
		for b.Loop() {
			stageParquet(b, store, metastore.MetricsSplits, uid, parquetSplits(uid, ids...)...)
		}
	})
	b.Run("list 100", func(b *testing.B) {
		for b.Loop() {
			if rows := listParquet(b, store, metastore.MetricsSplits, uid); len(rows) != len(ids) {
				b.Fatal(len(rows))
			}
		}
	})
}
