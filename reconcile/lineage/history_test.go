package lineage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/metastore"
)

// history is a run of the model and a way to lose its metastore. The same history always plays the
// same.
type history struct {
	steps      []step
	legacy     bool // begins with a release that writes no recovery entries
	unhealthy  bool // deletions fail; nobody attests the opposite
	unattested bool // the janitor is healthy, but nobody says so
	loss       lossKind
	adopt      bool  // Options.AdoptStaged
	complete   bool  // Options.RowsComplete, if the loss leaves a backup
	unreadable uint8 // the object of this number cannot be read; 255: all can
	chance     uint8
}

type lossKind uint8

const (
	lossTotal   lossKind = iota // no row is left
	lossBackup                  // the rows are those of the last backup
	lossSomeRow                 // some rows are gone
	lossKinds
)

func newHistory(rng *rand.Rand) *history {
	h := &history{
		legacy: rng.IntN(5) == 0, unhealthy: rng.IntN(5) == 0, unattested: rng.IntN(4) == 0,
		loss: lossKind(rng.IntN(int(lossKinds))), adopt: rng.IntN(2) == 0, complete: rng.IntN(2) == 0,
		unreadable: 255, chance: uint8(rng.Uint32()),
	}
	if rng.IntN(16) == 0 {
		h.unreadable = uint8(rng.IntN(20))
	}
	weights := [stepKinds]int{
		stepIngest: 8, stepMerge: 8, stepDuplicateMerge: 4, stepRewrite: 3, stepDelete: 1, stepProgress: 4,
		stepAbort: 2, stepMark: rng.IntN(2), stepAdvance: 8, stepBackup: 1, stepUpgrade: 1,
	}
	var bag []stepKind
	for kind, weight := range weights {
		for range weight {
			bag = append(bag, stepKind(kind))
		}
	}
	for range 4 + rng.IntN(36) {
		r := rng.Uint32()
		h.steps = append(h.steps, step{bag[rng.IntN(len(bag))], uint8(r), uint8(r >> 8), uint8(r >> 16)})
	}
	return h
}

// play runs the history; trace may be nil.
func (h *history) play(trace func(string, ...any)) *model {
	if trace == nil {
		trace = func(string, ...any) {}
	}
	m := &model{t: 100_000, legacy: h.legacy, unhealthy: h.unhealthy, trace: trace, blockSize: [...]int{20, 40, 1000}[h.chance%3]}
	for _, s := range h.steps {
		m.play(s)
	}
	m.lose(h.chance)
	return m
}

// remains is what the recovery finds.
func (h *history) remains(m *model) ([]Object, []Row, Options) {
	var objects []Object
	for _, x := range m.splits {
		if x.present {
			object := x.object
			if uint8(x.n) == h.unreadable {
				object = Object{ID: object.ID, Content: Unreadable, LastModified: object.LastModified}
			}
			objects = append(objects, object)
		}
	}
	options := Options{
		IndexUID: metastore.IndexUID{IndexID: testUID.IndexID}, ReferenceTime: m.t * 60,
		GCHealthy: !h.unhealthy && !h.unattested, AdoptStaged: h.adopt,
	}
	var rows []Row
	switch h.loss {
	case lossBackup:
		for _, r := range m.backup {
			rows = append(rows, r.row)
		}
		options.RowsComplete = h.complete && m.backup != nil
	case lossSomeRow:
		for i, r := range m.rows() {
			if (i*31+int(h.chance))%4 != 0 {
				rows = append(rows, r.row)
			}
		}
	}
	return objects, rows, options
}

// failure plays a history and returns what is wrong with the decisions, empty if nothing is.
func (h *history) failure() string {
	m := h.play(nil)
	objects, rows, options := h.remains(m)
	plan, err := Decide(objects, rows, options)
	if err != nil {
		return err.Error()
	}
	objects, contents, err := m.compare(objects, plan, options)
	if err != nil {
		return err.Error()
	}
	if contents != nil {
		if plan, err = Decide(objects, rows, options); err != nil {
			return err.Error()
		}
	}
	return newCheck(h, m, objects, rows, options, plan, contents).failure()
}

// minimize drops what the failure does not need.
func (h *history) minimize() *history {
	small := *h
	for changed := true; changed; {
		changed = false
		for size := len(small.steps); size > 0; size /= 2 {
			for from := 0; from+size <= len(small.steps); {
				try := small
				try.steps = append(append([]step{}, small.steps[:from]...), small.steps[from+size:]...)
				if try.failure() != "" {
					small, changed = try, true
				} else {
					from += size
				}
			}
		}
		for _, simplify := range []func(*history){
			func(h *history) { h.legacy = false }, func(h *history) { h.unhealthy = false },
			func(h *history) { h.loss = lossTotal }, func(h *history) { h.unreadable = 255 },
			func(h *history) { h.adopt = true }, func(h *history) { h.complete = false },
		} {
			try := small
			simplify(&try)
			if fmt.Sprint(try) != fmt.Sprint(small) && try.failure() != "" {
				small, changed = try, true
			}
		}
	}
	return &small
}

// String tells the history, what is found after it, what is decided, and what is wrong with it.
func (h *history) String() string {
	var text strings.Builder
	m := h.play(func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) })
	objects, rows, options := h.remains(m)
	fmt.Fprintf(&text, "objects, in files with entries unless said otherwise:\n")
	for _, o := range objects {
		kind := [...]string{"", " legacy", " unreadable"}[o.Content]
		fmt.Fprintf(&text, "  %s%s %v docs %d merge ops %d opstamp %d made %d written %d\n", o.ID, kind, o.Parents, o.NumDocs,
			o.NumMergeOps, o.DeleteOpstamp, o.CreateTimestamp/60, o.LastModified/60)
	}
	fmt.Fprintf(&text, "rows: ")
	for _, r := range rows {
		fmt.Fprintf(&text, "%s=%s ", r.ID, r.State)
	}
	fmt.Fprintf(&text, "\ntruth: ")
	for _, x := range m.splits {
		if x.state != 0 {
			fmt.Fprintf(&text, "%s=%s ", x.object.ID, x.state)
		}
	}
	fmt.Fprintf(&text, "\njanitor attested %v, rows complete %v, adopt staged %v\ndecisions:\n", options.GCHealthy, options.RowsComplete, options.AdoptStaged)
	plan, err := Decide(objects, rows, options)
	var contents *comparison
	if err == nil {
		if objects, contents, err = m.compare(objects, plan, options); err == nil {
			plan, err = Decide(objects, rows, options)
		}
	}
	fmt.Fprint(&text, contents)
	if err != nil {
		fmt.Fprintf(&text, "%v\n", err)
	} else {
		fmt.Fprintf(&text, "%s\nfindings: %v\nrows: %v\n", decisionsText(plan), findingsText(plan), plan.Rows)
	}
	fmt.Fprintf(&text, "steps: %#v\nFAILURE: %s\n", h.steps, h.failure())
	return text.String()
}

// HOLDFAST_LONG=1 plays a million histories in place of twenty thousand.
func TestNoDocumentIsLostOrDoubledInAnyHistory(t *testing.T) {
	t.Parallel()
	count := 20_000
	if os.Getenv("HOLDFAST_LONG") == "1" {
		count = 1_000_000
	}
	var next atomic.Int64
	var failed atomic.Pointer[history]
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for failed.Load() == nil {
				seed := next.Add(1)
				if seed > int64(count) {
					return
				}
				if h := newHistory(rand.New(rand.NewPCG(uint64(seed), 5))); h.failure() != "" {
					failed.CompareAndSwap(nil, h)
				}
			}
		})
	}
	workers.Wait()
	if h := failed.Load(); h != nil {
		t.Fatalf("a minimal history that is decided wrongly:\n%s", h.minimize())
	}
}
