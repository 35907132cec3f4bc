package containment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// attested sets the clock so that everything is old enough to have been published once, and young enough
// to have parents left.
func (w *world) attested() *world {
	w.options.Attested, w.options.Reference = true, w.minute*60
	w.options.Horizon, w.options.MarkedHorizon = 1, 1<<40
	for _, o := range w.objects {
		o.Born -= 10
	}
	return w
}

func TestParentsThatAreLeftAreSuperseded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gone []string
		live string
	}{
		"both left": {nil, "C"}, "one left": {[]string{"P1"}, "C"}, "none left": {[]string{"P1", "P2"}, "C"},
		"the child is gone": {[]string{"C"}, "P1 P2"},
	} {
		w := newWorld(t)
		w.index("P1", "a b c")
		w.index("P2", "d e")
		w.merge("C", "P1", "P2")
		w.gone(c.gone...)
		r := w.requireLive(c.live)
		if c.gone == nil {
			require.Equal(t, containment.Verdict{ID: "P1", Kind: containment.Superseded, By: []string{"C"}, Proof: containment.ByDocuments}, verdict(t, r, "P1"), name)
		}
	}
}

func TestTheMiddleOfThreeLevelsMayBeGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("M", "P1", "P2")
	w.index("P3", "f g h")
	w.merge("T", "M", "P3")
	w.gone("M", "P3", "P2")
	w.requireLive("T")
}

func TestAChildWhoseBlocksAreAllCopiedIsProvenWithoutReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", many("a", 20))
	w.index("P2", many("b", 19))
	w.index("P3", many("c", 22))
	w.merge("M", "P1", "P2")
	w.merge("T", "M", "P3")
	r := w.requireLive("T")
	require.Empty(t, w.read)
	require.Equal(t, containment.ByBlocks, verdict(t, r, "P1").Proof)
	require.Equal(t, []string{"M"}, verdict(t, r, "P1").By)
}

func TestOfAMixedChildOnlyWhatWasNotCopiedIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("large", many("a", 40))
	w.index("small", many("b", 4))
	w.merge("C", "large", "small")
	r := w.requireLive("C")
	require.Equal(t, map[string]int{"C": 2, "small": 2}, w.read)
	require.Equal(t, containment.ByBlocks, verdict(t, r, "large").Proof)
	require.Equal(t, containment.ByDocuments, verdict(t, r, "small").Proof)
}

func TestBlocksThatOnlyLookAlikeProveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P", many("a", 10)+" "+many("b", 10))
	w.index("Q", many("c", 20))
	w.merge("C", "P", "Q")
	w.index("X", many("x", 10)+" "+many("y", 10)) // the same lengths
	w.objects["X"].Made = w.objects["P"].Made
	w.gone("P")
	w.attested()
	require.Equal(t, w.objects["X"].Blocks, w.objects["C"].Blocks[len(w.objects["Q"].Blocks):])
	w.requireLive("C X")
	require.NotEmpty(t, w.read, "the documents are compared")
}

func TestBlocksThatLookAlikeWithinACoveringSplitProveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("inner", many("a", 14))
	w.index("P", many("x", 14)+" "+many("b", 10))
	w.objects["inner"].Made = w.objects["P"].Made
	w.index("Q", many("c", 30))
	w.merge("C", "P", "Q")
	w.requireLive("C inner")
}

func TestAByteThatWasFlippedLaterIsNotNoticedByChecksums(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", many("a", 20))
	w.index("P2", many("b", 19))
	w.merge("C", "P1", "P2")
	other := segmenttest.Index(w.settings, words("X "+many("a", 20))...).Blocks[0]
	w.splits["P1"].Blocks[0] = segmenttest.Block{Docs: other.Docs[:len(w.splits["P1"].Blocks[0].Docs)], Bytes: other.Bytes} // what the file says of itself stays
	w.requireLive("C")
	require.Empty(t, w.read)
	w.options.Full = true
	require.Equal(t, "C P1", ids(w.decide(), containment.Live), "the documents that are there are not the same")
}

func TestSplitsOfDifferentSchemasAreNeverLinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.objects["P1"].Schema[0]++
	w.attested()
	w.requireLive("C P1")
}

func TestClocksMayBeOffByTheSkew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minutes int64
		live    string
	}{"by less": {-59, "C"}, "by more: the documents still count once": {-62, "P1 P2"}} {
		w := newWorld(t)
		w.index("P1", "a b c")
		w.index("P2", "d e")
		w.merge("C", "P1", "P2")
		w.options.Skew = 0
		w.objects["C"].Made.Value = w.objects["P1"].Made.Value + c.minutes*60_000
		require.Equal(t, c.live, ids(w.decide(), containment.Live), name)
	}
}

func TestIdsWithoutATimeRuleNothingOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	for _, o := range w.objects {
		o.Made = metastore.Optional[int64]{}
	}
	w.requireLive("C")
}

// TestWhatCannotBeIsNotRead: times, tags and partitions that a child would have are looked at first.
func TestWhatCannotBeIsNotRead(t *testing.T) {
	t.Parallel()
	span := func(a, b int64) metastore.Optional[metastore.TimeRange] {
		return metastore.Some(metastore.TimeRange{Start: a, End: b})
	}
	for name, change := range map[string]func(p, c *containment.Object){
		"times": func(p, c *containment.Object) { p.TimeRange, c.TimeRange = span(1, 5), span(2, 9) },
		"tags":  func(p, c *containment.Object) { p.Tags, c.Tags = []string{"f!", "f:1"}, []string{"f!", "f:2"} },
		"partitions": func(p, c *containment.Object) {
			p.Partition, c.Partition = metastore.Some[uint64](1), metastore.Some[uint64](2)
		},
		"more documents": func(p, c *containment.Object) {},
	} {
		w := newWorld(t)
		w.index("other", "u v w x")
		if name == "more documents" {
			w.index("P", "a b c d e f g")
		} else {
			w.index("P", "a b c")
		}
		w.index("Q", "d")
		w.merge("C", "other", "Q")
		change(w.objects["P"], w.objects["C"])
		w.attested()
		w.requireLive("C P")
		require.Zero(t, w.read["P"], name)
	}
}

func TestATagOfAFieldThatTheChildDoesNotListRulesNothingOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.objects["P1"].Tags, w.objects["C"].Tags = []string{"f!", "f:1"}, []string{"g!", "g:1"}
	w.requireLive("C")
}

func TestAnAttestedJanitorSparesTheReadingOfOldContainers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.index("late", "f")
	w.options = containment.Options{Attested: true, Reference: w.minute*60 + 48*3600}
	require.Equal(t, "C P1 P2 late", ids(w.decide(), containment.Live))
	require.Empty(t, w.read)
}

// TestAFileThatWasWrittenLongAfterItsIDIsComparedHoweverOldItIs: its row may have been given up before it was
// complete, and nothing collects it then.
func TestAFileThatWasWrittenLongAfterItsIDIsComparedHoweverOldItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.objects["C"].Born += 13 * 3600
	w.options = containment.Options{Attested: true, Reference: w.minute*60 + 72*3600}
	w.requireLive("C")
}

// TestAnOldCoverIsFoundWithoutReading: blocks show that parents are left which should be gone.
func TestAnOldCoverIsFoundWithoutReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", many("a", 20))
	w.index("P2", many("b", 19))
	w.merge("C", "P1", "P2")
	w.options = containment.Options{Attested: true, Reference: w.minute*60 + 48*3600}
	r := w.decide()
	require.Equal(t, "C", ids(r, containment.Live))
	require.Equal(t, "old-cover P1 C 0; old-cover P2 C 0", flags(r))
	require.Empty(t, w.read)
}

func TestWithoutABudgetNothingIsReadAndNothingUnreadIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.budget = 0
	r := w.decide()
	require.Equal(t, "C", ids(r, containment.Live))
	require.Equal(t, "P1 P2", ids(r, containment.Unread))
	require.Equal(t, "unchecked P1 C 0; unchecked P2 C 0; unchecked-overlap C 0", flags(r))
	w.options.Accepted = map[string]bool{r.Flags[0].ID: true}
	require.Equal(t, "C P1", ids(w.decide(), containment.Live))
}

func TestAMergeWithAnUndecidedOriginIsAContainer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.merge("C", "P1", "P2")
	w.objects["C"].Origin = segment.Undecided
	w.requireLive("C")
}

func TestASplitOfAnIndexerNeverSupersedes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.index("P1", "a b c")
	w.index("P2", "d e")
	w.index("X", "d e a b c")
	w.requireLive("P1 P2 X")
}
