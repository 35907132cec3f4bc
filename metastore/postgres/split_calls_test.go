package postgres

import (
	"context"
	"errors"
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

// busyIndex is an index whose lanes are all taken by calls that wait for a split each, until released.
type busyIndex struct {
	*testing.T
	store *Store
	uid   metastore.IndexUID
	dsn   string
	conn  *pgx.Conn
	calls *splitCalls
	wait  sync.WaitGroup
	errs  map[string]error
	mu    sync.Mutex
}

// newBusyIndex stages splits, publishes one of them if it is named so, and has the lanes of stages or publishes taken for
// good, or until their patience ends.
func newBusyIndex(t *testing.T, options Options, calls func(*Store) *splitCalls, patience time.Duration, ids ...string) *busyIndex {
	t.Helper()
	store, dsn := openStore(t, options)
	b := &busyIndex{T: t, store: store, dsn: dsn, conn: connect(t, dsn), calls: calls(store), errs: map[string]error{}}
	b.calls.groups.patience = patience
	b.uid = createIndex(t, store, "logs")
	held := numberedIDs("held", splitLanes)
	for _, id := range append(held, ids...) {
		stage(t, store, b.uid, id)
	}
	if slices.Contains(ids, "published") {
		publish(t, store, b.uid, "published")
	}
	exec(t, b.conn, "BEGIN")
	exec(t, b.conn, "SELECT 1 FROM splits WHERE split_id LIKE 'held%' FOR UPDATE")
	watch := connect(t, dsn)
	for i, id := range held {
		b.call(id, store, id)
		waitUntil(t, "a call has taken a lane for itself", func() bool {
			return queryValue[int](t, watch, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == i+1
		})
	}
	return b
}

func stagesOf(s *Store) *splitCalls    { return s.stages }
func publishesOf(s *Store) *splitCalls { return s.publishes }

// call makes a call on a split in the background. Its error is put down under the name.
func (b *busyIndex) call(name string, store metastore.Store, id string) {
	b.wait.Go(func() {
		var err error
		if b.calls == b.store.stages {
			_, err = store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: b.uid, Splits: splits(id)})
		} else {
			err = store.PublishSplits(context.Background(), publishing(b.uid, id))
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.errs[name] = err
	})
}

// callNext is call for one that comes behind n others that wait.
func (b *busyIndex) callNext(n int, name string, store metastore.Store, id string) {
	b.Helper()
	b.call(name, store, id)
	waitUntil(b.T, fmt.Sprintf("%d calls wait", n+1), func() bool {
		b.calls.groups.mu.Lock()
		defer b.calls.groups.mu.Unlock()
		return len(b.calls.groups.queues[b.uid].waiting) == n+1
	})
}

func (b *busyIndex) release() {
	b.Helper()
	exec(b.T, b.conn, "COMMIT")
}

// transactions is how many transactions have written the splits.
func (b *busyIndex) transactions(ids []string) int64 {
	b.Helper()
	return queryValue[int64](b.T, b.conn, "SELECT count(DISTINCT xmin::text) FROM splits WHERE split_id = ANY($1)", ids)
}

func TestCallsOfOneSplitShareATransactionWhenManyCome(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]func(*Store) *splitCalls{"stage": stagesOf, "publish": publishesOf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids := numberedIDs("s", 10)
			b := newBusyIndex(t, Options{MaxKeysPerCaller: 5}, calls, 0, ids...)
			records := map[string]idempotency.Record{}
			for i, id := range ids {
				var store metastore.Store = b.store
				if i%2 == 0 {
					records[id] = newRecord(t, "Call")
					store = b.store.WithRecord(records[id])
				}
				b.callNext(i, id, store, id)
			}
			b.release()
			b.wait.Wait()
			for name, err := range b.errs {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if n := b.transactions(ids); n != 1 {
				t.Errorf("the calls took %d transactions", n)
			}
			if n := numRecords(t, b.dsn); n != 5 {
				t.Errorf("%d records, want those of the 5 keyed calls", n)
			}
			b.call("replay", b.store.WithRecord(records[ids[0]]), ids[0])
			b.call("beyond the limit", b.store.WithRecord(newRecord(t, "Call")), ids[0])
			b.wait.Wait()
			wantReplayed(t, b.errs["replay"], records[ids[0]])
			if err := b.errs["beyond the limit"]; !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyQuota}) {
				t.Errorf("one more than the caller may have: %v", err)
			}
		})
	}
}

func TestACallThatIsRefusedHarmsNoOtherOfItsTransaction(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]func(*Store) *splitCalls{"stage": stagesOf, "publish": publishesOf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBusyIndex(t, Options{}, calls, 0, "a", "b", "published", "once")
			executed := newRecord(t, "Call")
			exec(t, connect(t, b.dsn), `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
				VALUES ($1, $2, $3, $4, $5, $6)`, executed.Key.String(), executed.Principal[:], executed.Operation, executed.Resource, executed.Fingerprint[:], executed.FingerprintVersion)
			refused := newRecord(t, "Call")
			b.callNext(0, "a", b.store.WithRecord(newRecord(t, "Call")), "a")
			b.callNext(1, "published", b.store.WithRecord(refused), "published")
			b.callNext(2, "executed", b.store.WithRecord(executed), "once")
			b.callNext(3, "b", b.store, "b")
			b.release()
			b.wait.Wait()
			for _, name := range []string{"a", "b"} {
				if err := b.errs[name]; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := b.errs["published"]; !errors.Is(err, metastore.ErrFailedPrecondition) {
				t.Errorf("the published one: %v", err)
			}
			wantReplayed(t, b.errs["executed"], executed)
			if n := numRecords(t, b.dsn); n != 2 {
				t.Errorf("%d records, want that of a and the one from before", n)
			}
		})
	}
}

func TestTwoStagesOfASplitTakeATransactionEach(t *testing.T) {
	t.Parallel()
	b := newBusyIndex(t, Options{}, stagesOf, 0)
	b.callNext(0, "first", b.store, "a")
	b.callNext(1, "second", b.store, "a")
	b.release()
	b.wait.Wait()
	for name, err := range b.errs {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACallThatWaitsForALockHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]func(*Store) *splitCalls{"stage": stagesOf, "publish": publishesOf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBusyIndex(t, Options{}, calls, time.Millisecond, "a", "b", "held-too")
			exec(t, b.conn, "SELECT 1 FROM splits WHERE split_id = 'held-too' FOR UPDATE")
			// Some of these share a transaction with the one that has to wait, others come behind it.
			for _, id := range []string{"held-too", "a", "b"} {
				b.call(id, b.store, id)
			}
			waitUntil(t, "the others are done", func() bool {
				b.mu.Lock()
				defer b.mu.Unlock()
				return len(b.errs) == 2
			})
			b.release()
			b.wait.Wait()
			for name, err := range b.errs {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func TestKeyedCallsOfOneSplitAreExecutedOnceWhenConnectionsBreak(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	control := connect(t, dsn)
	const callers, calls, cutAfter = 16, 25, 20
	var wait sync.WaitGroup
	made := make(chan struct{}, callers*calls)
	for caller := range callers {
		wait.Go(func() {
			for call := range calls {
				id := strconv.Itoa(caller) + "-" + strconv.Itoa(call)
				for _, make := range []func(store metastore.Store) error{
					func(store metastore.Store) error {
						return tryStage(context.Background(), store, uid, false, id)
					},
					func(store metastore.Store) error {
						return store.PublishSplits(context.Background(), publishing(uid, id))
					},
				} {
					// The store repeats what a broken connection leaves open, so it may find its own record.
					var replayed *idempotency.Replayed
					if err := make(store.WithRecord(newRecord(t, "Call"))); err != nil && !errors.As(err, &replayed) {
						t.Errorf("split %s: %v", id, err)
					}
				}
				made <- struct{}{}
			}
		})
	}
	cut := int64(0)
	for n := range callers * calls {
		<-made
		if n%cutAfter == 0 {
			tag, err := control.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = $1 AND state <> 'idle'`, applicationName)
			if err != nil {
				t.Fatal(err)
			}
			cut += tag.RowsAffected()
		}
	}
	wait.Wait()
	if cut == 0 {
		t.Error("no connection was cut")
	}
	if n := numRecords(t, dsn); n != 2*callers*calls {
		t.Errorf("%d records of %d calls", n, 2*callers*calls)
	}
	if n := queryValue[int64](t, control, "SELECT count(*) FROM splits WHERE split_state = 'Published'"); n != callers*calls {
		t.Errorf("%d splits are published, want %d", n, callers*calls)
	}
}

func TestAClosedStoreRefusesCallsOfOneSplit(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), Options{DSN: ready.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	uid := createIndex(t, store, "logs")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tryStage(t.Context(), store, uid, false, "a"); metastore.AsError(err).Kind != metastore.KindUnavailable {
		t.Errorf("a stage: %v", err)
	}
	if err := store.PublishSplits(t.Context(), publishing(uid, "a")); metastore.AsError(err).Kind != metastore.KindUnavailable {
		t.Errorf("a publish: %v", err)
	}
}
