package postgres

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/indexconfig"
)

func newRecord(t testing.TB, operation string) idempotency.Record {
	t.Helper()
	key, err := idempotency.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return idempotency.Record{Key: key, Binding: idempotency.Binding{
		Principal: idempotency.Anonymous, Operation: operation, Resource: "index/logs",
		Fingerprint: idempotency.Fingerprint{1}, FingerprintVersion: idempotency.FingerprintVersion,
	}}
}

func wantReplayed(t testing.TB, err error, record idempotency.Record) {
	t.Helper()
	var replayed *idempotency.Replayed
	if !errors.As(err, &replayed) {
		t.Fatalf("the call was not replayed: %v", err)
	}
	if replayed.Record.Key != record.Key || replayed.Record.Binding != record.Binding || replayed.Record.CreateTimestamp == 0 {
		t.Fatalf("record %+v, want that of %+v", replayed.Record, record)
	}
}

func publishing(uid metastore.IndexUID, ids ...string) metastore.PublishSplitsRequest {
	return metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids}
}

// numRecords counts the records in the database.
func numRecords(t testing.TB, dsn string) int64 {
	t.Helper()
	return queryValue[int64](t, connect(t, dsn), "SELECT count(*) FROM holdfast.idempotency_records")
}

func TestAKeyedCallIsExecutedOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b", "c")
	for name, request := range map[string]metastore.PublishSplitsRequest{
		"one split":    publishing(uid, "a"),
		"many splits":  publishing(uid, "b", "c"),
		"an empty one": publishing(uid),
	} {
		record := newRecord(t, "PublishSplits")
		if err := store.WithRecord(record).PublishSplits(ctx, request); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantReplayed(t, store.WithRecord(record).PublishSplits(ctx, request), record)
	}
	record := newRecord(t, "StageSplits")
	request := metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("d"), CreateOnly: true}
	for range 2 {
		record = newRecord(t, "StageSplits")
		if _, err := store.WithRecord(record).StageSplits(ctx, request); err != nil {
			t.Fatal(err)
		}
		_, err := store.WithRecord(record).StageSplits(ctx, request)
		wantReplayed(t, err, record)
	}
	request.CreateOnly = false
	upserted := newRecord(t, "StageSplits")
	if _, err := store.WithRecord(upserted).StageSplits(ctx, request); err != nil {
		t.Fatal(err)
	}
	publish(t, store, uid, "d")
	_, err := store.WithRecord(upserted).StageSplits(ctx, request)
	wantReplayed(t, err, upserted)

	deleted := newRecord(t, "DeleteIndex")
	if err := store.WithRecord(deleted).DeleteIndex(ctx, uid); err != nil {
		t.Fatal(err)
	}
	createIndex(t, store, "logs")
	wantReplayed(t, store.WithRecord(deleted).DeleteIndex(ctx, uid), deleted)
	_, err = store.WithRecord(record).StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("d"), CreateOnly: true})
	wantReplayed(t, err, record)
	if n := numRecords(t, dsn); n != 7 {
		t.Fatalf("%d records, want 7", n)
	}
}

func TestAFailedCallLeavesNoRecord(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	publish(t, store, uid, "b")
	unknown := metastore.IndexUID{IndexID: "unknown", Incarnation: uid.Incarnation}
	for name, call := range map[string]func(metastore.Store) error{
		"publishing an unknown split":    func(s metastore.Store) error { return s.PublishSplits(ctx, publishing(uid, "x")) },
		"publishing a published split":   func(s metastore.Store) error { return s.PublishSplits(ctx, publishing(uid, "b")) },
		"publishing one of no index":     func(s metastore.Store) error { return s.PublishSplits(ctx, publishing(unknown, "a")) },
		"publishing unknown splits":      func(s metastore.Store) error { return s.PublishSplits(ctx, publishing(uid, "a", "x")) },
		"deleting an unknown index":      func(s metastore.Store) error { return s.DeleteIndex(ctx, unknown) },
		"adding a source to no index":    func(s metastore.Store) error { return s.ToggleSource(ctx, unknown, "source", true) },
		"toggling an unknown source":     func(s metastore.Store) error { return s.ToggleSource(ctx, uid, "source", true) },
		"staging over a published split": func(s metastore.Store) error { return tryStage(ctx, s, uid, false, "b") },
		"staging into an unknown index":  func(s metastore.Store) error { return tryStage(ctx, s, unknown, false, "c") },
		"staging create-only into one":   func(s metastore.Store) error { return tryStage(ctx, s, unknown, true, "c") },
		"creating an existing index": func(s metastore.Store) error {
			_, err := s.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs")})
			return err
		},
	} {
		var typed *metastore.Error
		if err := call(store.WithRecord(newRecord(t, name))); !errors.As(err, &typed) || !typed.Kind.CertainlyAborted() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := numRecords(t, dsn); n != 0 {
		t.Fatalf("%d records of failed calls", n)
	}
}

func tryStage(ctx context.Context, store metastore.Store, uid metastore.IndexUID, createOnly bool, ids ...string) error {
	_, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(ids...), CreateOnly: createOnly})
	return err
}

func TestOfManyCallsWithOneKeyOneIsExecuted(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{MaxConns: 10})
	other := reopenStore(t, Options{DSN: dsn, MaxConns: 10})
	stores := []*Store{store, other}
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	for name, request := range map[string]metastore.PublishSplitsRequest{"one split": publishing(uid, "a"), "a list": publishing(uid, "b", "b")} {
		record := newRecord(t, "PublishSplits")
		errs := make([]error, 50)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() { errs[i] = stores[i%2].WithRecord(record).PublishSplits(t.Context(), request) })
		}
		wait.Wait()
		executed := 0
		for _, err := range errs {
			if err == nil {
				executed++
			} else {
				wantReplayed(t, err, record)
			}
		}
		if executed != 1 {
			t.Fatalf("%s: executed %d times", name, executed)
		}
	}
}

func TestACallDoesNotWaitLongForAnotherWithItsKey(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{KeyWait: 50 * time.Millisecond})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	record := newRecord(t, "PublishSplits")
	conn := connect(t, dsn)
	exec(t, conn, "BEGIN")
	exec(t, conn, `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
		VALUES ($1, $2, 'PublishSplits', 'index/logs', $3, 1)`, record.Key.String(), record.Principal[:], record.Fingerprint[:])
	err := store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a"))
	if !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyInFlight}) {
		t.Fatalf("while the other runs: %v", err)
	}
	exec(t, conn, "ROLLBACK")
	if err := store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")); err != nil {
		t.Fatalf("when the other was undone: %v", err)
	}
	wantReplayed(t, store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")), record)
}

func TestKeyedPublishesWithDeltasShareATransaction(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const calls = 60
	store, dsn := openStore(t, Options{MaxKeysPerCaller: calls*9/10 + 1})
	uid := createIndex(t, store, "logs")
	if err := store.AddSource(ctx, uid, sourceConfig(t, "source")); err != nil {
		t.Fatal(err)
	}
	stage(t, store, uid, numberedIDs("split", calls)...)
	records := make([]idempotency.Record, calls)
	for i := range records {
		records[i] = newRecord(t, "PublishSplits")
	}
	publishAll := func() []error {
		errs := make([]error, calls)
		var wait sync.WaitGroup
		for i, id := range numberedIDs("split", calls) {
			wait.Go(func() {
				request := publishing(uid, id)
				if i%10 == 9 {
					request.StagedSplitIDs = append(request.StagedSplitIDs, "unknown")
				}
				request.Delta = &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{strconv.Itoa(i): {From: "", To: "1"}}}
				errs[i] = store.WithRecord(records[i]).PublishSplits(ctx, request)
			})
		}
		wait.Wait()
		return errs
	}
	for i, err := range publishAll() {
		if refused := i%10 == 9; refused != errors.Is(err, metastore.ErrNotFound) || !refused && err != nil {
			t.Errorf("publish %d: %v", i, err)
		}
	}
	if n := numRecords(t, dsn); n != calls*9/10 {
		t.Errorf("%d records, want those of the %d publishes", n, calls*9/10)
	}
	for i, err := range publishAll() {
		if i%10 == 9 {
			if !errors.Is(err, metastore.ErrNotFound) {
				t.Errorf("publish %d again: %v", i, err)
			}
		} else {
			wantReplayed(t, err, records[i])
		}
	}
	publishMore := func(partition string) error {
		request := publishing(uid)
		request.Delta = &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{partition: {From: "", To: "1"}}}
		return store.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(ctx, request)
	}
	if err := publishMore("last"); err != nil {
		t.Errorf("the last that the caller may have: %v", err)
	}
	if err := publishMore("beyond"); !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyQuota}) {
		t.Errorf("one more than the caller may have: %v", err)
	}
}

func TestARecordThatNoServerWritesIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	record := newRecord(t, "PublishSplits")
	if err := store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")); err != nil {
		t.Fatal(err)
	}
	exec(t, connect(t, dsn), "UPDATE holdfast.idempotency_records SET status = 'RUNNING'")
	err := store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a"))
	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != metastore.KindInternal || !strings.Contains(err.Error(), "RUNNING") {
		t.Fatalf("a record with another status: %v", err)
	}
}

func TestOldRecordsAreRemovedInBatches(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	window := idempotency.DefaultWindow()
	conn := connect(t, dsn)
	now := time.Now()
	insert := func(made time.Time, n int) {
		key := idempotency.FirstKeyAt(made)
		key[6] |= 0x70
		for i := range n {
			key[15] = byte(i)
			exec(t, conn, `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
				VALUES ($1, $2, 'AddSource', 'index/logs', $3, 1)`, key.String(), idempotency.Anonymous[:], make([]byte, 32))
		}
	}
	kept := window.Horizon() + window.PurgeDelay
	insert(now.Add(-kept-time.Second), 7)
	insert(now.Add(-kept+time.Second), 3)
	removed, err := store.purgeRecords(ctx, now, 2)
	if err != nil || removed != 7 {
		t.Fatalf("removed %d, %v; want 7", removed, err)
	}
	if n := numRecords(t, dsn); n != 3 {
		t.Fatalf("%d records are left, want 3", n)
	}
}

func TestTheOwnSchemaIsCreatedOnce(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	createIndex(t, store, "logs")
	reopenStore(t, Options{DSN: dsn})
	conn := connect(t, dsn)
	if n := queryValue[int64](t, conn, "SELECT count(*) FROM holdfast.migrations"); n != 2 {
		t.Fatalf("%d migrations are recorded, want 2", n)
	}
	exec(t, conn, "DROP SCHEMA holdfast CASCADE")
	without := reopenStore(t, Options{DSN: dsn, NoIdempotencyKeys: true})
	stage(t, without, mustUID(t, queryValue[string](t, conn, "SELECT index_uid FROM indexes")), "a")
	if queryValue[bool](t, conn, "SELECT to_regnamespace('holdfast') IS NOT NULL") {
		t.Fatal("the schema was created although keys are switched off")
	}
}

func TestTheRecordsOfTheFirstSchemaAreKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	conn := connect(t, dsn)
	exec(t, conn, "DROP SCHEMA holdfast CASCADE")
	exec(t, conn, "CREATE SCHEMA holdfast")
	exec(t, conn, "CREATE TABLE holdfast.migrations (version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())")
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return applyOwnMigration(ctx, tx, "0001_idempotency_records.sql") })
	if err != nil {
		t.Fatal(err)
	}
	insert := func(record idempotency.Record) {
		t.Helper()
		exec(t, conn, `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
			VALUES ($1, $2, $3, $4, $5, $6)`, record.Key.String(), record.Principal[:], record.Operation, record.Resource, record.Fingerprint[:], record.FingerprintVersion)
	}
	before, after := newRecord(t, "PublishSplits"), newRecord(t, "PublishSplits")
	insert(before)
	upgraded := reopenStore(t, Options{DSN: dsn})
	insert(after) // as a server of the first version does, beside one of the second
	for _, record := range []idempotency.Record{before, after} {
		wantReplayed(t, upgraded.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")), record)
	}
	if err := upgraded.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(ctx, publishing(uid, "a")); err != nil {
		t.Fatal(err)
	}
	if n := numRecords(t, dsn); n != 3 {
		t.Fatalf("%d records, want 3", n)
	}
}

func TestARecordOfAnotherShapeIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{MaxKeysPerCaller: 1})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	record := newRecord(t, "PublishSplits")
	if err := store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	exec(t, conn, "UPDATE holdfast.idempotency_records SET fingerprint = 'short'")
	wantInternal := func(err error, column string) {
		t.Helper()
		var typed *metastore.Error
		if !errors.As(err, &typed) || typed.Kind != metastore.KindInternal || !strings.Contains(err.Error(), column) {
			t.Errorf("a %s that is too short: %v", column, err)
		}
	}
	wantInternal(store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")), "fingerprint")
	exec(t, conn, "UPDATE holdfast.idempotency_records SET principal = 'short'")
	exec(t, conn, "ANALYZE holdfast.idempotency_records")
	wantInternal(store.countRecords(ctx), "principal")
}

func sourceConfig(t testing.TB, id string) *indexconfig.SourceConfig {
	t.Helper()
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"` + id + `","source_type":"void","params":null}`))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestTheRecordsOfACallerAreBounded(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{MaxKeysPerCaller: 2})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b", "c")
	first := newRecord(t, "PublishSplits")
	if err := store.WithRecord(first).PublishSplits(ctx, publishing(uid, "a")); err != nil {
		t.Fatal(err)
	}
	if err := store.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(ctx, publishing(uid, "b")); err != nil {
		t.Fatal(err)
	}
	wantFull := func(store *Store, when string) {
		t.Helper()
		var full *idempotency.Error
		err := store.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(ctx, publishing(uid, "c"))
		if !errors.As(err, &full) || full.Reason != idempotency.KeyQuota || full.RetryAfter == 0 {
			t.Fatalf("%s: %v", when, err)
		}
	}
	wantFull(store, "one too many")
	wantReplayed(t, store.WithRecord(first).PublishSplits(ctx, publishing(uid, "a")), first)
	other := reopenStore(t, Options{DSN: dsn, MaxKeysPerCaller: 2})
	exec(t, connect(t, dsn), "ANALYZE holdfast.idempotency_records")
	if err := other.countRecords(ctx); err != nil {
		t.Fatal(err)
	}
	wantFull(other, "on another server, once it has counted")
	exec(t, connect(t, dsn), "DELETE FROM holdfast.idempotency_records")
	if err := store.countRecords(ctx); err != nil {
		t.Fatal(err)
	}
	if err := store.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(ctx, publishing(uid, "c")); err != nil {
		t.Fatalf("when the records are gone: %v", err)
	}
}

func TestAWaitingCallIsExecutedWhenTheOtherIsUndone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{KeyWait: time.Minute})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	record := newRecord(t, "PublishSplits")
	conn, watch := connect(t, dsn), connect(t, dsn)
	exec(t, conn, "BEGIN")
	exec(t, conn, `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
		VALUES ($1, $2, 'PublishSplits', 'index/logs', $3, 1)`, record.Key.String(), record.Principal[:], record.Fingerprint[:])
	published := make(chan error, 1)
	go func() { published <- store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")) }()
	waitForLock(t, watch)
	exec(t, conn, "ROLLBACK")
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	wantReplayed(t, store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a")), record)
}

func TestARecordThatIsRemovedInTheSameMomentDoesNoHarm(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	record := newRecord(t, "PublishSplits")
	// The first attempt meets a record that is gone when it is looked at.
	attempts := 0
	err := store.once(ctx, "publishing splits", &record, func() error {
		attempts++
		if attempts == 1 {
			return &pgconn.PgError{Code: stateUniqueViolation, ConstraintName: recordsPrimaryKey}
		}
		return store.WithRecord(record).PublishSplits(ctx, publishing(uid, "a"))
	})
	if err != nil || attempts != 2 || numRecords(t, dsn) != 1 {
		t.Fatalf("%d attempts, %v, %d records; want 2 and one", attempts, err, numRecords(t, dsn))
	}
}

func TestACommitWhoseAnswerIsLostIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, committed := range map[string]bool{"it was committed": true, "it was not": false} {
		ctx := t.Context()
		store, _ := openStore(t, Options{})
		uid := createIndex(t, store, "logs")
		stage(t, store, uid, "a")
		record := newRecord(t, "PublishSplits")
		lost := false
		err := store.once(ctx, "publishing splits", &record, func() error {
			publish := func() error {
				return store.repeatLocked(ctx, []*idempotency.Record{&record}, func() []query { return nil }, func() (decision, error) {
					return decision{writes: []query{{sql: publishSplitSQL, args: [][]byte{textArgument(uid.String()), textArgument("a")}}}}, nil
				})
			}
			if lost {
				return publish()
			}
			lost = true
			if committed {
				if err := publish(); err != nil {
					return err
				}
			}
			return io.ErrUnexpectedEOF
		})
		if committed {
			wantReplayed(t, err, record)
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := listIDs(t, store, &metastore.ListSplitsQuery{AllIndexes: true, States: []metastore.SplitState{metastore.Published}}); len(got) != 1 {
			t.Fatalf("%s: published %v", name, got)
		}
	}
}

// waitForLock waits until a session of the database waits for a lock.
func waitForLock(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	waitUntil(t, "a session waits for a lock", func() bool {
		return queryValue[bool](t, conn, "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	})
}

func TestTheWaitForAKeyDoesNotBoundOtherWaits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const keyWait = 20 * time.Millisecond
	store, dsn := openStore(t, Options{KeyWait: keyWait})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	holder, watch := connect(t, dsn), connect(t, dsn)
	exec(t, holder, "BEGIN")
	exec(t, holder, "SELECT 1 FROM splits FOR UPDATE")
	published := make(chan error, 1)
	go func() {
		published <- store.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(ctx, publishing(uid, "a"))
	}()
	waitUntil(t, "the call has waited for the split much longer", func() bool {
		return queryValue[bool](t, watch, "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > $1::interval", 10*keyWait)
	})
	exec(t, holder, "ROLLBACK")
	if err := <-published; err != nil {
		t.Fatal(err)
	}
}
