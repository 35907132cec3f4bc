package containment_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
)

// TestCandidatesLeaveNothingOut: what is known of the objects beside their documents is drawn at random, so
// that every condition rules something out, and the decisions, doubts and reads are those of a look at each
// pair.
func TestCandidatesLeaveNothingOut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1500) {
		h := newRandomHistory(t, seed)
		rng := rand.New(rand.NewPCG(seed, 7))
		h.disguise(rng)
		if rng.IntN(4) == 0 {
			h.budget = int64(rng.IntN(60))
		}
		pruned := h.decide()
		h.decideBy = containment.DecideByAllPairs
		require.Equal(t, h.decide(), pruned, "seed %d", seed)
	}
}

// disguise draws what is known of the objects, whatever their documents are.
func (h *history) disguise(rng *rand.Rand) {
	most := rng.IntN(7)
	h.options.NoRewrites = rng.IntN(4) == 0
	for _, id := range h.all {
		o := h.objects[id]
		if o == nil {
			continue
		}
		for what := range most {
			switch what {
			case 0:
				start := int64(rng.IntN(4))
				o.TimeRange = metastore.Optional[metastore.TimeRange]{
					Value: metastore.TimeRange{Start: start, End: start + int64(rng.IntN(8))}, Set: rng.IntN(5) > 0,
				}
			case 1:
				o.Partition = metastore.Optional[uint64]{Value: uint64(rng.IntN(2)), Set: rng.IntN(6) > 0}
			case 2:
				o.Schema[0] = []byte{0, 0, 0, 0, 1}[rng.IntN(5)]
			case 3:
				o.Made.Set = rng.IntN(8) > 0
			case 4:
				o.State = []containment.State{containment.Open, containment.Open, containment.Closed}[rng.IntN(3)]
			case 5:
				o.Entry = rng.IntN(6) == 0
			}
		}
	}
}
