package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Several clients make calls of two sorts on few rows, each with the ids in another order, every other call with an
// idempotency key. With locks taken in the order of the request or of a scan, most of these pairs deadlock within a few calls.
func TestCallsOnTheSameRowsNeverDeadlock(t *testing.T) {
	t.Parallel()
	pairs := stormPairs()
	total := int64(100_000)
	if os.Getenv("HOLDFAST_LONG") != "" {
		total = 1_000_000
	}
	share := (total + int64(len(pairs)) - 1) / int64(len(pairs))
	var succeeded sync.Map // by the names of the group and of the call
	t.Cleanup(func() {
		for _, pair := range pairs[:len(pairs)-1] {
			for _, call := range pair.calls {
				if _, ok := succeeded.Load(pair.stormGroup.name + ": " + call.name); !ok {
					t.Errorf("%s: no %s succeeded", pair.stormGroup.name, call.name)
				}
			}
		}
	})
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			t.Parallel()
			dsn := ready.Database(t)
			// Locks are held as long either way; this only makes the test faster.
			withoutDurability(t, dsn)
			runStorm(t, dsn, pair, share, &succeeded)
			if n := deadlocks(t, dsn); n != 0 {
				t.Errorf("PostgreSQL counted %d deadlocks", n)
			}
		})
	}
}

func TestTheDeadlockCounterCounts(t *testing.T) {
	t.Parallel()
	dsn := ready.Database(t)
	reopenStore(t, Options{DSN: dsn})
	control := connect(t, dsn)
	exec(t, control, "INSERT INTO kv VALUES ('a', ''), ('b', '')")
	var group sync.WaitGroup
	var locked sync.WaitGroup
	locked.Add(2)
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		conn := connect(t, dsn)
		group.Go(func() {
			// One of the two fails, as it must.
			_ = pgx.BeginFunc(context.Background(), conn, func(tx pgx.Tx) error {
				for i, key := range order {
					if _, err := tx.Exec(context.Background(), "SELECT 1 FROM kv WHERE key = $1 FOR UPDATE", key); err != nil {
						return err
					}
					if i == 0 {
						locked.Done()
						locked.Wait()
					}
				}
				return nil
			})
			_ = conn.Close(context.Background())
		})
	}
	group.Wait()
	if n := deadlocks(t, dsn); n != 1 {
		t.Errorf("PostgreSQL counted %d deadlocks instead of 1", n)
	}
}

// stormCall is a call that locks several rows, of which it chooses some.
type stormCall struct {
	name string
	run  func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error
	// Seven times in eight the next call of the pair is made in place of a rare one.
	rare bool
}

// stormGroup holds calls that lock the same rows.
type stormGroup struct {
	name  string
	calls []stormCall
	// One call in stormRefill is one of these, or soon all rows would be gone or in a state that nothing changes.
	refill []stormCall
}

// stormPair is what the clients of one storm call.
type stormPair struct {
	stormGroup
	name string
}

// stormPairs pairs each call with itself and every other one of its group. In the last of all everything is called.
func stormPairs() (pairs []stormPair) {
	everything := stormPair{name: "everything"}
	for _, group := range []stormGroup{splitStorm(), shardStorm(), parquetStorm(), deleteTaskStorm()} {
		for i, first := range group.calls {
			for _, second := range group.calls[i:] {
				pair := stormPair{group, fmt.Sprintf("%s: %s and %s", group.name, first.name, second.name)}
				pair.calls = []stormCall{first, second}
				pairs = append(pairs, pair)
			}
		}
		everything.calls = append(everything.calls, group.calls...)
		everything.refill = append(everything.refill, group.refill...)
	}
	return append(pairs, everything)
}

const (
	stormClients = 16
	stormRefill  = 6
)

// storm is an index whose rows many clients change.
type storm struct {
	t         testing.TB
	store     *Store
	splits    []string
	shards    []string
	uid       atomic.Pointer[metastore.IndexUID]
	elsewhere metastore.IndexUID // another index
	create    metastore.CreateIndexRequest
	source    *indexconfig.SourceConfig // the one with shards
}

func newStorm(t *testing.T, dsn string) *storm {
	s := &storm{
		t: t, store: reopenStore(t, Options{DSN: dsn, MaxConns: stormClients}),
		splits: numberedIDs("split-", 12), shards: numberedIDs("shard-", 12),
		create: createRequest(t, "storm", `{"version":"0.9","source_id":"source","source_type":"ingest"}`),
	}
	s.source = s.create.Sources[0]
	s.create.Sources = append(s.create.Sources, sourceConfig(t, "void"))
	if err := s.createIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.elsewhere = createIndex(t, s.store, "elsewhere")
	return s
}

// client returns the store for one call, which has an idempotency key as often as not.
func (s *storm) client() metastore.Store {
	if rand.IntN(2) == 0 {
		return s.store
	}
	return s.store.WithRecord(newRecord(s.t, "Any"))
}

func (s *storm) createIndex(ctx context.Context) error {
	metadata, err := s.client().CreateIndex(ctx, s.create)
	if err == nil {
		s.uid.Store(&metadata.IndexUID)
	}
	return err
}

// runStorm makes so many calls, puts down which of them succeed, and closes the store.
func runStorm(t *testing.T, dsn string, pair stormPair, calls int64, succeeded *sync.Map) {
	s := newStorm(t, dsn)
	var left atomic.Int64
	left.Store(calls)
	var group sync.WaitGroup
	for client := range stormClients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			for left.Add(-1) >= 0 {
				choice := random.IntN(len(pair.calls))
				if pair.calls[choice].rare && random.IntN(8) > 0 {
					choice = (choice + 1) % len(pair.calls)
				}
				call := pair.calls[choice]
				if random.IntN(stormRefill) == 0 {
					call = pair.refill[random.IntN(len(pair.refill))]
				}
				// Only a call that waits for ever takes as long.
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
				err := call.run(ctx, s, *s.uid.Load(), random)
				cancel()
				if err == nil {
					succeeded.Store(pair.stormGroup.name+": "+call.name, true)
				}
				if err != nil && !explained(err) {
					t.Errorf("%s: %v", call.name, err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := s.store.Close(); err != nil {
		t.Error(err)
	}
}

// explained reports whether the other calls explain an error.
func explained(err error) bool {
	return slices.Contains([]metastore.ErrorKind{
		metastore.KindNotFound, metastore.KindFailedPrecondition, metastore.KindAlreadyExists, metastore.KindInvalidArgument, metastore.KindInvalidPublishToken,
	}, metastore.AsError(err).Kind)
}

// some returns some of the ids, in any order: often many, which are locked together, and as often few, which are more likely
// to be all in a state that suits the call.
func some(ids []string, random *rand.Rand) []string {
	n := len(ids)
	if random.IntN(2) == 0 {
		n = 2
	}
	chosen := make([]string, 1+random.IntN(n))
	for i, at := range random.Perm(len(ids))[:len(chosen)] {
		chosen[i] = ids[at]
	}
	return chosen
}

// inTurn makes calls one after the other, also if one fails because of calls of others.
func inTurn(calls ...func() error) error {
	for _, call := range calls {
		if err := call(); err != nil && !explained(err) {
			return err
		}
	}
	return nil
}

// someToPublish returns some ids to be published and others to be replaced.
func someToPublish(uid metastore.IndexUID, ids []string, random *rand.Rand) metastore.PublishSplitsRequest {
	chosen := some(ids, random)
	cut := random.IntN(len(chosen) + 1)
	return metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: chosen[:cut], ReplacedSplitIDs: chosen[cut:]}
}

// deleteAndCreateIndex deletes the index, which one of several clients at a time can, and that one creates and fills it again.
// It is rare, so that the other call finds rows.
func deleteAndCreateIndex(fill stormCall) stormCall {
	return stormCall{name: "delete index", rare: true, run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		if err := s.client().DeleteIndex(ctx, uid); err != nil {
			return err
		}
		if err := s.createIndex(ctx); err != nil {
			return err
		}
		return inTurn(func() error { return fill.run(ctx, s, *s.uid.Load(), random) })
	}}
}

// withoutDurability has the sessions of a database not wait for the disk.
func withoutDurability(t testing.TB, dsn string) {
	t.Helper()
	conn := connect(t, dsn)
	name := pgx.Identifier{queryValue[string](t, conn, "SELECT current_database()")}.Sanitize()
	exec(t, conn, "ALTER DATABASE "+name+" SET synchronous_commit = off")
}

// deadlocks returns how many PostgreSQL has counted in the database, once all other sessions have ended: they
// report when they do.
func deadlocks(t testing.TB, dsn string) int64 {
	t.Helper()
	conn := connect(t, dsn)
	waitUntil(t, "the other sessions have ended", func() bool {
		return queryValue[int64](t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", applicationName) == 0
	})
	return queryValue[int64](t, conn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
}

// waitUntil asks again and again until the condition holds.
func waitUntil(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
