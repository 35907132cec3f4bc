package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
)

func BenchmarkStage(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("splits=%d", size), func(b *testing.B) {
			calls := map[int]int{1: 800, 100: 48, 1000: 16}[size]
			store, uid := benchStore(b, Options{})
			prepared, preparedUID := benchStore(b, Options{PreparedStatements: true})
			other, pgxUID := benchStore(b, Options{})
			pool := pgxPool(b, other.options.DSN)
			compare(b, size, calls,
				&contender{name: "store", work: func(int) error { return stageBatch(store, uid, batch(size), false) }},
				&contender{name: "unnamed-pgx", work: func(int) error { return stageWithPgx(pool, pgxUID, batch(size), pgx.QueryExecModeExec) }},
				&contender{name: "prepared", work: func(int) error { return stageBatch(prepared, preparedUID, batch(size), false) }},
				&contender{name: "pgx", work: func(int) error { return stageWithPgx(pool, pgxUID, batch(size), pgx.QueryExecModeCacheStatement) }},
			)
		})
	}
}

func BenchmarkStageIntoATableOfOneNode(b *testing.B) {
	rows := sizeFromEnvironment(b, "HOLDFAST_BENCH_ROWS", 1_000_000)
	large, largeUID := benchStore(b, Options{})
	fill(b, large, largeUID, rows)
	small, smallUID := benchStore(b, Options{})
	fill(b, small, smallUID, 1000)
	compare(b, 100, 48,
		&contender{name: "large", work: func(int) error { return stageBatch(large, largeUID, batch(100), false) }},
		&contender{name: "small", work: func(int) error { return stageBatch(small, smallUID, batch(100), false) }},
	)
}

func BenchmarkStageWhatIsThere(b *testing.B) {
	const size = 1000
	present := func() (*Store, metastore.IndexUID, [][]metastore.SplitMetadata) {
		store, uid := benchStore(b, Options{})
		batches := make([][]metastore.SplitMetadata, benchClients)
		for i := range batches {
			batches[i] = batch(size)
			if err := stageBatch(store, uid, batches[i], false); err != nil {
				b.Fatal(err)
			}
		}
		exec(b, connect(b, store.options.DSN), "VACUUM ANALYZE splits")
		return store, uid, batches
	}
	createOnly, createOnlyUID, createOnlyBatches := present()
	upsert, upsertUID, upsertBatches := present()
	compare(b, size, benchClients,
		&contender{name: "create-only", work: func(call int) error {
			return stageBatch(createOnly, createOnlyUID, createOnlyBatches[call%benchClients], true)
		}},
		&contender{name: "upsert", work: func(call int) error {
			return stageBatch(upsert, upsertUID, upsertBatches[call%benchClients], false)
		}},
	)
}

func stageBatch(store *Store, uid metastore.IndexUID, splits []metastore.SplitMetadata, createOnly bool) error {
	_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits, CreateOnly: createOnly})
	return err
}

// stageWithPgx sends the insert that a program without a metastore would write.
func stageWithPgx(pool *pgxpool.Pool, uid metastore.IndexUID, list []metastore.SplitMetadata, mode pgx.QueryExecMode) error {
	const insert = `INSERT INTO splits (index_uid, split_id, split_state, time_range_start, time_range_end, tags, split_metadata_json, delete_opstamp, maturity_timestamp, node_id)
		SELECT $1, split_id, 'Staged', range_start, range_end, tags::text[], document, opstamp, to_timestamp(maturity) AT TIME ZONE 'utc', node_id
		FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[])
			AS new (split_id, range_start, range_end, tags, document, opstamp, maturity, node_id)
		ON CONFLICT (index_uid, split_id) DO UPDATE SET split_metadata_json = excluded.split_metadata_json, tags = excluded.tags, node_id = excluded.node_id,
			time_range_start = excluded.time_range_start, time_range_end = excluded.time_range_end, delete_opstamp = excluded.delete_opstamp,
			maturity_timestamp = excluded.maturity_timestamp, create_timestamp = now(), update_timestamp = now()
		WHERE splits.split_state = 'Staged'`
	n := len(list)
	ids, documents, nodes, tags := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	starts, ends, opstamps, maturities := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range list {
		ids[i], documents[i], nodes[i], tags[i] = list[i].SplitID, list[i].Document(), list[i].NodeID, `{tenant!,tenant:1}`
		starts[i], ends[i], opstamps[i] = list[i].TimeRange.Value.Start, list[i].TimeRange.Value.End, int64(list[i].DeleteOpstamp)
		maturities[i], _ = list[i].MaturityTimestamp()
	}
	_, err := pool.Exec(context.Background(), insert, mode, uid.String(), ids, starts, ends, tags, documents, opstamps, maturities, nodes)
	return err
}
