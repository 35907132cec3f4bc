package postgres

import (
	"context"
	"math/rand/v2"
	"testing"

	"holdfast/metastore"
)

// deleteTaskStorm has the calls that lock the table of delete tasks, and those that lock the index row on the way to it.
func deleteTaskStorm() stormGroup {
	create := stormCall{name: "create task", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		_, err := s.client().CreateDeleteTask(ctx, metastore.DeleteQuery{IndexUID: uid, QueryAST: "{}"})
		return err
	}}
	// Mostly above the last opstamp: otherwise nothing is locked.
	raise := stormCall{name: "raise the floor", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		floor, err := s.store.DeleteOpstampFloor(ctx, uid)
		if err != nil {
			return err
		}
		return s.client().RaiseDeleteOpstampFloor(ctx, uid, floor+random.Uint64N(5))
	}}
	toggle := stormCall{name: "toggle source", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().ToggleSource(ctx, uid, "source", random.IntN(2) == 0)
	}}
	return stormGroup{
		name:   "delete tasks",
		calls:  []stormCall{create, raise, toggle, deleteAndCreateIndex(create)},
		refill: []stormCall{create},
	}
}

// The table of delete tasks is locked before any row: who waits for it keeps nobody from the row of the index, whom the
// holder of the table may be waiting for.
func TestWhoWaitsForTheTableOfDeleteTasksHoldsNoRow(t *testing.T) {
	t.Parallel()
	raised, others := "SHARE ROW EXCLUSIVE", "ROW EXCLUSIVE"
	for _, c := range []struct {
		name string
		held string
		call func(ctx context.Context, store *Store, uid metastore.IndexUID) error
	}{
		{"creating a task", raised, func(ctx context.Context, store *Store, uid metastore.IndexUID) error {
			_, err := store.CreateDeleteTask(ctx, metastore.DeleteQuery{IndexUID: uid, QueryAST: "{}"})
			return err
		}},
		{"deleting an index", raised, func(ctx context.Context, store *Store, uid metastore.IndexUID) error {
			return store.DeleteIndex(ctx, uid)
		}},
		{"raising the floor, behind who creates a task", others, func(ctx context.Context, store *Store, uid metastore.IndexUID) error {
			return store.RaiseDeleteOpstampFloor(ctx, uid, 9)
		}},
		{"raising the floor, behind who raises it", raised, func(ctx context.Context, store *Store, uid metastore.IndexUID) error {
			return store.RaiseDeleteOpstampFloor(ctx, uid, 9)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store, dsn := openStore(t, Options{})
			uid := createIndex(t, store, "logs")
			r := newRival(t, dsn, "LOCK TABLE delete_tasks IN "+c.held+" MODE")
			var row int64
			err := r.whileWaiting(func() error { return c.call(context.Background(), store, uid) }, func() {
				row = queryValue[int64](t, r.conn, "SELECT count(*) FROM (SELECT 1 FROM indexes FOR UPDATE NOWAIT) AS locked")
			})
			if err != nil || row != 1 {
				t.Errorf("error %v, and %d rows could be locked meanwhile", err, row)
			}
		})
	}
}
