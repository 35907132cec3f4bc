package containment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/containment"
)

// entry gives an object a recovery entry that lists its parents.
func (w *world) entry(id string, parents ...string) {
	w.objects[id].Entry, w.objects[id].Parents = true, parents
}

func TestAnEntryThatListsFilesWithoutOneIsBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.entry("C", "P1", "P2")
	w.objects["P1"].State, w.objects["P2"].State = containment.Closed, containment.Closed
	r := w.requireLive("C")
	require.Equal(t, containment.ByList, verdict(t, r, "P1").Proof)
	require.Empty(t, w.read)
}

// TestAnEntryHoldsWhatItsGoneParentHeld: P was merged into C, which is gone, and C into D, whose entry lists C.
func TestAnEntryHoldsWhatItsGoneParentHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c")
	w.index("Q", "d e")
	w.merge("C", "P", "Q")
	w.index("S", "f")
	w.merge("D", "C", "S")
	w.entry("D", "C", "S")
	w.entry("S")
	w.gone("C", "Q")
	w.objects["S"].State = containment.Closed
	w.attested()
	r := w.requireLive("D")
	require.Equal(t, []string{"D"}, verdict(t, r, "P").By)
}

func TestAMergeWithoutEntryHoldsSplitsWithEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.entry("P1")
	w.entry("P2")
	w.merge("C", "P1", "P2")
	w.requireLive("C")
}

func TestTwoFilesWithEntriesAreNeverCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c")
	w.index("Q", "d e")
	w.merge("C", "P", "Q")
	w.entry("P")
	w.entry("C", "X", "Y")
	w.gone("Q")
	w.requireLive("C P")
	require.Empty(t, w.read)
}

// TestWhatAMarkedSplitHeldIsSuperseded: its row says that it was replaced, and so was what it holds.
func TestWhatAMarkedSplitHeldIsSuperseded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c")
	w.index("Q", "d e")
	w.merge("C", "P", "Q")
	w.rewrite("R", "C", "a")
	w.objects["C"].State = containment.Closed
	require.Equal(t, "R", ids(w.decide(), containment.Live))
}

func TestEverySplitThatARewriteMayHaveEmptiedIsFlagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("M", "P1", "P2")
	w.rewrite("R", "M", "d e c")
	w.gone("P1")
	r := w.decide()
	require.Equal(t, "P2 R", ids(r, containment.Live))
	require.Contains(t, flags(r), "deleted-or-live P2 M R 2")
}

// TestTheResultIsTheSameInAnyOrder: decide shuffles the objects.
func TestTheResultIsTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		h := newRandomHistory(t, seed)
		first := h.decide()
		for range 3 {
			require.Equal(t, first, h.decide())
		}
	}
}

func TestObjectsThatContradictThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", "a b c")
	good := *w.objects["P"]
	nameless, miscounted := good, good
	nameless.ID = ""
	miscounted.NumDocs++
	for name, objects := range map[string][]containment.Object{
		"no split id": {nameless}, "two objects": {good, good}, "documents of": {miscounted},
	} {
		_, err := containment.Decide(objects, nil, containment.Options{})
		require.ErrorContains(t, err, name)
	}
	_, err := containment.Decide([]containment.Object{good}, map[string]*containment.Content{"P": {Blocks: make([]containment.Block, 9)}}, containment.Options{})
	require.ErrorContains(t, err, "blocks of")
}
