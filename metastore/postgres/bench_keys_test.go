package postgres

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

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

// BenchmarkKeysInALargeTable compares calls with keys in a database with many records and in one with few.
func BenchmarkKeysInALargeTable(b *testing.B) {
	records := sizeFromEnvironment(b, "HOLDFAST_BENCH_RECORDS", 1_000_000)
	large, largeUID := benchStore(b, Options{})
	conn := connect(b, large.options.DSN)
	oldest := idempotency.FirstKeyAt(time.Now().Add(-40 * time.Minute))
	exec(b, conn, `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
		SELECT (substr($1::text, 1, 8) || '-' || substr($1::text, 10, 4) || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
			$2, 'PublishSplits', 'index/logs:01M8P1J7FR1XNB4CEKH7EWG1BC', $3, 1
		FROM generate_series(1, $4::bigint) AS n`, oldest.String(), idempotency.Anonymous[:], make([]byte, 32), int64(records))
	exec(b, conn, "VACUUM ANALYZE holdfast.idempotency_records")
	small, smallUID := benchStore(b, Options{})
	stageKeyed := func(store *Store, uid metastore.IndexUID) error {
		_, err := store.WithRecord(keyedRecord(b, "StageSplits")).StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(1)})
		return err
	}
	compare(b, 1, 800,
		&contender{name: "large", work: func(int) error { return stageKeyed(large, largeUID) }},
		&contender{name: "small", work: func(int) error { return stageKeyed(small, smallUID) }},
	)
	began := time.Now()
	removed, err := large.purgeRecords(context.Background(), time.Now().Add(time.Hour), purgeRecordsBatch)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(removed)/time.Since(began).Seconds(), "purged-records/s")
}
