package reconcile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
)

func TestNewDeleteTasksApplyToRecoveredSplits(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &counted{Store: open(t)}
			options := webAccess.options(t, store)
			planned, err := Plan(t.Context(), options)
			require.NoError(t, err)
			require.Equal(t, &OpstampRaise{From: 0, To: 1}, only(t, planned).DeleteOpstamps)
			require.True(t, said(only(t, planned), CodeOpstamp, "a run raises its counter to 1 first"))

			s := only(t, run(t, options))

			require.Equal(t, &OpstampRaise{From: 0, To: 1, Done: true}, s.DeleteOpstamps)
			require.Zero(t, s.NeedsPerson)
			uid := indexUID(t, store, "web-access")
			rows := allRows(t, store, "web-access")
			greatest := uint64(0)
			for _, r := range rows {
				greatest = max(greatest, r.metadata.DeleteOpstamp)
			}
			require.EqualValues(t, 1, greatest)
			task, err := store.CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: uid, QueryAST: `{"type":"match_all"}`})
			require.NoError(t, err)
			require.Greater(t, task.Opstamp, greatest)
			stale := map[string]bool{}
			err = store.ListStaleSplits(t.Context(), metastore.StaleSplitsQuery{IndexUID: uid, DeleteOpstamp: task.Opstamp, Limit: 100}, func(r *metastore.SplitRow) error {
				split, err := r.Split()
				stale[split.Metadata.SplitID] = true
				return err
			})
			require.NoError(t, err)
			for id, r := range rows {
				if !r.metadata.Maturity.Immature {
					require.True(t, stale[id], "%s, of opstamp %d, is not stale for task %d", id, r.metadata.DeleteOpstamp, task.Opstamp)
				}
			}

			changes := store.changes
			require.Nil(t, only(t, run(t, options)).DeleteOpstamps)
			require.Equal(t, changes, store.changes)
		})
	}
}

func TestACounterThatIsHighEnoughIsLeftAlone(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	index, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: webAccess.config(t)})
	require.NoError(t, err)
	require.NoError(t, store.RaiseDeleteOpstampFloor(t.Context(), index.IndexUID, 7))
	changes := store.changes

	s := only(t, run(t, webAccess.options(t, store)))

	require.Nil(t, s.DeleteOpstamps)
	require.NotContains(t, codes(s), CodeOpstamp)
	require.Equal(t, changes+2, store.changes, "a stage and a publish")
	floor, err := store.DeleteOpstampFloor(t.Context(), index.IndexUID)
	require.NoError(t, err)
	require.EqualValues(t, 7, floor)
}

func TestNothingIsPublishedBeforeTheCounterIsRaised(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	store.around = func(n int, call func() error) error {
		if n == 2 { // behind the creation of the index
			return metastore.Forbidden(nil, "raising is not allowed")
		}
		return call()
	}

	_, err := Run(t.Context(), webAccess.options(t, store))

	require.ErrorContains(t, err, "raise the counter of delete opstamps to 1")
	require.Empty(t, allRows(t, store, "web-access"))
}
