package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// keyedRecord is the record of a call that no other has.
func keyedRecord(b *testing.B, operation string) idempotency.Record {
	key, err := idempotency.NewKey()
	if err != nil {
		b.Error(err)
	}
	return idempotency.Record{Key: key, Binding: idempotency.Binding{
		Principal: idempotency.Anonymous, Operation: operation, Resource: "index/logs:01M8P1J7FR1XNB4CEKH7EWG1BC", FingerprintVersion: idempotency.FingerprintVersion,
	}}
}

func BenchmarkStageWithKeys(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("splits=%d", size), func(b *testing.B) {
			calls := map[int]int{1: 800, 100: 48, 1000: 16}[size]
			keyed, keyedUID := benchStore(b, Options{})
			plain, plainUID := benchStore(b, Options{})
			compare(b, size, calls,
				&contender{name: "keyed", work: func(int) error {
					_, err := keyed.WithRecord(keyedRecord(b, "StageSplits")).StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: keyedUID, Splits: batch(size)})
					return err
				}},
				&contender{name: "plain", work: func(int) error { return stageBatch(plain, plainUID, batch(size), false) }},
			)
		})
	}
}

func position(n int) metastore.Position { return metastore.Position(fmt.Sprintf("%020d", n)) }

func BenchmarkPublishWithKeys(b *testing.B) {
	const source = "source"
	prepare := func() (*Store, metastore.IndexUID) {
		store, uid := benchStore(b, Options{})
		if err := store.AddSource(context.Background(), uid, sourceConfig(b, source)); err != nil {
			b.Fatal(err)
		}
		return store, uid
	}
	publishDelta := func(store metastore.Store, uid metastore.IndexUID, call int) error {
		return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, Delta: &metastore.CheckpointDelta{
			SourceID: source, Partitions: map[string]metastore.PartitionDelta{strconv.Itoa(call % (4 * benchClients)): {From: position(call), To: position(call + 1)}},
		}})
	}
	keyed, keyedUID := prepare()
	plain, plainUID := prepare()
	compare(b, 1, 800,
		&contender{name: "keyed", work: func(call int) error {
			return publishDelta(keyed.WithRecord(keyedRecord(b, "PublishSplits")), keyedUID, call+1)
		}},
		&contender{name: "plain", work: func(call int) error { return publishDelta(plain, plainUID, call+1) }},
	)
}

// BenchmarkPublishSplitWithKeys publishes one split in each call, without progress.
func BenchmarkPublishSplitWithKeys(b *testing.B) {
	splits := sizeFromEnvironment(b, "HOLDFAST_BENCH_PUBLISHES", 10_000)
	prepare := func() (*Store, metastore.IndexUID, []string) {
		store, uid := benchStore(b, Options{})
		return store, uid, fill(b, store, uid, splits)
	}
	publish := func(store metastore.Store, uid metastore.IndexUID, id string) error {
		return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{id}})
	}
	keyed, keyedUID, keyedIDs := prepare()
	plain, plainUID, plainIDs := prepare()
	compare(b, 1, 800,
		&contender{name: "keyed", work: func(call int) error {
			return publish(keyed.WithRecord(keyedRecord(b, "PublishSplits")), keyedUID, keyedIDs[call])
		}},
		&contender{name: "plain", work: func(call int) error { return publish(plain, plainUID, plainIDs[call]) }},
	)
}

// latencies are how long calls took.
type latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

func (l *latencies) of(work func(int) error) func(int) error {
	return func(call int) error {
		began := time.Now()
		err := work(call)
		took := time.Since(began)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.took = append(l.took, took)
		return err
	}
}

func (l *latencies) report(b *testing.B, name string) {
	took := l.took[benchClients:] // without those that connect
	slices.Sort(took)
	for _, percent := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*percent/100].Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", name, percent))
	}
}

// fillRecords inserts n records, whose keys were made one after the other from the first time to the last.
func fillRecords(b *testing.B, conn *pgx.Conn, first, last time.Time, n int) {
	b.Helper()
	exec(b, conn, `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
		SELECT (substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
			$4, 'PublishSplits', 'index/logs:01M8P1J7FR1XNB4CEKH7EWG1BC', $5, 1
		FROM generate_series(1, $3::bigint) AS n, lpad(to_hex($1::bigint + ($2::bigint - $1::bigint) * n / $3::bigint), 12, '0') AS digits`,
		first.UnixMilli(), last.UnixMilli(), int64(n), idempotency.Anonymous[:], make([]byte, 32))
}

// BenchmarkKeysInALargeTable compares calls with keys in a database with many records and in one with few. Then it has ten
// times a tenth of the records made anew and the oldest tenth removed, as time would, and tells what size the table has.
func BenchmarkKeysInALargeTable(b *testing.B) {
	records := sizeFromEnvironment(b, "HOLDFAST_BENCH_RECORDS", 1_000_000)
	large, largeUID := benchStore(b, Options{})
	conn := connect(b, large.options.DSN)
	const vacuum = "VACUUM ANALYZE holdfast.idempotency_records" // which autovacuum does in time
	const cycles = 10
	kept := large.options.IdempotencyWindow.Horizon() + large.options.IdempotencyWindow.PurgeDelay
	began := time.Now()
	fillRecords(b, conn, began.Add(-kept), began, records)
	exec(b, conn, vacuum)
	filled := time.Since(began)

	small, smallUID := benchStore(b, Options{})
	stageKeyed := func(store *Store, uid metastore.IndexUID) func(int) error {
		return func(int) error {
			_, err := store.WithRecord(keyedRecord(b, "StageSplits")).StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(1)})
			return err
		}
	}
	var inLarge, inSmall latencies
	compare(b, 1, 800,
		&contender{name: "large", work: inLarge.of(stageKeyed(large, largeUID))},
		&contender{name: "small", work: inSmall.of(stageKeyed(small, smallUID))},
	)
	b.ReportMetric(filled.Seconds(), "fill-s")
	inLarge.report(b, "large")
	inSmall.report(b, "small")

	megabytes := func(of string) float64 {
		return float64(queryValue[int64](b, conn, "SELECT "+of+"('holdfast.idempotency_records')")) / 1e6
	}
	b.ReportMetric(megabytes("pg_table_size"), "table-MB")
	b.ReportMetric(megabytes("pg_indexes_size"), "index-MB")
	var removed int64
	var took time.Duration
	now := time.Now()
	for cycle := range cycles {
		// As if a tenth of the time that records are kept had passed.
		fillRecords(b, conn, now, now.Add(kept/cycles), records/cycles)
		now = now.Add(kept / cycles)
		began := time.Now()
		for {
			n, err := large.purgeRecords(context.Background(), now, purgeRecordsBatch)
			if err != nil {
				b.Fatal(err)
			}
			removed += n
			if n < purgeRecordsBatch*maxPurgeBatches {
				break
			}
		}
		took += time.Since(began)
		exec(b, conn, vacuum)
		if done := cycle + 1; done%(cycles/2) == 0 {
			b.ReportMetric(megabytes("pg_table_size"), fmt.Sprintf("table-after-%d-MB", done))
			b.ReportMetric(megabytes("pg_indexes_size"), fmt.Sprintf("index-after-%d-MB", done))
		}
	}
	b.ReportMetric(float64(removed)/took.Seconds(), "purged-records/s")
}
