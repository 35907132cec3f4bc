package reconcile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile"
)

// requireLegacyRebuilt fails unless the published rows are those of the truth, with what a file without a
// recovery entry tells of them, and no other row exists.
func requireLegacyRebuilt(t *testing.T, f fixture, store metastore.Store) {
	t.Helper()
	want, got := f.read(t), allRows(t, store, f.index)
	require.Equal(t, want.published, idsIn(got, metastore.Published))
	require.Len(t, got, len(want.published))
	for _, id := range want.published {
		w, g := want.rows[id].metadata, got[id].metadata
		require.Equal(t, w.NumDocs, g.NumDocs)
		require.Equal(t, w.TimeRange, g.TimeRange)
		require.ElementsMatch(t, w.Tags, g.Tags)
		require.Equal(t, w.PartitionID, g.PartitionID)
		require.Equal(t, w.FooterStart, g.FooterStart)
		require.Equal(t, w.FooterEnd, g.FooterEnd)
		require.Equal(t, metastore.Maturity{}, g.Maturity)
		require.Equal(t, "unknown", g.SourceID)
		require.Equal(t, "unknown", g.NodeID)
		require.Equal(t, indexUID(t, store, f.index), g.IndexUID)
	}
}

// withoutEntries hides the recovery entries of the files below root: they look as release 0.9 wrote them.
func withoutEntries(t *testing.T, root string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*", "*.split"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		hidden := bytes.ReplaceAll(content, []byte("split_recovery_metadata"), []byte("split_recovery_forgotten")[:23])
		require.NotEqual(t, content, hidden)
		require.NoError(t, os.WriteFile(path, hidden, 0o644))
	}
}

func TestLegacyFilesAreRebuiltToThePublishedSet(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			s := only(t, run(t, legacy.options(t, store)))
			requireLegacyRebuilt(t, legacy, store)
			require.Zero(t, s.NeedsPerson, "%v", s.Findings)
			require.Equal(t, map[string]int64{"publish": 4, "superseded": 9}, s.Decisions)
			again := only(t, run(t, legacy.options(t, store)))
			require.Zero(t, again.Published)
			require.Equal(t, int64(4), again.Decisions["already-published"])
		})
	}
}

// TestFilesWhoseEntriesAreForgottenAreRebuiltToThePublishedSet: content alone tells what the entries tell.
func TestFilesWhoseEntriesAreForgottenAreRebuiltToThePublishedSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fixture
		rewrites int // splits that a delete task rewrote
	}{
		"web-access before deletes": {webAccessBefore, 0}, "web-access after deletes": {webAccess, 3},
		"audit before deletes": {auditBefore, 0}, "audit after deletes": {audit, 3}, "trailer": {trailer, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memoryStore(t)
			options := c.options(t, store)
			withoutEntries(t, options.Root)
			s := only(t, run(t, options))
			requireLegacyRebuilt(t, c.fixture, store)
			deleted := 0
			for _, f := range s.Findings {
				if f.Code == "content-deleted" {
					require.NotEmpty(t, f.DecisionID)
					options.Accept = append(options.Accept, f.DecisionID)
					deleted++
				} else {
					require.False(t, f.NeedsPerson, "%+v", f)
				}
			}
			require.GreaterOrEqual(t, deleted, c.rewrites)
			require.Equal(t, c.rewrites > 0, deleted > 0)

			again := only(t, run(t, options))
			require.Zero(t, again.NeedsPerson, "a person took the documents for deleted: %+v", again.Findings)
			require.Zero(t, again.Decisions["legacy-undecided"])
		})
	}
}

// TestEntriesAndContentAgree mixes files with and without entries.
func TestEntriesAndContentAgree(t *testing.T) {
	t.Parallel()
	for _, f := range []fixture{webAccessBefore, auditBefore, trailer} {
		for part := range 3 {
			store := memoryStore(t)
			options := f.options(t, store)
			hidden := t.TempDir()
			for i, id := range f.read(t).objects {
				path := filepath.Join(options.Root, f.index, id+".split")
				if i%3 == part {
					require.NoError(t, os.MkdirAll(filepath.Join(hidden, f.index), 0o755))
					require.NoError(t, os.Rename(path, filepath.Join(hidden, f.index, id+".split")))
				}
			}
			withoutEntries(t, hidden)
			moved, err := filepath.Glob(filepath.Join(hidden, f.index, "*"))
			require.NoError(t, err)
			for _, path := range moved {
				require.NoError(t, os.Rename(path, filepath.Join(options.Root, f.index, filepath.Base(path))))
			}
			run(t, options)
			require.Equal(t, f.read(t).published, idsIn(allRows(t, store, f.index), metastore.Published), "%v, part %d", f, part)
		}
	}
}

func TestEachDecisionAboutALegacyFileNamesItsProof(t *testing.T) {
	t.Parallel()
	options := legacy.options(t, memoryStore(t))
	var report bytes.Buffer
	options.Report = &report
	run(t, options)
	objects := 0
	for _, r := range records(t, &report) {
		if r.ObjectRecord == nil {
			continue
		}
		objects++
		require.NotEmpty(t, r.Proof, r.SplitID)
		switch r.Decision {
		case "publish":
			require.Equal(t, lineage.ReasonContentLive.String(), r.Reason)
		case "superseded":
			require.Equal(t, lineage.ReasonContentHeld.String(), r.Reason)
			require.Len(t, r.Evidence, 1)
		default:
			t.Fatalf("%s is %s", r.SplitID, r.Decision)
		}
	}
	require.Len(t, legacy.read(t).objects, objects)
}

// TestRowsOfAnOlderBackupAreReplacedByLegacyFiles: content tells which rows a publication replaces.
func TestRowsOfAnOlderBackupAreReplacedByLegacyFiles(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	uid := legacy.restore(t, store)
	truth := legacy.read(t)
	// The backup knows the splits of indexers only, all published.
	rows := allRows(t, store, legacy.index)
	var all []string
	for id := range rows {
		all = append(all, id)
	}
	require.NoError(t, store.MarkSplitsForDeletion(t.Context(), uid, all))
	require.NoError(t, store.DeleteSplits(t.Context(), uid, all))
	request := metastore.StageSplitsRequest{IndexUID: uid}
	var published []string
	for id, r := range rows {
		if r.metadata.NumMergeOps == 0 {
			request.Splits = append(request.Splits, r.metadata.WithIndexUID(uid))
			published = append(published, id)
		}
	}
	_, err := store.StageSplits(t.Context(), request)
	require.NoError(t, err)
	require.NoError(t, store.PublishSplits(t.Context(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: published}))

	run(t, legacy.options(t, store))

	got := allRows(t, store, legacy.index)
	require.Equal(t, truth.published, idsIn(got, metastore.Published))
	require.Len(t, idsIn(got, metastore.MarkedForDeletion), len(published)-len(slices.DeleteFunc(slices.Clone(truth.published), func(id string) bool { return !slices.Contains(published, id) })))
}

// TestTheRowOfAFileWithoutTimesHoldsTheWidestRange: one without a range would count as 1970.
func TestTheRowOfAFileWithoutTimesHoldsTheWidestRange(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := audit.options(t, store)
	withoutEntries(t, options.Root)
	config := *audit.config(t)
	name := "elsewhere"
	config.DocMapping.TimestampField = &name
	options.IndexConfigs[0] = &config
	s := only(t, run(t, options))
	require.Contains(t, codes(s), CodeWideRange)
	for _, r := range allRows(t, store, audit.index) {
		require.Equal(t, metastore.Some(evidence.WideRange), r.metadata.TimeRange)
	}
}

func TestALegacyFileThatIsMalformedIsUnreadable(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := legacy.options(t, store)
	id := legacy.read(t).published[0]
	path := filepath.Join(options.Root, legacy.index, id+".split")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content = bytes.ReplaceAll(content, []byte(`"index_format_version":7`), []byte(`"index_format_version":9`))
	require.NoError(t, os.WriteFile(path, content, 0o644))
	var report bytes.Buffer
	options.Report = &report
	s := only(t, run(t, options))
	require.Equal(t, int64(1), s.Decisions["unreadable"])
	for _, r := range records(t, &report) {
		if r.ObjectRecord != nil && r.SplitID == id {
			require.Contains(t, r.Detail, "index_format_version 9")
		}
	}
	require.NotContains(t, allRows(t, store, legacy.index), id)
}

// watched counts the bytes that are read of a bucket, and stops the run at one of the reads.
type watched struct {
	Bucket
	bytes, reads atomic.Int64
	stopAt       int64
	stop         context.CancelFunc
}

func (w *watched) Open(ctx context.Context, name string) (splitfile.RangeReader, func() error, error) {
	reader, done, err := w.Bucket.Open(ctx, name)
	return watchedReader{reader, w}, done, err
}

type watchedReader struct {
	splitfile.RangeReader
	w *watched
}

func (r watchedReader) ReadRange(ctx context.Context, offset, length int64) (splitfile.Range, error) {
	if r.w.reads.Add(1) == r.w.stopAt {
		r.w.stop()
		return splitfile.Range{}, context.Canceled
	}
	answer, err := r.RangeReader.ReadRange(ctx, offset, length)
	r.w.bytes.Add(int64(len(answer.Data)))
	return answer, err
}

// watch makes the options read through the bucket that it returns when the run has begun.
func watch(options *Options, stopAt int64, stop context.CancelFunc) *watched {
	w := &watched{stopAt: stopAt, stop: stop}
	options.OpenBucket = func(ctx context.Context, at Location) (bucket Bucket, err error) {
		w.Bucket, err = at.Open(ctx)
		return w, err
	}
	return w
}

func TestASecondRunReadsNothingAgain(t *testing.T) {
	t.Parallel()
	options := legacy.options(t, memoryStore(t))
	options.Journal = filepath.Join(t.TempDir(), "journal")
	first, err := Plan(t.Context(), options)
	require.NoError(t, err)
	require.Positive(t, only(t, first).Contents.Bytes)
	w := watch(&options, 0, nil)
	second, err := Plan(t.Context(), options)
	require.NoError(t, err)
	require.Zero(t, w.reads.Load())
	require.Equal(t, only(t, first).Decisions, only(t, second).Decisions)
}

// TestARunThatIsStoppedAtAnyReadIsFinishedByTheNext: nothing is staged before all is decided, and what was
// read is not read again.
func TestARunThatIsStoppedAtAnyReadIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	for stopAt := int64(1); ; stopAt += 5 {
		store := memoryStore(t)
		options := legacy.options(t, store)
		options.Journal, options.Concurrency = filepath.Join(t.TempDir(), "journal"), 1
		ctx, cancel := context.WithCancel(t.Context())
		w := watch(&options, stopAt, cancel)
		_, err := Run(ctx, options)
		cancel()
		if err == nil {
			require.Greater(t, stopAt, int64(20))
			return
		}
		if _, lookErr := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(legacy.index)}); lookErr == nil {
			require.Empty(t, allRows(t, store, legacy.index))
		}
		before := w.reads.Load()
		w.stopAt = 0
		run(t, options)
		requireLegacyRebuilt(t, legacy, store)
		require.LessOrEqual(t, w.reads.Load()-before, int64(60)-stopAt/2, "stopped at %d", stopAt)
	}
}

func TestWithoutTheLimitWhatIsNotReadIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := legacy.options(t, store)
	options.MaxRead = metastore.Some[int64](0)
	var asked []ReadPlan
	options.BeforeReading = func(plan ReadPlan) bool {
		asked = append(asked, plan)
		return false
	}
	s := only(t, run(t, options))
	require.Len(t, asked, 1, "a person is asked once")
	require.True(t, asked[0].Exceeds())
	require.Positive(t, s.Contents.RefusedBytes)
	require.Positive(t, s.Decisions["legacy-undecided"])
	require.Contains(t, codes(s), "content-unchecked")
	published := idsIn(allRows(t, store, legacy.index), metastore.Published)
	require.Subset(t, legacy.read(t).published, published, "nothing is published without proof")

	options.BeforeReading = func(ReadPlan) bool { return true }
	run(t, options)
	require.Equal(t, legacy.read(t).published, idsIn(allRows(t, store, legacy.index), metastore.Published))
}

func TestADecisionIsAcceptedByItsID(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := legacy.options(t, store)
	options.MaxRead = metastore.Some[int64](0)
	var report bytes.Buffer
	options.Report = &report
	_, err := Plan(t.Context(), options)
	require.NoError(t, err)
	var accepted *ObjectRecord
	for _, r := range records(t, &report) {
		if r.ObjectRecord != nil && r.DecisionID != "" {
			require.Equal(t, lineage.ReasonContentNotRead.String(), r.Reason)
			accepted = r.ObjectRecord
		}
	}
	require.NotNil(t, accepted)
	options.Accept = []string{accepted.DecisionID}
	run(t, options)
	require.Contains(t, idsIn(allRows(t, store, legacy.index), metastore.Published), accepted.SplitID)

	options.Accept = []string{"weak-000000000000"}
	_, err = Run(t.Context(), options)
	require.ErrorIs(t, err, ErrUnknownDecision)
	require.ErrorContains(t, err, "weak-000000000000")
}
