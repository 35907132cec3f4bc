package containment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/containment"
)

// batches is a world in which the same two documents were indexed n times and merged with others.
func batches(t *testing.T, n int) (w *world, all []string) {
	w = newWorld(t)
	for i := range n {
		id := fmt.Sprintf("A%d", i)
		w.index(id, "a b")
		all = append(all, id)
	}
	w.index("Q", "x y z")
	w.merge("C", append(append([]string{}, all...), "Q")...)
	return w, all
}

func TestAFurtherCopyOfWhatWasMergedIsLive(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5} {
		w, _ := batches(t, n)
		w.index("last", "a b")
		r := w.decide()
		require.Equal(t, "C last", ids(r, containment.Live), "%d copies, %s", n, flags(r))
	}
}

func TestACopyThatMayBeOneOfThoseThatWereMergedIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	w, all := batches(t, 2)
	w.index("last", "a b")
	w.options.Skew = time.Hour
	w.gone(all[0])
	w.requireResult("C", "A1 last", "weak A1 C 2; weak last C 2")
	w.gone(all[1])
	r := w.requireResult("C", "last", "weak last C 2")
	w.options.Accepted = map[string]bool{r.Flags[0].ID: true}
	require.Equal(t, "C last", ids(w.decide(), containment.Live))
}

func TestACopyThatIsCertainlyYoungerThanTheMergeIsLive(t *testing.T) {
	t.Parallel()
	w, all := batches(t, 2)
	w.index("last", "a b")
	w.gone(all...)
	require.Equal(t, "C last", ids(w.decide(), containment.Live))
}

func TestTwoSplitsOfOneEqualDocumentAreBothLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("X", "a")
	w.index("Y", "a")
	require.Equal(t, "X Y", ids(w.decide(), containment.Live))
}

func TestOfTwoEqualSplitsTheOneThatWasMergedIsSuperseded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("X", "a")
	w.index("Q", "b c")
	w.merge("C", "X", "Q")
	w.index("Y", "a")
	w.requireLiveWhatever("C Y")
}

// requireLiveWhatever checks what is live.
func (w *world) requireLiveWhatever(live string) {
	w.t.Helper()
	r := w.decide()
	require.Equal(w.t, live, ids(r, containment.Live), flags(r))
}

func TestAnIndexOfIdenticalDocumentsLosesNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 6 {
		w.index(fmt.Sprintf("X%d", i), "a a")
	}
	w.merge("C1", "X0", "X1", "X2")
	w.index("X6", "a")
	r := w.decide()
	require.Contains(t, ids(r, containment.Live), "C1")
	for _, v := range r.Verdicts {
		require.NotEqual(t, containment.Orphan, v.Kind)
	}
}

// TestAPlaceInAnOrphanIsNoPlace: M, which was not published, holds one copy, and C, which stands for it, the
// other one.
func TestAPlaceInAnOrphanIsNoPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("A0", "a b")
	w.index("A1", "a b")
	w.index("Q", "c")
	w.index("S", "d")
	w.merge("M", "A0", "Q")
	w.merge("C1", "S", "Q")
	w.merge("C2", "A1", "C1")
	w.gone("Q", "S", "C1")
	r := w.decide()
	require.Equal(t, "A1 C2", ids(r, containment.Live), flags(r))
	require.Equal(t, "A0", ids(r, containment.Likely))
	require.Equal(t, "M", ids(r, containment.Orphan))
}

func TestAPlaceInARewriteAndInItsSourceAreOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("A0", "a b")
	w.index("A1", "a b")
	w.index("Q", "c d")
	w.merge("M", "A0", "Q")
	w.rewrite("R", "M", "d")
	r := w.decide()
	require.Equal(t, "A1 R", ids(r, containment.Live), flags(r))
	require.Equal(t, "A0 M", ids(r, containment.Likely))
}

// TestASplitWithMoreCopiesThanTheLiveOnesIsLeftToAPerson: R was made of one copy, and looks like a rewrite
// of the merge of both.
func TestASplitWithMoreCopiesThanTheLiveOnesIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("A0", "a b")
	w.index("A1", "a b")
	w.index("Q", "c")
	w.merge("M", "A0", "A1", "Q")
	w.merge("P", "A0", "Q")
	w.rewrite("R", "P", "")
	w.gone("A0", "A1", "P", "Q")
	r := w.requireResult("R", "M", "undercount M R 2")
	w.options.Accepted = map[string]bool{r.Flags[0].ID: true}
	require.Equal(t, "M R", ids(w.decide(), containment.Live))
}
