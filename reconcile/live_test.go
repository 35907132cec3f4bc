package reconcile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// testPatience is how long tests wait for what has to happen.
const testPatience = time.Minute

// client stages, publishes, merges and marks splits of its own, and remembers their rows.
type client struct {
	store metastore.Store
	uid   metastore.IndexUID
	name  string
	like  metastore.SplitMetadata // a split to take the other fields from
	rows  map[string]metastore.SplitState
}

func (c *client) split(n int) metastore.SplitMetadata {
	m := mature(c.like)
	m.SplitID = fmt.Sprintf("live-%s-%d", c.name, n)
	return m
}

// work goes through the life of a few splits.
func (c *client) work(ctx context.Context, n int) error {
	a, b, merged, staged := c.split(4*n), c.split(4*n+1), c.split(4*n+2), c.split(4*n+3)
	for _, step := range []func() error{
		func() error {
			_, err := c.store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: c.uid, Splits: []metastore.SplitMetadata{a, b, merged, staged}})
			return err
		},
		func() error {
			return c.store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: c.uid, StagedSplitIDs: []string{a.SplitID, b.SplitID}})
		},
		func() error {
			return c.store.PublishSplits(ctx, metastore.PublishSplitsRequest{
				IndexUID: c.uid, StagedSplitIDs: []string{merged.SplitID}, ReplacedSplitIDs: []string{a.SplitID},
			})
		},
		func() error { return c.store.MarkSplitsForDeletion(ctx, c.uid, []string{b.SplitID}) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	c.rows[a.SplitID], c.rows[b.SplitID] = metastore.MarkedForDeletion, metastore.MarkedForDeletion
	c.rows[merged.SplitID], c.rows[staged.SplitID] = metastore.Published, metastore.Staged
	return nil
}

// TestWorkersChangeNoRowOfALiveCluster runs four workers while clients work on the same index, and
// while rows of files exist that others staged, published and marked.
func TestWorkersChangeNoRowOfALiveCluster(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) metastore.Store{"file": memoryStore, "postgres": postgresStore} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			want := webAccess.read(t)
			index, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: webAccess.config(t)})
			require.NoError(t, err)
			foreign := map[string]metastore.SplitState{
				want.published[0]: metastore.Staged, want.published[1]: metastore.Published, want.published[2]: metastore.MarkedForDeletion,
			}
			for id, state := range foreign {
				putRow(t, store, index.IndexUID, want.rows[id].metadata, state)
			}
			before := texts(t, store, "web-access")
			options := webAccess.options(t, store)
			options.BatchSplits = 1
			options.Settle = 1

			clients := make([]*client, 3)
			ctx, stop := context.WithCancel(t.Context())
			var working, workers sync.WaitGroup
			for i := range clients {
				c := &client{store: store, uid: index.IndexUID, name: fmt.Sprint(i), like: want.rows[want.published[0]].metadata, rows: map[string]metastore.SplitState{}}
				clients[i] = c
				working.Go(func() {
					for n := 0; n < 200 && (n == 0 || ctx.Err() == nil); n++ {
						if err := c.work(t.Context(), n); err != nil {
							t.Errorf("a client's call: %v", err)
							return
						}
					}
				})
			}
			for range 4 {
				workers.Go(func() {
					if _, err := Run(t.Context(), options); err != nil {
						t.Errorf("a worker: %v", err)
					}
				})
			}
			workers.Wait()
			stop()
			working.Wait()

			after, rows := texts(t, store, "web-access"), allRows(t, store, "web-access")
			for id := range foreign {
				require.Equal(t, before[id], after[id], "a row of others is untouched")
			}
			for _, id := range want.published[3:] {
				require.Equal(t, metastore.Published, rows[id].state)
			}
			total := len(want.published)
			for _, c := range clients {
				total += len(c.rows)
				for id, state := range c.rows {
					require.Equal(t, state, rows[id].state, id)
				}
			}
			require.Len(t, rows, total)
		})
	}
}

// putRow writes a row in a state, as others would.
func putRow(t *testing.T, store metastore.Store, uid metastore.IndexUID, m metastore.SplitMetadata, state metastore.SplitState) {
	t.Helper()
	_, err := store.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: []metastore.SplitMetadata{m}})
	require.NoError(t, err)
	if state == metastore.Published {
		require.NoError(t, store.PublishSplits(t.Context(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{m.SplitID}}))
	}
	if state == metastore.MarkedForDeletion {
		require.NoError(t, store.MarkSplitsForDeletion(t.Context(), uid, []string{m.SplitID}))
	}
}

// TestARowThatAppearsBehindThePlanIsLeftAlone is about uploads that were slow: their row appears
// after the rows were listed.
func TestARowThatAppearsBehindThePlanIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, state := range []metastore.SplitState{metastore.Staged, metastore.Published, metastore.MarkedForDeletion} {
		inner := memoryStore(t)
		store := &counted{Store: inner}
		want := webAccess.read(t)
		id := want.published[0]
		var before string
		store.around = func(n int, call func() error) error {
			if n == 3 { // the first staging, behind all checks
				uid := indexUID(t, inner, "web-access")
				putRow(t, inner, uid, want.rows[id].metadata, state)
				before = texts(t, inner, "web-access")[id]
			}
			return call()
		}
		options := webAccess.options(t, store)
		options.Settle = 1

		s := only(t, run(t, options))

		require.Equal(t, before, texts(t, inner, "web-access")[id])
		require.EqualValues(t, 5, s.Published)
		require.EqualValues(t, 1, s.Skipped)
		require.Equal(t, state == metastore.Staged, s.NeedsPerson > 0, "%v", s.Findings)
	}
}

func TestLiveModeWritesNothingUnlessAFileHadNoRowForLong(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	uid := webAccess.restore(t, store)
	want := webAccess.read(t)
	lost := want.published[0]
	require.NoError(t, store.MarkSplitsForDeletion(t.Context(), uid, []string{lost}))
	require.NoError(t, store.DeleteSplits(t.Context(), uid, []string{lost}))
	options := webAccess.options(t, store)
	options.Journal = filepath.Join(t.TempDir(), "journal")
	options.Lineage = lineage.Options{Live: true, LiveRecover: true, GCHealthy: true, Horizon: time.Second, ClockSkew: time.Second, ReferenceTime: time.Now().Add(24 * time.Hour).Unix()}
	changes := store.changes

	first := only(t, run(t, options))
	require.Equal(t, changes, store.changes)
	require.EqualValues(t, 1, first.Decisions["wait"], "%v", first.Decisions)

	options.Lineage.MarkedHorizon = 1 // what was seen a moment ago was seen long ago
	second := only(t, run(t, options))
	require.EqualValues(t, 1, second.Published, "%v", second.Decisions)
	require.Equal(t, metastore.Published, allRows(t, store, "web-access")[lost].state)
	require.False(t, allRows(t, store, "web-access")[lost].metadata.Maturity.Immature)
}

func TestAPublishedRowWithoutItsFileIsReportedAndLeftAlone(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	webAccess.restore(t, store)
	options := webAccess.options(t, store)
	gone := webAccess.read(t).published[0]
	require.NoError(t, os.Remove(filepath.Join(options.Root, "web-access", gone+".split")))
	before, changes := texts(t, store, "web-access"), store.changes

	s := only(t, run(t, options))

	require.Equal(t, changes, store.changes)
	require.Equal(t, before, texts(t, store, "web-access"))
	require.Contains(t, codes(s), string(lineage.FindingPublishedWithoutObject))
	require.Positive(t, s.NeedsPerson)
}

func TestADirectoryThatTwoIndexesShareIsNotWrittenFor(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	for _, id := range []string{"web-access", "copy"} {
		config := *webAccess.config(t)
		config.IndexID, config.IndexURI = id, "file://"+filepath.Join(options.Root, "web-access")
		_, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: &config})
		require.NoError(t, err)
	}
	options.IndexIDs = []string{"web-access"}
	changes := store.changes

	s := only(t, run(t, options))

	require.Equal(t, changes, store.changes)
	require.Contains(t, codes(s), CodeSharedLocation)
	require.Positive(t, s.NeedsPerson)
}

func TestFilesOfADeletedIncarnationDoNotComeBackIntoAnIndexThatWasInUse(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	index, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: webAccess.config(t)})
	require.NoError(t, err)
	used := mature(webAccess.read(t).rows[webAccess.read(t).published[0]].metadata)
	used.SplitID = "01M8P1J7E98JP8BEK9KRMR0000" // its file is lost
	putRow(t, store, index.IndexUID, used, metastore.Published)
	changes := store.changes

	s := only(t, run(t, webAccess.options(t, store)))

	require.Equal(t, changes, store.changes)
	require.EqualValues(t, 21, s.Decisions["foreign-incarnation"])
	require.Contains(t, codes(s), string(lineage.FindingOtherIncarnations))
	require.GreaterOrEqual(t, s.NeedsPerson, int64(2), "%v", s.Findings)

	options := webAccess.options(t, store)
	options.Lineage.Aliases = []metastore.IndexUID{webAccess.read(t).uid}
	require.EqualValues(t, 6, only(t, run(t, options)).Published, "unless a person says that they belong to it")
}
