package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// The times of the peer's janitor.
const (
	stagedGrace   = 24 * time.Hour
	deletionGrace = 32 * time.Minute
)

// cluster is a metastore and a directory of files under a clock that a test advances.
type cluster struct {
	counted
	dir string

	clockMu sync.Mutex
	ahead   time.Duration
	// at is how far ahead the clock was when the row was last written.
	at     map[string]time.Duration
	staged [][]string // the splits of each call that staged some
}

// newCluster returns a cluster with the store, whose files are those of the options' index, and makes the
// options use it.
func newCluster(t *testing.T, open func(t *testing.T) metastore.Store, f fixture) (*cluster, Options) {
	t.Helper()
	c := &cluster{at: map[string]time.Duration{}}
	c.Store = open(t)
	options := f.options(t, c)
	options.Journal = filepath.Join(t.TempDir(), "journal")
	options.Settle = 1
	options.now = c.now
	c.dir = filepath.Join(options.Root, f.index)
	return c, options
}

func (c *cluster) now() time.Time {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *cluster) advance(by time.Duration) {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	c.ahead += by
}

func (c *cluster) wrote(ids []string) {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	for _, id := range ids {
		c.at[id] = c.ahead
	}
}

func (c *cluster) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	result, err := c.counted.StageSplits(ctx, request)
	if err != nil {
		return result, err
	}
	ids := result.Staged
	if !request.CreateOnly {
		for i := range request.Splits {
			ids = append(ids, request.Splits[i].SplitID)
		}
	}
	c.wrote(ids)
	c.staged = append(c.staged, ids)
	return result, nil
}

func (c *cluster) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	err := c.counted.PublishSplits(ctx, request)
	if err == nil {
		c.wrote(request.StagedSplitIDs)
		c.wrote(request.ReplacedSplitIDs)
	}
	return err
}

// ListSplits lists the rows with the times of the clock. Times in a query are the store's.
func (c *cluster) ListSplits(ctx context.Context, query *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
	return c.counted.ListSplits(ctx, query, func(r *metastore.SplitRow) error {
		split, err := r.Split()
		if err != nil {
			return err
		}
		c.clockMu.Lock()
		split.UpdateTimestamp += int64(c.at[split.Metadata.SplitID] / time.Second)
		c.clockMu.Unlock()
		row := split.Row()
		return visit(&row)
	})
}

// collector is the peer's janitor: its passes list first and change then what they listed.
type collector struct {
	*cluster
	uid     metastore.IndexUID
	deleted []string // the splits whose files it deleted
}

func (g *collector) listed(ctx context.Context, state metastore.SplitState, older time.Duration) ([]string, error) {
	var ids []string
	err := g.ListSplits(ctx, metastore.AllSplits(g.uid), func(r *metastore.SplitRow) error {
		split, err := r.Split()
		if split.State == state && g.now().Sub(time.Unix(split.UpdateTimestamp, 0)) >= older {
			ids = append(ids, split.Metadata.SplitID)
		}
		return err
	})
	return ids, err
}

// mark marks without a look at the states, as the peer does. The counted calls are those of recovery.
func (g *collector) mark(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	g.wrote(ids)
	return g.Store.MarkSplitsForDeletion(ctx, g.uid, ids)
}

func (g *collector) deleteMarked(ctx context.Context) error {
	ids, err := g.listed(ctx, metastore.MarkedForDeletion, deletionGrace)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		switch err := os.Remove(filepath.Join(g.dir, id+".split")); {
		case err == nil:
			g.deleted = append(g.deleted, id)
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	return g.Store.DeleteSplits(ctx, g.uid, ids)
}

// run is one run of both passes.
func (g *collector) run(ctx context.Context) error {
	stale, err := g.listed(ctx, metastore.Staged, stagedGrace)
	if err != nil {
		return err
	}
	return errors.Join(g.mark(ctx, stale), g.deleteMarked(ctx))
}

// collectorFor returns the janitor of a cluster that has the index.
func collectorFor(t *testing.T, c *cluster, f fixture) *collector {
	t.Helper()
	return &collector{cluster: c, uid: indexUID(t, c, f.index)}
}

// requireFiles fails unless every published row has its file.
func (c *cluster) requireFiles(t *testing.T, f fixture) {
	t.Helper()
	for id, r := range allRows(t, c, f.index) {
		if r.state == metastore.Published {
			require.FileExists(t, filepath.Join(c.dir, id+".split"))
		}
	}
}

// bothStores are the kinds of stores, each for one server.
var bothStores = map[string]func(t *testing.T) metastore.Store{"file": memoryStore, "postgres": postgresStore}

// withCollector runs the janitor before and after every call of a recovery that changes something, once the
// cluster has the index.
func (c *cluster) withCollector(t *testing.T, f fixture) *collector {
	t.Helper()
	g := &collector{cluster: c}
	lookUp := func() (bool, error) {
		index, err := c.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(f.index)})
		if errors.Is(err, metastore.ErrNotFound) {
			return false, nil
		}
		if err == nil {
			g.uid = index.IndexUID
		}
		return true, err
	}
	pass := func() error {
		exists, err := lookUp()
		if err != nil || !exists {
			return err
		}
		return g.run(t.Context())
	}
	c.around = func(_ int, call func() error) error {
		return errors.Join(pass(), call(), pass())
	}
	require.NoError(t, pass())
	return g
}

// collectForDays lets the janitor work after a recovery.
func (g *collector) collectForDays(t *testing.T) {
	t.Helper()
	for range 4 {
		g.advance(13 * time.Hour)
		require.NoError(t, g.run(t.Context()))
	}
}

// TestACollectorTakesNothingFromARecoveryThatIsKilled kills the worker at every call, lets it lie for a
// time, and runs the janitor around every call of the next run, and for days behind it.
func TestACollectorTakesNothingFromARecoveryThatIsKilled(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		for _, lies := range []time.Duration{time.Minute, 13 * time.Hour, 23*time.Hour + 30*time.Minute} {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s after %s, done %v", name, lies, done), func(t *testing.T) {
					t.Parallel()
					for n := 1; ; n++ {
						c, options := newCluster(t, open, webAccess)
						options.BatchSplits = 3
						c.around = killAt(n, done)
						_, _ = Run(t.Context(), options) // it is killed
						calls := c.changes
						c.advance(lies)
						g := c.withCollector(t, webAccess)

						s := only(t, run(t, options))

						g.collectForDays(t)
						require.Empty(t, g.deleted, "killed at call %d", n)
						requireRebuilt(t, webAccess, c)
						c.requireFiles(t, webAccess)
						require.Zero(t, s.NeedsPerson, "killed at call %d: %v", n, s.Findings)
						if calls < n {
							require.Greater(t, n, 5, "the index and two batches of two calls")
							break
						}
					}
				})
			}
		}
	}
}

func TestACollectorTakesWhatABackupsUpdateReplacesAndNothingComesBack(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := webAccess.read(t)
			var replaced []string
			for _, id := range webAccessBefore.read(t).published {
				if want.rows[id].state == metastore.MarkedForDeletion {
					replaced = append(replaced, id)
				}
			}
			require.NotEmpty(t, replaced)
			c, options := newCluster(t, open, webAccess)
			options.BatchSplits = 1
			webAccessBefore.restore(t, c)
			g := c.withCollector(t, webAccess)
			// Rows of the backup that had been marked are deleted with their files; that is not the recovery's doing.
			g.deleted = nil

			run(t, options)
			g.collectForDays(t)

			require.Subset(t, g.deleted, replaced)
			require.Empty(t, intersection(g.deleted, want.published))
			for range 2 {
				run(t, options)
				g.collectForDays(t)
				rows := allRows(t, c, "web-access")
				require.Equal(t, want.published, idsIn(rows, metastore.Published))
				require.Len(t, rows, len(want.published), "nothing came back")
				c.requireFiles(t, webAccess)
			}
		})
	}
}

func intersection(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(id string) bool { return !slices.Contains(b, id) })
}

// stranded makes a cluster in which a run staged all and published nothing.
func stranded(t *testing.T, open func(t *testing.T) metastore.Store) (*cluster, Options) {
	t.Helper()
	c, options := newCluster(t, open, webAccess)
	c.around = killAt(4, false) // the index is created, the counter raised, all is staged
	_, err := Run(t.Context(), options)
	require.Error(t, err)
	require.Len(t, idsIn(allRows(t, c, "web-access"), metastore.Staged), 6)
	c.around, c.changes, c.staged = nil, 0, nil
	return c, options
}

func TestOldLeftoversOfAnEarlierRunAreStagedAgainBeforeTheyArePublished(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		for _, test := range []struct {
			lies time.Duration
			want int // calls that stage
		}{{11 * time.Hour, 0}, {13 * time.Hour, 1}, {30 * time.Hour, 1}} {
			t.Run(fmt.Sprintf("%s after %s", name, test.lies), func(t *testing.T) {
				t.Parallel()
				c, options := stranded(t, open)
				before := allRows(t, c, "web-access")
				c.advance(test.lies)
				c.around = func(n int, call func() error) error {
					if n == test.want+1 { // the publication
						for id, r := range allRows(t, c, "web-access") {
							age := c.now().Sub(time.Unix(r.updated, 0))
							require.Equal(t, test.want == 0, age > time.Hour, "%s is %s old when it is published", id, age)
							b := before[id]
							require.True(t, sameSplit(&r.metadata, &b.metadata))
							require.Equal(t, b.metadata.Maturity, r.metadata.Maturity)
						}
					}
					return call()
				}

				s := only(t, run(t, options))

				require.Equal(t, test.want+1, c.changes)
				require.Len(t, c.staged, test.want)
				requireRebuilt(t, webAccess, c)
				require.Zero(t, s.NeedsPerson, "%v", s.Findings)
			})
		}
	}
}

func TestOldStagedRowsOfOthersAreNeverStagedAgain(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, options := stranded(t, open)
			options.Journal = filepath.Join(t.TempDir(), "another journal") // so nobody knows whose they are
			c.advance(20 * time.Hour)
			before := texts(t, c, "web-access")

			s := only(t, run(t, options))

			require.Zero(t, c.changes)
			require.Equal(t, before, texts(t, c, "web-access"))
			require.Contains(t, codes(s), string(lineage.FindingStagedBySomeone))

			options.Lineage.AdoptStaged = true
			run(t, options)
			require.Empty(t, c.staged, "they are published as they are")
			requireRebuilt(t, webAccess, c)
		})
	}
}

// TestARefreshThatMeetsOthersTouchesOnlyWhatIsStillStaged: another worker publishes a row, and one is
// marked, between the look at the rows and the staging.
func TestARefreshThatMeetsOthersTouchesOnlyWhatIsStillStaged(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, options := stranded(t, open)
			want := webAccess.read(t)
			uid := indexUID(t, c, "web-access")
			c.advance(13 * time.Hour)
			var rows map[string]string
			c.around = func(n int, call func() error) error {
				if n == 1 {
					require.NoError(t, c.Store.PublishSplits(t.Context(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: want.published[:1]}))
					require.NoError(t, c.Store.MarkSplitsForDeletion(t.Context(), uid, want.published[1:2]))
					rows = texts(t, c, "web-access")
				}
				return call()
			}

			s := only(t, run(t, options))

			after := texts(t, c, "web-access")
			for _, id := range want.published[:2] {
				require.Equal(t, rows[id], after[id])
			}
			require.EqualValues(t, 4, s.Published)
			require.Contains(t, codes(s), CodeMarkedUnpublished)
			require.Positive(t, s.NeedsPerson)
		})
	}
}

// TestLeftoversThatACollectorHasChosenAreSaved: it listed them before they were refreshed, and marks them
// in the middle of the run. Nothing makes a marked row live again, so a person is told in time.
func TestLeftoversThatACollectorHasChosenAreSaved(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		for _, moment := range []string{"before the run", "after the rows are refreshed"} {
			t.Run(name+" "+moment, func(t *testing.T) {
				t.Parallel()
				c, options := stranded(t, open)
				want := webAccess.read(t)
				c.advance(25 * time.Hour)
				g := collectorFor(t, c, webAccess)
				chosen, err := g.listed(t.Context(), metastore.Staged, stagedGrace)
				require.NoError(t, err)
				require.ElementsMatch(t, want.published, chosen)
				chosen = chosen[:2] // it is stopped soon
				if moment == "before the run" {
					require.NoError(t, g.mark(t.Context(), chosen))
				} else {
					c.around = func(n int, call func() error) error {
						err := call()
						if n == 1 {
							err = errors.Join(err, g.mark(t.Context(), chosen))
						}
						return err
					}
				}

				s := only(t, run(t, options))

				c.around = nil
				rows := allRows(t, c, "web-access")
				require.ElementsMatch(t, chosen, idsIn(rows, metastore.MarkedForDeletion))
				// What was marked before the run is no part of the plan: what it replaced is published instead.
				require.Subset(t, append(idsIn(rows, metastore.Published), chosen...), want.published)
				require.Positive(t, s.NeedsPerson)
				found := s.Findings[slices.Index(codes(s), CodeMarkedUnpublished)]
				require.ElementsMatch(t, chosen, found.IDs)
				require.Contains(t, found.Next, "metastore split delete --index web-access 01")

				planned, err := Plan(t.Context(), options)
				require.NoError(t, err)
				require.Contains(t, codes(only(t, planned)), CodeMarkedUnpublished, "until it is dealt with")

				require.NoError(t, c.DeleteSplits(t.Context(), g.uid, found.IDs)) // what is to be typed next
				s = only(t, run(t, options))
				require.Zero(t, s.NeedsPerson, "%v", s.Findings)
				requireRebuilt(t, webAccess, c)
				g.collectForDays(t)
				c.requireFiles(t, webAccess)
				require.Empty(t, intersection(g.deleted, want.published))
			})
		}
	}
}

func TestLeftoversThatACollectorHasTakenAreReportedAndComeBackWithTheirFiles(t *testing.T) {
	t.Parallel()
	for name, open := range bothStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, options := stranded(t, open)
			want := webAccess.read(t)
			g := collectorFor(t, c, webAccess)
			g.collectForDays(t)
			require.ElementsMatch(t, want.published, g.deleted)

			planned, err := Plan(t.Context(), options)
			require.NoError(t, err)
			s := only(t, planned)
			at := slices.Index(codes(s), CodeStagedAndLost)
			require.GreaterOrEqual(t, at, 0, "%v", s.Findings)
			require.Equal(t, want.published, s.Findings[at].IDs)
			require.Contains(t, s.Findings[at].Next, "metastore reconcile plan --index web-access")

			webAccess.copyTo(t, options.Root)
			s = only(t, run(t, options))
			require.Zero(t, s.NeedsPerson, "%v", s.Findings)
			requireRebuilt(t, webAccess, c)
		})
	}
}

// TestSplitsThatAMergeReplacedAreNotTakenForLost: their files go as well.
func TestSplitsThatAMergeReplacedAreNotTakenForLost(t *testing.T) {
	t.Parallel()
	for name, publish := range map[string]func(t *testing.T) (*cluster, Options){
		"this run published them": func(t *testing.T) (*cluster, Options) {
			c, options := newCluster(t, memoryStore, webAccess)
			run(t, options)
			return c, options
		},
		"another worker published them": func(t *testing.T) (*cluster, Options) {
			c, options := stranded(t, memoryStore)
			require.NoError(t, c.Store.PublishSplits(t.Context(), metastore.PublishSplitsRequest{
				IndexUID: indexUID(t, c, "web-access"), StagedSplitIDs: webAccess.read(t).published,
			}))
			_, err := Plan(t.Context(), options) // it sees the rows
			require.NoError(t, err)
			return c, options
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, options := publish(t)
			g := collectorFor(t, c, webAccess)
			merged := webAccess.read(t).published[:2]
			require.NoError(t, g.mark(t.Context(), merged))
			g.collectForDays(t)
			require.Equal(t, merged, g.deleted)

			s := only(t, run(t, options))

			require.NotContains(t, codes(s), CodeStagedAndLost)
		})
	}
}
