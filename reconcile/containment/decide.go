package containment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Decide runs the procedure that the package comment describes on what is known so far. It reads its
// arguments only and returns the same result for any order of objects.
//
// Errors: an object without an id, an id given twice, blocks that do not have the documents of the object,
// content that does not fit its object.
func Decide(objects []Object, content map[string]*Content, options Options) (*Result, error) {
	return decide(objects, content, options, newShelves)
}

func decide(objects []Object, content map[string]*Content, options Options, newCandidates func(*decider) candidates) (*Result, error) {
	d := &decider{clock: newClock(options), options: options, index: make(map[string]int, len(objects))}
	d.objects = slices.Clone(objects)
	slices.SortFunc(d.objects, func(a, b Object) int { return cmp.Compare(a.ID, b.ID) })
	for i := range d.objects {
		o := &d.objects[i]
		if o.ID == "" {
			return nil, fmt.Errorf("decide containment: an object has no split id")
		}
		if _, again := d.index[o.ID]; again {
			return nil, fmt.Errorf("decide containment: split id %.100q is given by two objects", o.ID)
		}
		d.index[o.ID] = i
	}
	d.stores = make([]store, len(d.objects))
	for i := range d.objects {
		if err := d.stores[i].fill(&d.objects[i], content[d.objects[i].ID]); err != nil {
			return nil, err
		}
	}
	d.candidates = newCandidates(d)
	d.runs = make([]map[int][]run, len(d.objects))
	d.unchecked = map[int][]int{}
	d.findRuns()
	if len(d.needs) == 0 {
		d.decideGroups()
	}
	return d.result(), nil
}

// decider holds what the steps have found so far. Objects are numbered by their ids.
type decider struct {
	objects []Object
	index   map[string]int
	stores  []store
	clock   clock
	options Options
	candidates

	// runs[c][p] are the places in c at which it holds p.
	runs []map[int][]run
	// unchecked[p] are objects that may hold p; what would tell was refused.
	unchecked map[int][]int
	needs     map[int]map[int]bool // blocks by object
	verdicts  []Verdict
	flags     []Flag
}

// run is a place at which one object holds another.
type run struct {
	at    int // first document in the holder; -1 if only a list says so
	proof Proof
}

func (d *decider) addRun(c, p int, r run) {
	if d.runs[c] == nil {
		d.runs[c] = map[int][]run{}
	}
	for _, known := range d.runs[c][p] {
		if known.at == r.at {
			return
		}
	}
	d.runs[c][p] = append(d.runs[c][p], r)
}

func (d *decider) holds(c, p int) bool { return len(d.runs[c][p]) > 0 }

// need asks for blocks of an object. It reports false if they are refused.
func (d *decider) need(x int, blocks []int) bool {
	if d.stores[x].refused {
		return false
	}
	if d.needs == nil {
		d.needs = map[int]map[int]bool{}
	}
	if d.needs[x] == nil {
		d.needs[x] = map[int]bool{}
	}
	for _, j := range blocks {
		d.needs[x][j] = true
	}
	return true
}

func (d *decider) flag(kind FlagKind, docs int, splits ...int) *Flag {
	ids := make([]string, len(splits))
	for i, x := range splits {
		ids[i] = d.objects[x].ID
	}
	f := Flag{Kind: kind, ID: decisionID(kind, ids), Splits: ids, Docs: docs}
	f.Accepted = d.options.Accepted[f.ID]
	d.flags = append(d.flags, f)
	return &d.flags[len(d.flags)-1]
}

func (d *decider) result() *Result {
	r := &Result{Verdicts: d.verdicts, Flags: d.flags}
	slices.SortFunc(r.Flags, func(a, b Flag) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Splits, b.Splits))
	})
	for x, blocks := range d.needs {
		need := Need{ID: d.objects[x].ID}
		for j := range blocks {
			need.Blocks = append(need.Blocks, j)
			need.Bytes += int64(d.objects[x].Blocks[j].Size)
		}
		slices.Sort(need.Blocks)
		r.Needs = append(r.Needs, need)
	}
	slices.SortFunc(r.Needs, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), strings.Compare(a.ID, b.ID))
	})
	return r
}
