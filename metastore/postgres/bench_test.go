package postgres

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
)

const benchClients = 16

// parallelClients runs work b.N times, by 16 clients, and reports the rows a second.
func parallelClients(b *testing.B, rowsPerCall int, work func(client, call int) error) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for client := range benchClients {
		group.Go(func() {
			for {
				call := int(next.Add(1)) - 1
				if call >= b.N {
					return
				}
				if err := work(client, call); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N*rowsPerCall)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

var benchRun atomic.Int64

// batch returns splits with ids that no other call has.
func batch(n int) []metastore.SplitMetadata {
	prefix := fmt.Sprintf("%08d-", benchRun.Add(1))
	return splits(numberedIDs(prefix, n)...)
}

// fill stages n splits of one node, quickly.
func fill(b *testing.B, store *Store, uid metastore.IndexUID, n int) {
	b.Helper()
	const size = 5000
	for done := 0; done < n; done += size {
		request := metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(min(size, n-done))}
		if _, err := store.StageSplits(context.Background(), request); err != nil {
			b.Fatal(err)
		}
	}
	exec(b, connect(b, store.options.DSN), "VACUUM ANALYZE splits")
}

// millionRows is the size of the large benchmarks; HOLDFAST_BENCH_ROWS makes it smaller.
func millionRows(b *testing.B) int {
	b.Helper()
	if text := os.Getenv("HOLDFAST_BENCH_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	return 1_000_000
}

func BenchmarkStage(b *testing.B) {
	for _, prepared := range []bool{false, true} {
		for _, size := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("prepared=%v/splits=%d", prepared, size), func(b *testing.B) {
				store, _ := openStore(b, Options{PreparedStatements: prepared})
				uid := createIndex(b, store, "logs")
				parallelClients(b, size, func(int, int) error {
					_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(size)})
					return err
				})
			})
		}
	}
}

// BenchmarkStageWithPgxAlone sends the insert that a program without a metastore would write.
func BenchmarkStageWithPgxAlone(b *testing.B) {
	const insert = `INSERT INTO splits (index_uid, split_id, split_state, time_range_start, time_range_end, tags, split_metadata_json, delete_opstamp, maturity_timestamp, node_id)
		SELECT $1, split_id, 'Staged', range_start, range_end, tags::text[], document, opstamp, to_timestamp(maturity) AT TIME ZONE 'utc', node_id
		FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[])
			AS new (split_id, range_start, range_end, tags, document, opstamp, maturity, node_id)
		ON CONFLICT (index_uid, split_id) DO UPDATE SET split_metadata_json = excluded.split_metadata_json, tags = excluded.tags, node_id = excluded.node_id,
			time_range_start = excluded.time_range_start, time_range_end = excluded.time_range_end, delete_opstamp = excluded.delete_opstamp,
			maturity_timestamp = excluded.maturity_timestamp, create_timestamp = now(), update_timestamp = now()
		WHERE splits.split_state = 'Staged'`
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("splits=%d", size), func(b *testing.B) {
			store, dsn := openStore(b, Options{})
			uid := createIndex(b, store, "logs").String()
			config, err := pgxpool.ParseConfig(dsn)
			if err != nil {
				b.Fatal(err)
			}
			config.MaxConns = defaultMaxConns
			pool, err := pgxpool.NewWithConfig(context.Background(), config)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(pool.Close)
			parallelClients(b, size, func(int, int) error {
				list := batch(size)
				ids, documents, nodes, tags := make([]string, size), make([]string, size), make([]string, size), make([]string, size)
				starts, ends, opstamps, maturities := make([]int64, size), make([]int64, size), make([]int64, size), make([]int64, size)
				for i := range list {
					ids[i], documents[i], nodes[i], tags[i] = list[i].SplitID, list[i].Document(), list[i].NodeID, `{tenant!,tenant:1}`
					starts[i], ends[i], opstamps[i] = list[i].TimeRange.Value.Start, list[i].TimeRange.Value.End, int64(list[i].DeleteOpstamp)
					maturities[i], _ = list[i].MaturityTimestamp()
				}
				_, err := pool.Exec(context.Background(), insert, uid, ids, starts, ends, tags, documents, opstamps, maturities, nodes)
				return err
			})
		})
	}
}

func BenchmarkStageIntoATableOfOneNode(b *testing.B) {
	for _, rows := range []int{1_000, millionRows(b)} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			store, _ := openStore(b, Options{})
			uid := createIndex(b, store, "logs")
			fill(b, store, uid, rows)
			parallelClients(b, 100, func(int, int) error {
				_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(100)})
				return err
			})
		})
	}
}

func BenchmarkStageWhatIsThere(b *testing.B) {
	for _, createOnly := range []bool{false, true} {
		b.Run(fmt.Sprintf("create-only=%v", createOnly), func(b *testing.B) {
			store, _ := openStore(b, Options{})
			uid := createIndex(b, store, "logs")
			batches := make([][]metastore.SplitMetadata, benchClients)
			for client := range batches {
				batches[client] = batch(1000)
				if _, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batches[client]}); err != nil {
					b.Fatal(err)
				}
			}
			exec(b, connect(b, store.options.DSN), "VACUUM ANALYZE splits")
			parallelClients(b, 1000, func(client, _ int) error {
				_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batches[client], CreateOnly: createOnly})
				return err
			})
		})
	}
}

func BenchmarkPublishOnOneIndex(b *testing.B) {
	for _, prepared := range []bool{false, true} {
		b.Run(fmt.Sprintf("prepared=%v", prepared), func(b *testing.B) {
			store, _ := openStore(b, Options{PreparedStatements: prepared})
			uid := createIndex(b, store, "logs")
			ids := make([]string, 0, b.N)
			for len(ids) < b.N {
				list := batch(min(b.N-len(ids), 1000))
				if _, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: list}); err != nil {
					b.Fatal(err)
				}
				ids = append(ids, splitIDs(list)...)
			}
			exec(b, connect(b, store.options.DSN), "VACUUM ANALYZE splits")
			parallelClients(b, 1, func(_, call int) error {
				return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[call : call+1]})
			})
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, rows := range []int{100_000, millionRows(b)} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			store, _ := openStore(b, Options{})
			uid := createIndex(b, store, "logs")
			fill(b, store, uid, rows)
			runtime.GC()
			var before, now runtime.MemStats
			runtime.ReadMemStats(&before)
			peak := before.HeapInuse
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
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
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(peak-before.HeapInuse)/(1<<20), "peak-MiB")
		})
	}
}
