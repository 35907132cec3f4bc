package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

// Several clients make calls of two sorts on few splits of one index, each with the ids in another order. With locks
// taken in the order of the request or of a scan, each of these pairs deadlocks within a few calls.
func TestCallsOnTheSameSplitsNeverDeadlock(t *testing.T) {
	t.Parallel()
	pairs := [][2]stormCall{
		{stormStage, stormStage},
		{stormStage, stormPublish},
		{stormStage, stormMark},
		{stormStage, stormDelete},
		{stormPublish, stormPublish},
		{stormPublish, stormMark},
		{stormPublish, stormDelete},
		{stormMark, stormMark},
		{stormMark, stormDelete},
		{stormDelete, stormDelete},
		{stormDeleteIndex, stormDeleteIndex},
		{stormDeleteIndex, stormStage},
		{stormDeleteIndex, stormPublish},
		{stormDeleteIndex, stormMark},
		{stormDeleteIndex, stormDelete},
		{stormPublishDelta, stormPublishDelta},
		{stormPublishDelta, stormStage},
		{stormPublishDelta, stormCreateOnly},
		{stormPublishDelta, stormPublish},
		{stormPublishDelta, stormMark},
		{stormPublishDelta, stormDelete},
		{stormPublishDelta, stormDeleteIndex},
		{stormStamp, stormStamp},
		{stormStamp, stormStage},
		{stormStamp, stormPublish},
		{stormStamp, stormMark},
		{stormStamp, stormDelete},
		{stormStamp, stormDeleteIndex},
		{stormCreateOnly, stormCreateOnly},
		{stormCreateOnly, stormStage},
		{stormCreateOnly, stormPublish},
		{stormCreateOnly, stormMark},
		{stormCreateOnly, stormDelete},
		{stormCreateOnly, stormDeleteIndex},
	}
	for _, pair := range pairs {
		t.Run(fmt.Sprintf("%s and %s", pair[0], pair[1]), func(t *testing.T) {
			dsn := ready.Database(t)
			// Locks are held as long either way; this only makes the test faster.
			withoutDurability(t, dsn)
			runStorm(t, dsn, pair)
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

type stormCall string

const (
	stormStage        stormCall = "stage"
	stormCreateOnly   stormCall = "create-only stage"
	stormPublish      stormCall = "publish"
	stormPublishDelta stormCall = "publish with a delta"
	stormMark         stormCall = "mark"
	stormDelete       stormCall = "delete"
	stormStamp        stormCall = "update the delete opstamp"
	stormDeleteIndex  stormCall = "delete index"
)

const stormClients = 16

// stormLimits bounds a storm by the number of its calls and by its time.
func stormLimits() (calls int64, atMost time.Duration) {
	if os.Getenv("HOLDFAST_LONG") != "" {
		return 100_000, 10 * time.Minute
	}
	return 3_000, 2 * time.Second
}

// storm is an index that many clients change.
type storm struct {
	store  *Store
	ids    []string
	uid    atomic.Pointer[metastore.IndexUID]
	create metastore.CreateIndexRequest
}

func runStorm(t *testing.T, dsn string, pair [2]stormCall) {
	s := &storm{store: reopenStore(t, Options{DSN: dsn, MaxConns: stormClients}), ids: numberedIDs("split-", 24), create: createRequest(t, "storm", voidSource)}
	metadata, err := s.store.CreateIndex(t.Context(), s.create)
	if err != nil {
		t.Fatal(err)
	}
	uid := metadata.IndexUID
	s.uid.Store(&uid)
	calls, atMost := stormLimits()
	var left atomic.Int64
	left.Store(calls)
	end := time.Now().Add(atMost)
	var group sync.WaitGroup
	for client := range stormClients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			for left.Add(-1) >= 0 && time.Now().Before(end) {
				call := pair[client%2]
				if random.IntN(8) == 0 {
					// Splits must go round, or soon all would be in a state that nothing changes.
					call = []stormCall{stormMark, stormDelete, stormStage, stormPublish}[random.IntN(4)]
				}
				if err := s.call(call, random); err != nil {
					t.Errorf("%s: %v", call, err)
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

// call makes one call and returns an error that the other calls do not explain.
func (s *storm) call(call stormCall, random *rand.Rand) error {
	ctx := context.Background()
	uid := *s.uid.Load()
	ids := make([]string, 0, len(s.ids))
	for _, i := range random.Perm(len(s.ids))[:1+random.IntN(len(s.ids)-1)] {
		ids = append(ids, s.ids[i])
	}
	var err error
	switch call {
	case stormStage, stormCreateOnly:
		_, err = s.store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(ids...), CreateOnly: call == stormCreateOnly})
	case stormPublish:
		cut := random.IntN(len(ids) + 1)
		err = s.store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[:cut], ReplacedSplitIDs: ids[cut:]})
	case stormPublishDelta:
		cut := random.IntN(len(ids) + 1)
		delta := &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{fmt.Sprint(random.Int()): {To: "1"}}}
		err = s.store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[:cut], ReplacedSplitIDs: ids[cut:], Delta: delta})
	case stormMark:
		err = s.store.MarkSplitsForDeletion(ctx, uid, ids)
	case stormDelete:
		err = s.store.DeleteSplits(ctx, uid, ids)
	case stormStamp:
		err = s.store.UpdateSplitsDeleteOpstamp(ctx, uid, ids, random.Uint64N(3))
	case stormDeleteIndex:
		err = s.deleteAndCreate(uid)
	}
	if errors.Is(err, metastore.ErrNotFound) || errors.Is(err, metastore.ErrFailedPrecondition) {
		return nil
	}
	return err
}

// deleteAndCreate deletes the index, which only one of several clients at a time can, and that one creates it again.
func (s *storm) deleteAndCreate(uid metastore.IndexUID) error {
	if err := s.store.DeleteIndex(context.Background(), uid); err != nil {
		return err
	}
	metadata, err := s.store.CreateIndex(context.Background(), s.create)
	if err != nil {
		return err
	}
	s.uid.Store(&metadata.IndexUID)
	return nil
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
