package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/metastore"
)

// As TestCallsOnTheSameSplitsNeverDeadlock, for Parquet splits. Their ids are unique over all indexes, so the calls of
// another index meet the same rows.
func TestCallsOnTheSameParquetSplitsNeverDeadlock(t *testing.T) {
	t.Parallel()
	const (
		stage, stageElsewhere, publish, mark, remove, deleteIndex = "stage", "stage elsewhere", "publish", "mark", "delete", "delete index"
	)
	for _, pair := range [][2]string{
		{stage, stage}, {stage, stageElsewhere}, {stage, publish}, {stage, mark}, {stage, remove}, {publish, publish}, {publish, mark},
		{publish, remove}, {mark, mark}, {mark, remove}, {remove, remove}, {deleteIndex, stage}, {deleteIndex, stageElsewhere}, {deleteIndex, publish}, {deleteIndex, mark}, {deleteIndex, remove},
	} {
		t.Run(pair[0]+" and "+pair[1], func(t *testing.T) {
			dsn := ready.Database(t)
			withoutDurability(t, dsn)
			s := newParquetStorm(t, dsn)
			s.run(t, func(client int, random *rand.Rand) string {
				if random.IntN(8) == 0 {
					// Splits must go round, or soon all would be in a state that nothing changes.
					return []string{mark, remove, stage, publish}[random.IntN(4)]
				}
				return pair[client%2]
			})
			if n := deadlocks(t, dsn); n != 0 {
				t.Errorf("PostgreSQL counted %d deadlocks", n)
			}
		})
	}
}

// parquetStorm is two indexes whose Parquet splits many clients change.
type parquetStorm struct {
	store *Store
	ids   []string
	uid   atomic.Pointer[metastore.IndexUID]
	other metastore.IndexUID
	again metastore.CreateIndexRequest
}

func newParquetStorm(t *testing.T, dsn string) *parquetStorm {
	s := &parquetStorm{
		store: reopenStore(t, Options{DSN: dsn, MaxConns: stormClients}), ids: numberedIDs("split-", 24),
		again: metastore.CreateIndexRequest{Config: indexConfig(t, "storm")},
	}
	uid := createIndex(t, s.store, "storm")
	s.uid.Store(&uid)
	s.other = createIndex(t, s.store, "elsewhere")
	return s
}

// run has all clients make calls and closes the store.
func (s *parquetStorm) run(t *testing.T, next func(client int, random *rand.Rand) string) {
	calls, atMost := stormLimits()
	var left atomic.Int64
	left.Store(calls)
	end := time.Now().Add(atMost)
	var group sync.WaitGroup
	for client := range stormClients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			for left.Add(-1) >= 0 && time.Now().Before(end) {
				if call := next(client, random); s.unexplained(s.call(call, random)) {
					t.Errorf("%s failed", call)
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

// unexplained reports whether the other calls do not explain an error.
func (s *parquetStorm) unexplained(err error) bool {
	return err != nil && !errors.Is(err, metastore.ErrNotFound) && !errors.Is(err, metastore.ErrFailedPrecondition)
}

func (s *parquetStorm) call(call string, random *rand.Rand) error {
	ctx, kind, uid := context.Background(), metastore.MetricsSplits, *s.uid.Load()
	ids := make([]string, 0, len(s.ids))
	for _, i := range random.Perm(len(s.ids))[:1+random.IntN(len(s.ids)-1)] {
		ids = append(ids, s.ids[i])
	}
	switch call {
	case "stage":
		return s.store.StageParquetSplits(ctx, kind, uid, parquetSplits(uid, ids...))
	case "stage elsewhere":
		return s.store.StageParquetSplits(ctx, kind, s.other, parquetSplits(s.other, ids...))
	case "publish":
		cut := random.IntN(len(ids) + 1)
		return s.store.PublishParquetSplits(ctx, kind, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[:cut], ReplacedSplitIDs: ids[cut:]})
	case "mark":
		return s.store.MarkParquetSplitsForDeletion(ctx, kind, uid, ids)
	case "delete":
		return s.store.DeleteParquetSplits(ctx, kind, uid, ids)
	case "delete index":
		if err := s.store.DeleteIndex(ctx, uid); err != nil {
			return err
		}
		metadata, err := s.store.CreateIndex(ctx, s.again)
		if err == nil {
			s.uid.Store(&metadata.IndexUID)
		}
		return err
	}
	return fmt.Errorf("there is no call %q", call)
}
