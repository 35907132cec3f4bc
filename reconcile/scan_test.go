package reconcile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile"
)

// entriesBesideSplits is a bucket with everything that may lie around the directory "logs".
var entriesBesideSplits = []string{
	"logs/a.split", "logs/b c+d%20.split",
	"logs/", "logs/metastore.json", "logs/.tmp123", "logs/.tmp9.split", "logs/m.parquet", "logs/.split", "logs/x.split.temp",
	"logs/nested/n.split", "logs-old/o.split", "logs2/p.split", "logs.split", "manifest.json",
}

func TestOnlySplitFilesDirectlyInTheDirectoryAreListed(t *testing.T) {
	t.Parallel()
	blobs := memblob.OpenBucket(nil)
	root := t.TempDir()
	for _, key := range entriesBesideSplits {
		require.NoError(t, blobs.WriteAll(t.Context(), key, []byte(key), nil))
		if !strings.HasSuffix(key, "/") {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, key)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, key), []byte(key), 0o644))
		}
	}
	for name, bucket := range map[string]Bucket{
		"bucket": NewBlobBucket(blobs, "logs"), "directory": localBucket{dir: filepath.Join(root, "logs")},
	} {
		found, err := list(t.Context(), bucket, nil)
		require.NoError(t, err, name)
		var names []string
		for _, entry := range found.splits {
			names = append(names, entry.Name)
			require.EqualValues(t, len("logs/"+entry.Name), entry.Size, name)
			require.False(t, entry.Modified.IsZero(), name)
		}
		require.ElementsMatch(t, []string{"a.split", "b c+d%20.split"}, names, name)
		require.Equal(t, map[string]int64{
			"directory": 1, "metastore.json": 1, "temporary file": 2, "parquet split": 1, "other file": 2,
		}, found.others, name)
	}
	require.NoError(t, blobs.Close())
}

// wrapped is a bucket whose answers a test changes.
type wrapped struct {
	Bucket
	list func(ctx context.Context, visit func(Entry) error) error
	open func(ctx context.Context, name string) (splitfile.RangeReader, func() error, error)
	stat func(ctx context.Context, name string) (Entry, error)
}

func (w *wrapped) List(ctx context.Context, visit func(Entry) error) error {
	if w.list != nil {
		return w.list(ctx, visit)
	}
	return w.Bucket.List(ctx, visit)
}

func (w *wrapped) Open(ctx context.Context, name string) (splitfile.RangeReader, func() error, error) {
	if w.open != nil {
		return w.open(ctx, name)
	}
	return w.Bucket.Open(ctx, name)
}

func (w *wrapped) Stat(ctx context.Context, name string) (Entry, error) {
	if w.stat != nil {
		return w.stat(ctx, name)
	}
	return w.Bucket.Stat(ctx, name)
}

// wrap makes the options open buckets that change has changed.
func wrap(options *Options, change func(w *wrapped)) {
	options.OpenBucket = func(ctx context.Context, at Location) (Bucket, error) {
		bucket, err := at.Open(ctx)
		if err != nil {
			return nil, err
		}
		w := &wrapped{Bucket: bucket}
		change(w)
		return w, nil
	}
}

func TestAListingThatFailsHalfwayFailsTheRunAndWritesNothing(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	broken := errors.New("the second page is lost")
	wrap(&options, func(w *wrapped) {
		w.list = func(ctx context.Context, visit func(Entry) error) error {
			n := 0
			return w.Bucket.List(ctx, func(entry Entry) error {
				if n++; n > 10 {
					return broken
				}
				return visit(entry)
			})
		}
	})

	_, err := Run(t.Context(), options)

	require.ErrorIs(t, err, broken)
	require.Zero(t, store.changes)
}

func TestAFileThatCannotBeReadIsADecisionAndNeverAbsent(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	want := webAccess.read(t)
	unreadable := want.published[0]
	wrap(&options, func(w *wrapped) {
		w.open = func(ctx context.Context, name string) (splitfile.RangeReader, func() error, error) {
			if name == unreadable+".split" {
				return nil, nil, errors.New("access denied")
			}
			return w.Bucket.Open(ctx, name)
		}
	})
	var report bytes.Buffer
	options.Report = &report

	s := only(t, run(t, options))

	require.EqualValues(t, 1, s.Decisions[lineage.UnreadableObject.String()])
	require.Equal(t, s.Objects, int64(len(want.objects)))
	require.Positive(t, s.NeedsPerson)
	require.NotContains(t, allRows(t, store, "web-access"), unreadable)
	for _, record := range records(t, &report) {
		if record.ObjectRecord != nil && record.SplitID == unreadable {
			require.Contains(t, record.Detail, "access denied")
			require.Nil(t, record.RowAfter)
		}
	}
}

func TestAnObjectThatChangedOrWentSinceTheScanIsNotStaged(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	published := webAccess.read(t).published
	wrap(&options, func(w *wrapped) {
		w.stat = func(ctx context.Context, name string) (Entry, error) {
			entry, err := w.Bucket.Stat(ctx, name)
			switch name {
			case published[0] + ".split":
				return Entry{}, fs.ErrNotExist
			case published[1] + ".split":
				entry.Size++
			case published[2] + ".split":
				return Entry{}, errors.New("the storage is away")
			}
			return entry, err
		}
	})

	s := only(t, run(t, options))

	require.EqualValues(t, 3, s.Failed)
	require.EqualValues(t, 3, s.Published)
	require.Contains(t, codes(s), CodeFailed)
	rows := allRows(t, store, "web-access")
	require.Equal(t, published[3:], idsIn(rows, metastore.Published))
	require.Len(t, rows, 3)
}

// countOpens counts the files that are opened.
func countOpens(options *Options) *atomic.Int64 {
	var opened atomic.Int64
	wrap(options, func(w *wrapped) {
		w.open = func(ctx context.Context, name string) (splitfile.RangeReader, func() error, error) {
			opened.Add(1)
			return w.Bucket.Open(ctx, name)
		}
	})
	return &opened
}

func TestTheJournalSparesTheReadsOfUnchangedObjects(t *testing.T) {
	t.Parallel()
	store := memoryStore(t)
	options := webAccess.options(t, store)
	options.Journal = filepath.Join(t.TempDir(), "journal")
	opened := countOpens(&options)
	first, err := Plan(t.Context(), options)
	require.NoError(t, err)
	require.EqualValues(t, 21, opened.Load())

	second, err := Plan(t.Context(), options)
	require.NoError(t, err)
	require.EqualValues(t, 21, opened.Load())
	require.EqualValues(t, 21, only(t, second).Reads.Journaled)
	require.Equal(t, only(t, first).Decisions, only(t, second).Decisions)

	// One object is written again: only that one is read again.
	path := filepath.Join(options.Root, "web-access", webAccess.read(t).objects[0]+".split")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(content, 0), 0o644))
	third, err := Plan(t.Context(), options)
	require.NoError(t, err)
	require.EqualValues(t, 22, opened.Load())
	require.EqualValues(t, 1, only(t, third).Decisions[lineage.UnreadableObject.String()])

	// The journal is enough to write rows from.
	require.NoError(t, os.WriteFile(path, content, 0o644))
	run(t, options)
	requireRebuilt(t, webAccess, store)
}

func TestALineOfTheJournalThatIsTornOrWrongSpoilsNoOther(t *testing.T) {
	t.Parallel()
	options := webAccess.options(t, memoryStore(t))
	options.Journal = filepath.Join(t.TempDir(), "journal")
	_, err := Plan(t.Context(), options)
	require.NoError(t, err)
	text, err := os.ReadFile(options.Journal)
	require.NoError(t, err)
	torn := bytes.TrimSpace(text)
	torn = append([]byte("{\"object\":{\"location\":7}}\n"), torn[:len(torn)-20]...)
	require.NoError(t, os.WriteFile(options.Journal, torn, 0o600))
	opened := countOpens(&options)

	_, err = Plan(t.Context(), options)
	require.NoError(t, err)
	require.EqualValues(t, 1, opened.Load(), "the object of the torn line")
	_, err = Plan(t.Context(), options)
	require.NoError(t, err)
	require.EqualValues(t, 1, opened.Load(), "what was appended behind the torn line counts")
}

func TestAFileThatIsNoJournalIsRefused(t *testing.T) {
	t.Parallel()
	options := webAccess.options(t, memoryStore(t))
	options.Journal = filepath.Join(t.TempDir(), "letter.txt")
	require.NoError(t, os.WriteFile(options.Journal, []byte("dear diary\n"), 0o600))

	_, err := Plan(t.Context(), options)

	require.ErrorContains(t, err, "no line of a journal")
	text, err := os.ReadFile(options.Journal)
	require.NoError(t, err)
	require.Equal(t, "dear diary\n", string(text))
}

func TestAnEmptyDirectoryIsNotBelievedWhenRowsArePublished(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	webAccess.restore(t, store)
	options := audit.options(t, store) // its root has no directory of web-access
	options.IndexConfigs = nil
	changes := store.changes

	summary := run(t, options)

	require.Equal(t, changes, store.changes)
	require.Equal(t, "web-access", summary.Indexes[1].IndexID)
	require.Contains(t, codes(summary.Indexes[1]), CodeEmptyListing)
}

func TestARootThatIsNotThereFailsTheRun(t *testing.T) {
	t.Parallel()
	options := webAccess.options(t, memoryStore(t))
	options.Root = filepath.Join(options.Root, "nowhere")

	_, err := Run(t.Context(), options)

	require.ErrorIs(t, err, fs.ErrNotExist)
}
