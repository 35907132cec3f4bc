package reconcile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// stores are the metastores that recovery has to work on.
var stores = map[string]func(t *testing.T) metastore.Store{
	"file":                  memoryStore,
	"postgres":              postgresStore,
	"file through gRPC":     func(t *testing.T) metastore.Store { return remote(t, memoryStore(t)) },
	"postgres through gRPC": func(t *testing.T) metastore.Store { return remote(t, postgresStore(t)) },
}

func TestAnEmptyMetastoreIsRebuiltToWhatThePeerHadPublished(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		fixtures := []fixture{webAccess, webAccessBefore, audit, auditBefore, trailer}
		if name != "file" {
			fixtures = fixtures[:1]
		}
		for _, f := range fixtures {
			t.Run(name+" "+f.set+" "+f.truth, func(t *testing.T) {
				t.Parallel()
				store := &counted{Store: open(t)}
				options := f.options(t, store)

				planned, err := Plan(t.Context(), options)
				require.NoError(t, err)
				require.Zero(t, store.changes, "a plan changes nothing")
				require.EqualValues(t, len(f.read(t).published), only(t, planned).ToPublish)

				first := only(t, run(t, options))
				requireRebuilt(t, f, store)
				require.True(t, first.Created)
				require.EqualValues(t, len(f.read(t).objects), first.Objects)
				require.EqualValues(t, len(f.read(t).published), first.Staged)
				require.EqualValues(t, len(f.read(t).published), first.Published)
				require.Zero(t, first.NeedsPerson)

				before, changes := texts(t, store, f.index), store.changes
				second := only(t, run(t, options))
				require.Equal(t, changes, store.changes, "the second run writes nothing")
				require.Equal(t, before, texts(t, store, f.index))
				require.Zero(t, second.Staged)
				require.Zero(t, second.Published)
				require.Zero(t, second.NeedsPerson)
				require.EqualValues(t, len(f.read(t).published), second.Skipped)
			})
		}
	}
}

func TestEverySplitIsSkippedWhenTheMetastoreHoldsTheTrueRows(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &counted{Store: open(t)}
			webAccess.restore(t, store)
			before, changes := texts(t, store, webAccess.index), store.changes

			s := only(t, run(t, webAccess.options(t, store)))

			require.Equal(t, changes, store.changes)
			require.Equal(t, before, texts(t, store, webAccess.index))
			require.Equal(t, s.Objects, s.Skipped)
			require.Zero(t, s.NeedsPerson, "%v", s.Findings)
		})
	}
}

func TestAnOlderBackupIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			webAccessBefore.restore(t, store)

			s := only(t, run(t, webAccess.options(t, store)))

			want, got := webAccess.read(t), allRows(t, store, webAccess.index)
			require.Equal(t, want.published, idsIn(got, metastore.Published))
			require.Empty(t, idsIn(got, metastore.Staged))
			require.Positive(t, s.Published)
			for _, id := range webAccessBefore.read(t).published {
				if want.rows[id].state == metastore.MarkedForDeletion {
					require.Equal(t, metastore.MarkedForDeletion, got[id].state, "the rewritten split %s is replaced", id)
				}
			}
		})
	}
}

func TestWithoutTheIndexNothingIsWrittenAndThePersonIsAsked(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	options.IndexConfigs = nil

	s := only(t, run(t, options))

	require.Zero(t, store.changes)
	require.True(t, s.Missing)
	require.Equal(t, webAccess.read(t).uid.String(), s.IndexUID)
	require.Contains(t, codes(s), CodeMissingIndex)
	require.Positive(t, s.NeedsPerson)
	require.EqualValues(t, 6, s.ToPublish)
}

func TestDirectoriesOfUnknownIndexesAreFound(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := audit.options(t, store)
	webAccess.copyTo(t, options.Root)
	require.NoError(t, os.MkdirAll(filepath.Join(options.Root, "nothing"), 0o755))
	options.IndexConfigs = []*indexconfig.IndexConfig{webAccess.config(t)}

	summary := run(t, options)

	require.Len(t, summary.Indexes, 2)
	require.Equal(t, "audit", summary.Indexes[0].IndexID)
	require.True(t, summary.Indexes[0].Missing)
	require.Equal(t, "web-access", summary.Indexes[1].IndexID)
	requireRebuilt(t, webAccess, store)
}

// TestACopyOfADirectoryIsNotPublishedBesideIt: the copy lacks the newest files, so that nothing in it
// replaces older ones.
func TestACopyOfADirectoryIsNotPublishedBesideIt(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	copied := filepath.Join(options.Root, "web-access-copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(options.Root, "web-access"))))
	for _, id := range webAccess.read(t).published {
		require.NoError(t, os.Remove(filepath.Join(copied, id+".split")))
	}

	summary := run(t, options)

	requireRebuilt(t, webAccess, store)
	require.Equal(t, "web-access", summary.Indexes[1].IndexID)
	require.Contains(t, codes(summary.Indexes[1]), CodeNameDiffers)
	require.Zero(t, summary.Indexes[1].Published)
	require.Positive(t, summary.Indexes[1].NeedsPerson)
}

func TestADirectoryOfAnotherNameIsReadWhenAPersonNamesIt(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	renamed := filepath.Join(options.Root, "renamed")
	require.NoError(t, os.Rename(filepath.Join(options.Root, "web-access"), renamed))
	options.IndexURIs = map[string]string{"web-access": renamed}

	only(t, run(t, options))

	requireRebuilt(t, webAccess, store)
}

func TestWithoutARootTheURIOfTheIndexIsRead(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	config := *webAccess.config(t)
	config.IndexURI = "file://" + filepath.Join(options.Root, "web-access")
	_, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: &config})
	require.NoError(t, err)
	options.Root, options.IndexConfigs = "", nil

	s := only(t, run(t, options))

	requireRebuilt(t, webAccess, store)
	require.NotContains(t, codes(s), CodeOtherLocation)
}

func TestAnEmptyMetastoreWithoutARootIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Plan(t.Context(), Options{Store: memoryStore(t)})
	require.ErrorContains(t, err, "name the root")
}

func TestAPlanAndARunWriteTheSameReport(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	_, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: webAccess.config(t)})
	require.NoError(t, err)
	var planned, done bytes.Buffer
	options.Report = &planned
	_, err = Plan(t.Context(), options)
	require.NoError(t, err)
	options.Report = &done
	run(t, options)

	plan, result := records(t, &planned), records(t, &done)

	require.Equal(t, "end", plan[len(plan)-1].Type)
	require.Equal(t, len(plan), len(result))
	objects := 0
	for i := range plan[:len(plan)-1] {
		if plan[i].ObjectRecord != nil && plan[i].Outcome == OutcomePlanned {
			require.Equal(t, OutcomePublished, result[i].Outcome)
			plan[i].Outcome = OutcomePublished
		}
		require.Equal(t, plan[i], result[i], "but for the outcome")
		if plan[i].Type == "object" {
			objects++
		}
	}
	require.Len(t, webAccess.read(t).objects, objects)
}
