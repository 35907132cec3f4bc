package containment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/containment"
)

// requireResult checks what is live and likely, and the flags.
func (w *world) requireResult(live, likely, flagged string) *containment.Result {
	w.t.Helper()
	r := w.decide()
	require.Equal(w.t, live, ids(r, containment.Live))
	require.Equal(w.t, likely, ids(r, containment.Likely))
	require.Equal(w.t, flagged, flags(r))
	return r
}

func TestARewriteIsLiveInPlaceOfItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c d")
	w.rewrite("R", "P", "b d")
	r := w.requireResult("R", "P", "deleted P R 2")
	require.Equal(t, containment.Verdict{ID: "P", Kind: containment.Likely, By: []string{"R"}, Proof: containment.ByRewrite}, verdict(t, r, "P"))
	w.options.Accepted = map[string]bool{r.Flags[0].ID: true}
	require.Equal(t, "P", ids(w.decide(), containment.Superseded), "a person takes the documents for deleted")
}

func TestARewriteOfAMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("M", "P1", "P2")
	w.rewrite("R", "M", "a e")
	r := w.requireResult("R", "M", "deleted M R 2")
	require.Equal(t, "P1 P2", ids(r, containment.Superseded), "whatever becomes of the merge, it holds its parents")
}

func TestARewriteThatDropsNothingSupersedesItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c")
	w.rewrite("R", "P", "")
	w.requireLive("R")
}

func TestOfTwoRewritesOfOneSplitTheLaterDeletionWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c d")
	w.rewrite("R1", "P", "a")
	w.add("R2", w.splits["R1"])
	w.rewrite("R2", "P", "a b")
	w.objects["R2"].Opstamp = 2
	r := w.decide()
	require.Equal(t, "R2", ids(r, containment.Live))
}

func TestARewriteOfARewrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c d")
	w.rewrite("R", "P", "a")
	w.rewrite("S", "R", "b")
	r := w.decide()
	require.Equal(t, "S", ids(r, containment.Live))
	require.Equal(t, "P R", ids(r, containment.Likely))
	w.gone("R")
	require.Equal(t, "S", ids(w.decide(), containment.Live))
}

func TestAMergeOfRewritesInAnyPlace(t *testing.T) {
	t.Parallel()
	for _, parents := range [][]string{{"R", "Q", "S"}, {"Q", "R", "S"}, {"Q", "S", "R"}} {
		w := newWorld(t)
		w.index("P", "a b c d")
		w.index("Q", "e f")
		w.index("S", "g h i")
		w.rewrite("R", "P", "b")
		w.merge("M", parents...)
		r := w.decide()
		require.Equal(t, "M", ids(r, containment.Live), "%v", parents)
		require.Equal(t, "P", ids(r, containment.Likely), "%v", parents)
		w.gone("R")
		w.attested()
		live := ids(w.decide(), containment.Live)
		require.Contains(t, live, "M")
	}
}

func TestARewriteThatRemovedAWholeParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("M", "P1", "P2")
	w.rewrite("R", "M", "d e")
	r := w.decide()
	require.Contains(t, ids(r, containment.Live), "R")
	require.NotEmpty(t, flags(r))
}

func TestTheSourceOfTheRewriteOfAGoneMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ drop, live, flagged string }{
		"lost documents": {"a", "P R", "overlap P R 2; overlap R P 2"},
		"lost none":      {"d", "R", ""},
	} {
		w := newWorld(t)
		w.index("P", "a b c")
		w.index("Q", "d e f")
		w.merge("C", "P", "Q")
		w.rewrite("R", "C", c.drop)
		w.gone("C", "Q")
		r := w.decide()
		require.Equal(t, c.live, ids(r, containment.Live), name)
		require.Equal(t, c.flagged, flags(r), name)
	}
}

func TestAMergeAndARewriteOfTheSameDocumentsAreToldApartByTheirTimes(t *testing.T) {
	t.Parallel()
	// r is a rewrite, and M, which is younger, a merge that begins with it.
	w := newWorld(t)
	w.index("P", "a b c")
	w.rewrite("r", "P", "c")
	w.index("Q", "d e")
	w.merge("M", "Q", "r")
	w.gone("P")
	w.objects["M"].Opstamp = 0
	w.requireResult("M", "", "")
	// Clocks that may be off leave it open.
	w.options.Skew = time.Hour
	w.requireResult("M", "r", "order r M 2")
	// r is older than the split that has its documents in a row: it is a rewrite of it.
	w = newWorld(t)
	w.index("P", "a b c d e")
	w.rewrite("r", "P", "d e")
	w.requireResult("r", "P", "deleted P r 2")
}
