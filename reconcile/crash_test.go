package reconcile

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
)

var errKilled = errors.New("the process is killed")

// killAt makes every call from the nth on fail, as if the process were gone. The nth call itself has
// its effect if done is set; its answer is lost all the same.
func killAt(n int, done bool) func(int, func() error) error {
	return func(at int, call func() error) error {
		switch {
		case at < n:
			return call()
		case at == n && done:
			return errors.Join(metastore.Internal(errKilled, "killed"), call())
		default:
			return metastore.Internal(errKilled, "killed")
		}
	}
}

func TestARunThatIsKilledAtAnyCallIsFinishedByTheNextOne(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		for n := 1; ; n++ {
			store := &counted{Store: memoryStore(t)}
			options := webAccess.options(t, store)
			options.Journal = filepath.Join(t.TempDir(), "journal")
			options.BatchSplits = 2

			store.around = killAt(n, done)
			// The process is killed: whatever it would do later does not happen.
			_, err := Run(t.Context(), options)
			calls := store.changes
			store.around = nil
			again := only(t, run(t, options))

			requireRebuilt(t, webAccess, store)
			require.Zero(t, again.NeedsPerson, "killed at call %d, %v", n, again.Findings)
			changes := store.changes
			run(t, options)
			require.Equal(t, changes, store.changes, "nothing is left to do")
			if calls < n {
				require.NoError(t, err)
				require.Greater(t, n, 7, "the index, the counter of opstamps and three batches of two calls")
				break
			}
		}
	}
}

func TestBringingABackupUpToDateMayBeKilledAtAnyCall(t *testing.T) {
	t.Parallel()
	want := webAccess.read(t)
	for _, done := range []bool{false, true} {
		for n := 1; ; n++ {
			store := &counted{Store: memoryStore(t)}
			webAccessBefore.restore(t, store)
			options := webAccess.options(t, store)
			options.Journal = filepath.Join(t.TempDir(), "journal")
			options.BatchSplits = 1
			base := store.changes
			store.around = killAt(base+n, done)
			_, err := Run(t.Context(), options)
			calls := store.changes - base
			store.around = nil

			run(t, options)

			rows := allRows(t, store, "web-access")
			require.Equal(t, want.published, idsIn(rows, metastore.Published), "killed at call %d", n)
			require.Empty(t, idsIn(rows, metastore.Staged))
			if calls < n {
				require.NoError(t, err)
				require.Greater(t, n, 2)
				break
			}
		}
	}
}

func TestAnswersThatAreLostAreFoundInTheRows(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 8; n++ {
		store := &counted{Store: memoryStore(t)}
		store.around = func(at int, call func() error) error {
			if at == n {
				return errors.Join(metastore.Unavailable(nil, "the connection broke"), call())
			}
			return call()
		}
		options := webAccess.options(t, store)
		options.BatchSplits = 2

		s := only(t, run(t, options))

		requireRebuilt(t, webAccess, store)
		require.EqualValues(t, 6, s.Published)
		require.EqualValues(t, 6, s.Staged)
		require.Zero(t, s.NeedsPerson)
	}
}

func TestWithoutAJournalLeftoversNeedAPersonAndAreAdoptedOnDemand(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	store.around = killAt(4, false) // the index is created, the counter raised, all is staged, nothing is published
	_, err := Run(t.Context(), options)
	require.Error(t, err)
	store.around = nil
	require.Len(t, idsIn(allRows(t, store, "web-access"), metastore.Staged), 6)
	before := texts(t, store, "web-access")

	options.Settle = 1
	s := only(t, run(t, options))
	require.Equal(t, before, texts(t, store, "web-access"), "rows that may be others' are left alone")
	require.Contains(t, codes(s), "staged-by-someone")
	require.Positive(t, s.NeedsPerson)

	options.Lineage.AdoptStaged = true
	run(t, options)
	requireRebuilt(t, webAccess, store)
}

func TestTheBatchAtHandIsFinishedWhenTheRunIsInterrupted(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	options.BatchSplits = 2
	ctx, cancel := context.WithCancel(t.Context())
	store.around = func(at int, call func() error) error {
		if at == 3 { // the first batch is being staged
			cancel()
		}
		return call()
	}

	_, err := Run(ctx, options)

	require.ErrorIs(t, err, context.Canceled)
	rows := allRows(t, store, "web-access")
	require.Len(t, idsIn(rows, metastore.Published), 2)
	require.Empty(t, idsIn(rows, metastore.Staged))
	store.around = nil
	run(t, options)
	requireRebuilt(t, webAccess, store)
}

func TestEightWorkersAtOncePublishEachSplitOnce(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) metastore.Store{"file": memoryStore, "postgres": postgresStore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			options := webAccess.options(t, store)
			options.BatchSplits = 1
			options.Settle = testPatience
			var workers sync.WaitGroup
			var mu sync.Mutex
			staged := int64(0)
			for range 8 {
				workers.Go(func() {
					summary, err := Run(t.Context(), options)
					if err != nil || summary.NeedsPerson() || summary.Failed() {
						t.Errorf("a worker ended with %v: %+v", err, summary)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					staged += summary.Indexes[0].Staged
				})
			}
			workers.Wait()
			requireRebuilt(t, webAccess, store)
			require.EqualValues(t, 6, staged, "each row is staged by one worker")
		})
	}
}
