package postgres

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
)

func BenchmarkList(b *testing.B) {
	for _, rows := range []int{100_000, sizeFromEnvironment(b, "HOLDFAST_BENCH_ROWS", 1_000_000)} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			store, uid := benchStore(b, Options{})
			fill(b, store, uid, rows)
			pool := pgxPool(b, store.options.DSN)
			var inStore, inPgx time.Duration
			var peak uint64
			turns := 0
			for b.Loop() {
				began := time.Now()
				peak = max(peak, listAll(b, store, uid, rows))
				inStore += time.Since(began)
				began = time.Now()
				listWithPgx(b, pool, uid, rows)
				inPgx += time.Since(began)
				turns++
			}
			b.ReportMetric(float64(turns*rows)/inStore.Seconds(), "store-rows/s")
			b.ReportMetric(float64(turns*rows)/inPgx.Seconds(), "pgx-rows/s")
			b.ReportMetric(inPgx.Seconds()/inStore.Seconds(), "store/pgx")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// listAll returns by how many bytes the heap grew at most.
func listAll(b *testing.B, store *Store, uid metastore.IndexUID, rows int) uint64 {
	b.Helper()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := before.HeapInuse
	n, size := 0, 0
	err := store.ListSplits(context.Background(), metastore.AllSplits(uid), func(row *metastore.SplitRow) error {
		n++
		size += len(row.Document)
		if n%50_000 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse)
		}
		return nil
	})
	if err != nil || n != rows {
		b.Fatalf("%d rows, error %v", n, err)
	}
	return peak - before.HeapInuse
}

// listWithPgx reads the same columns of the same rows, and makes nothing of them.
func listWithPgx(b *testing.B, pool *pgxpool.Pool, uid metastore.IndexUID, rows int) {
	b.Helper()
	result, err := pool.Query(context.Background(), `SELECT index_uid, split_id, split_state, create_timestamp, update_timestamp, publish_timestamp, delete_opstamp, split_metadata_json
		FROM splits WHERE index_uid = $1`, uid.String())
	if err != nil {
		b.Fatal(err)
	}
	var indexUID, id, state, document string
	var created, updated time.Time
	var published *time.Time
	var opstamp int64
	n, size := 0, 0
	_, err = pgx.ForEachRow(result, []any{&indexUID, &id, &state, &created, &updated, &published, &opstamp, &document}, func() error {
		n++
		size += len(document)
		return nil
	})
	if err != nil || n != rows {
		b.Fatalf("%d rows, error %v", n, err)
	}
}
