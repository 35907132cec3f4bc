package reconcile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// TestAFileThatGoesAwayWhileItsRowIsPublishedIsReported deletes or replaces the file between the staging
// and the publication, behind the last look at it.
func TestAFileThatGoesAwayWhileItsRowIsPublishedIsReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code, next string
		change           func(path string) error
	}{
		{"it is deleted", string(lineage.FindingPublishedWithoutObject), "metastore split mark-for-deletion --index web-access ", os.Remove},
		{"it is replaced", CodeSizeMismatch, "metastore split inspect file://", func(path string) error { return os.WriteFile(path, []byte("something else"), 0o644) }},
	} {
		for name, open := range bothStores {
			t.Run(test.name+" "+name, func(t *testing.T) {
				t.Parallel()
				store := &counted{Store: open(t)}
				options := webAccess.options(t, store)
				gone := webAccess.read(t).published[2]
				store.around = func(n int, call func() error) error {
					if n == 3 {
						require.NoError(t, test.change(filepath.Join(options.Root, "web-access", gone+".split")))
					}
					return call()
				}
				var report bytes.Buffer
				options.Report = &report

				s := only(t, run(t, options))

				require.Positive(t, s.NeedsPerson)
				at := slices.Index(codes(s), test.code)
				require.GreaterOrEqual(t, at, 0, "%v", s.Findings)
				require.Equal(t, []string{gone}, s.Findings[at].IDs)
				require.Contains(t, s.Findings[at].Next, test.next)
				require.Contains(t, s.Findings[at].Next, gone)
				for _, record := range records(t, &report) {
					if record.ObjectRecord != nil && record.SplitID == gone {
						require.Contains(t, record.Detail, "since it was listed")
						require.Equal(t, "Published", *record.RowAfter)
					}
				}
				if test.code != CodeSizeMismatch {
					again, err := Plan(t.Context(), options)
					require.NoError(t, err)
					require.Contains(t, codes(only(t, again)), test.code, "and by every later plan")
				}
			})
		}
	}
}

func TestAFileThatCannotBeLookedUpAfterItsRowIsPublishedIsReported(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	id := webAccess.read(t).published[0]
	wrap(&options, func(w *wrapped) {
		looks := 0
		w.stat = func(ctx context.Context, name string) (Entry, error) {
			if name == id+".split" {
				if looks++; looks > 1 {
					return Entry{}, errors.New("access denied")
				}
			}
			return w.Bucket.Stat(ctx, name)
		}
	})

	s := only(t, run(t, options))

	requireRebuilt(t, webAccess, store)
	at := slices.Index(codes(s), CodeUnverified)
	require.GreaterOrEqual(t, at, 0, "%v", s.Findings)
	require.Equal(t, []string{id}, s.Findings[at].IDs)
	require.Contains(t, s.Findings[at].Next, "metastore reconcile plan --index web-access")
}

// TestAFileThatWasReplacedAndCollectedMeanwhileIsNoFinding: a merge took the split as soon as it was
// published.
func TestAFileThatWasReplacedAndCollectedMeanwhileIsNoFinding(t *testing.T) {
	t.Parallel()
	store := &counted{Store: memoryStore(t)}
	options := webAccess.options(t, store)
	merged := webAccess.read(t).published[0]
	store.around = func(n int, call func() error) error {
		err := call()
		if n == 4 { // the publication
			uid := indexUID(t, store, "web-access")
			err = errors.Join(err, store.Store.MarkSplitsForDeletion(t.Context(), uid, []string{merged}),
				store.Store.DeleteSplits(t.Context(), uid, []string{merged}),
				os.Remove(filepath.Join(options.Root, "web-access", merged+".split")))
		}
		return err
	}

	s := only(t, run(t, options))

	require.Zero(t, s.NeedsPerson, "%v", s.Findings)
	require.Len(t, idsIn(allRows(t, store, "web-access"), metastore.Published), 5)
}
