package containment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/containment"
)

// documents returns how often each word is in a live split.
func (w *world) documents(r *containment.Result) map[string]int {
	count := map[string]int{}
	for _, id := range strings.Fields(ids(r, containment.Live)) {
		for _, doc := range w.splits[id].Docs() {
			count[string(doc.Raw)]++
		}
	}
	return count
}

func (w *world) requireOnce(r *containment.Result, text string) {
	w.t.Helper()
	count := w.documents(r)
	for _, doc := range words(text) {
		require.Equal(w.t, 1, count[string(doc.Raw)], "live: %s, flags: %s", ids(r, containment.Live), flags(r))
	}
	require.Len(w.t, count, len(words(text)))
}

func TestAMergeThatWasNotPublishedStandsForItsParents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.requireOnce(w.decide(), "a b c d e")
}

func TestTwoMergesThatShareAParent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gone []string
		docs string
		once bool
	}{
		"all there":          {nil, "a b c d e f", true},
		"the shared is gone": {[]string{"P2"}, "a b c d e f", true},
		"two gone":           {[]string{"P1", "P2"}, "a b c d e f", true},
		"all parents gone":   {[]string{"P1", "P2", "P3"}, "a b c d e f", false},
	} {
		w := newWorld(t)
		w.index("P1", "a b")
		w.index("P2", "c d")
		w.index("P3", "e f")
		w.merge("C1", "P1", "P2")
		w.merge("C2", "P2", "P3")
		w.gone(c.gone...)
		r := w.decide()
		if c.once {
			w.requireOnce(r, c.docs)
			continue
		}
		require.Len(t, w.documents(r), 6, name)
		require.Equal(t, "overlap C1 C2 2; overlap C2 C1 2", flags(r))
	}
}

func TestOfTwoMergesOfTheSameParentsOneIsLive(t *testing.T) {
	t.Parallel()
	for _, gone := range [][]string{nil, {"P1"}, {"P1", "P2"}} {
		w := newWorld(t)
		w.index("P1", "a b")
		w.index("P2", "c d")
		w.merge("C1", "P1", "P2")
		w.merge("C2", "P1", "P2")
		w.gone(gone...)
		r := w.decide()
		w.requireOnce(r, "a b c d")
		require.Len(t, strings.Fields(ids(r, containment.Live)), 1)
	}
}

func TestAnOldMergeWhoseDocumentsAreInOthersIsAnOrphan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b")
	w.index("P2", "c d")
	w.index("Q1", "e f")
	w.index("Q2", "g h")
	w.merge("C", "P1", "P2")
	w.merge("D1", "P1", "Q1")
	w.merge("D2", "P2", "Q2")
	w.gone("P1", "P2", "Q1", "Q2")
	r := w.decide()
	require.Equal(t, "D1 D2", ids(r, containment.Live))
	require.Equal(t, containment.Verdict{ID: "C", Kind: containment.Orphan, By: []string{"D1", "D2"}, Proof: containment.ByDocuments}, verdict(t, r, "C"))
	require.Equal(t, "piecemeal C D1 D2 0", flags(r))
	w.requireOnce(r, "a b c d e f g h")
}

func TestARewriteThatOthersHoldPiecemealNamesWhatMayBeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e f")
	w.merge("M", "P1", "P2")
	w.rewrite("R", "M", "b f")
	w.gone("M")
	r := w.decide()
	require.Equal(t, "P1 P2", ids(r, containment.Live))
	require.Equal(t, "piecemeal R P1 P2 2", flags(r))
}

// TestADeletionInWhatAMergeHoldsMayBeUndoneByTheMerge: C is not published and holds what R was made of.
func TestADeletionInWhatAMergeHoldsMayBeUndoneByTheMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c")
	w.index("Q", "d e")
	w.rewrite("S", "Q", "d")
	w.merge("C", "P", "S")
	w.rewrite("R", "P", "a")
	w.gone("P", "Q")
	w.options.Skew = time.Hour
	r := w.decide()
	require.Equal(t, "C", ids(r, containment.Live))
	require.Equal(t, "may-be-back R C 0; may-be-back S C 0", flags(r))
}
