package containment_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// history makes splits as indexers, merges and delete tasks do, and remembers the truth.
type history struct {
	*world
	rng       *rand.Rand
	docs      int
	published []string
	replaced  []string
	all       []string
	removed   map[string]bool            // documents that a delete task named
	without   map[string]map[string]bool // by split: documents that rewrites dropped from it or its ancestors
	log       []string
	// repeats is whether batches are indexed twice.
	repeats bool
}

func newRandomHistory(t testing.TB, seed uint64) *history {
	h := &history{world: newWorld(t), rng: rand.New(rand.NewPCG(seed, 1)), removed: map[string]bool{}, without: map[string]map[string]bool{}}
	h.settings.BlockSize = []int{20, 40, 1000}[h.rng.IntN(3)]
	h.repeats = h.rng.IntN(4) == 0
	if h.rng.IntN(2) == 0 {
		h.options.Skew = time.Hour
	}
	for range 3 + h.rng.IntN(20) {
		switch h.rng.IntN(6) {
		case 0, 1, 2:
			h.indexSome()
		case 3, 4:
			h.mergeSome()
		default:
			h.rewriteOne()
		}
	}
	h.collect()
	return h
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) next(kind string) string {
	id := fmt.Sprintf("%s%02d", kind, len(h.all))
	h.all = append(h.all, id)
	return id
}

func (h *history) indexSome() {
	var text []string
	for range 1 + h.rng.IntN(9) {
		text = append(text, fmt.Sprintf("w%d", h.docs))
		h.docs++
	}
	for range 1 + h.rng.IntN(2) {
		id := h.next("L")
		h.index(id, strings.Join(text, " "))
		h.published = append(h.published, id)
		h.note("%s = %v", id, text)
		if !h.repeats {
			break
		}
	}
}

// publish replaces the parents, most of the time.
func (h *history) publish(id string, parents []string) {
	if h.rng.IntN(6) == 0 {
		h.note("%s of %v is not published", id, parents)
		return
	}
	h.note("%s of %v", id, parents)
	h.published = slices.DeleteFunc(h.published, func(p string) bool { return slices.Contains(parents, p) })
	h.published, h.replaced = append(h.published, id), append(h.replaced, parents...)
}

func (h *history) descend(id string, parents ...string) {
	h.without[id] = map[string]bool{}
	for _, p := range parents {
		maps.Copy(h.without[id], h.without[p])
	}
}

func (h *history) mergeSome() {
	if len(h.published) < 2 {
		return
	}
	parents := slices.Clone(h.published)
	h.rng.Shuffle(len(parents), func(i, j int) { parents[i], parents[j] = parents[j], parents[i] })
	parents = parents[:2+h.rng.IntN(min(2, len(parents)-1))]
	id := h.next("M")
	h.merge(id, parents...)
	h.descend(id, parents...)
	h.publish(id, parents)
}

func (h *history) rewriteOne() {
	if len(h.published) == 0 || h.rng.IntN(2) == 0 {
		return
	}
	parent := h.published[h.rng.IntN(len(h.published))]
	var drop []string
	docs := h.splits[parent].Docs()
	for _, doc := range docs {
		if h.rng.IntN(4) == 0 {
			drop = append(drop, string(doc.Raw[7:]))
		}
	}
	stays := func(doc segmenttest.Document) bool { return !slices.Contains(drop, string(doc.Raw[7:])) }
	if len(drop) == 0 || !slices.ContainsFunc(docs, stays) {
		return // a task that deletes everything makes no split
	}
	id := h.next("R")
	h.rewrite(id, parent, strings.Join(drop, " "))
	h.descend(id, parent)
	for _, doc := range docs {
		if !stays(doc) {
			h.removed[string(doc.Raw)], h.without[id][string(doc.Raw)] = true, true
		}
	}
	h.note("%s drops %v", id, drop)
	h.publish(id, []string{parent})
}

// collect removes files of replaced splits: the oldest, or any.
func (h *history) collect() {
	if h.rng.IntN(2) == 0 {
		n := h.rng.IntN(len(h.replaced) + 1)
		h.gone(h.replaced[:n]...)
		h.note("gone %v", h.replaced[:n])
		return
	}
	for _, id := range h.replaced {
		if h.rng.IntN(3) > 0 {
			h.gone(id)
			h.note("gone %s", id)
		}
	}
}

// HOLDFAST_LONG=1 plays a hundred times as many histories.
func TestNoDocumentIsLostOrDoubledWithoutAFlagInAnyHistory(t *testing.T) {
	t.Parallel()
	count := uint64(3000)
	if os.Getenv("HOLDFAST_LONG") == "1" {
		count *= 100
	}
	for seed := range count {
		h := newRandomHistory(t, seed)
		r := h.decide()
		if failure := h.failure(r); failure != "" {
			var verdicts []string
			for _, v := range r.Verdicts {
				verdicts = append(verdicts, fmt.Sprintf("%s %s by %v", v.ID, v.Kind, v.By))
			}
			t.Fatalf("seed %d: %s\n%s\npublished %v, skew %s\n%s\nflags: %s", seed, failure, strings.Join(h.log, "\n"), h.published, h.options.Skew, strings.Join(verdicts, "\n"), flags(r))
		}
	}
}
