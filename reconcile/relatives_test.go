package reconcile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile/segment"
)

// TestRelativesAreThoseOfALookAtEachPair: files with an entry are related to one without if their times may
// meet, and one was merged and may be larger.
func TestRelativesAreThoseOfALookAtEachPair(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	period := func() metastore.Optional[metastore.TimeRange] {
		start := int64(rng.IntN(60))
		return metastore.Optional[metastore.TimeRange]{Value: metastore.TimeRange{Start: start, End: start + int64(rng.IntN(6))}, Set: rng.IntN(40) > 0}
	}
	answers := map[bool]int{}
	for range 500 {
		legacy := make([]containment.Object, rng.IntN(8))
		for i := range legacy {
			legacy[i] = containment.Object{TimeRange: period(), NumDocs: uint64(rng.IntN(5)), Origin: []segment.Origin{segment.Indexed, segment.Merged, segment.Undecided}[rng.IntN(3)]}
		}
		relatives := newRelatives(legacy)
		for range 20 {
			object := &splitObject{}
			object.metadata.TimeRange, object.metadata.NumDocs = period(), uint64(rng.IntN(5))
			if rng.IntN(2) == 0 {
				object.parents = []string{"P"}
			}
			related := slices.ContainsFunc(legacy, func(l containment.Object) bool {
				a, b := object.metadata.TimeRange, l.TimeRange
				meet := !a.Set || !b.Set || a.Value.Start <= b.Value.End && b.Value.Start <= a.Value.End
				return meet && (len(object.parents) > 0 || l.Origin != segment.Indexed && object.metadata.NumDocs < l.NumDocs)
			})
			require.Equal(t, related, relatives.of(object), "%+v, %+v", object.metadata.TimeRange, legacy)
			answers[related]++
		}
	}
	require.Greater(t, min(answers[true], answers[false]), 1000)
}
