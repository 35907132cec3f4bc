package containment

import (
	"cmp"
	"slices"

	"holdfast/reconcile/splitfile/segment"
)

// findRuns finds where merged objects hold others, the smallest first, so that what a parent holds is
// known when its child is looked at.
func (d *decider) findRuns() {
	d.takeLists()
	order := make([]int, len(d.objects))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.objects[a].NumDocs, d.objects[b].NumDocs), cmp.Compare(a, b))
	})
	windows := d.indexGeometry()
	for _, c := range order {
		if d.objects[c].merged() {
			d.findRunsIn(c, windows)
		}
	}
}

// takeLists takes over the links of recovery entries. Their objects' documents are not compared for it.
func (d *decider) takeLists() {
	for c := range d.objects {
		parents := d.objects[c].Parents
		for _, id := range parents {
			if p, there := d.index[id]; there && len(parents) > 1 && p != c {
				d.addRun(c, p, run{at: -1, proof: ByList})
			}
		}
	}
}

func (d *decider) findRunsIn(c int, windows map[segmentWindow][]int) {
	cover := d.coverByBlocks(c, windows)
	readable := d.clock.mayHaveParents(&d.objects[c])
	if d.options.Full {
		cover = cover.refute()
	}
	if len(cover.placements) > 0 {
		cover = d.proveCover(c, cover, readable)
	}
	for _, place := range cover.placements {
		d.addRun(c, place.p, run{at: d.stores[c].firstDoc[place.block], proof: ByBlocks})
	}
	d.inherit(c)
	for _, place := range cover.others {
		d.judgeOther(c, place, &cover)
	}
	d.inherit(c)
	if readable {
		d.compareDocuments(c, &cover)
		d.inherit(c)
	}
}

// inherit adds to c what the objects that it holds hold.
func (d *decider) inherit(c int) {
	for _, q := range sortedKeys(d.runs[c]) {
		for _, outer := range slices.Clone(d.runs[c][q]) {
			for _, p := range sortedKeys(d.runs[q]) {
				for _, inner := range slices.Clone(d.runs[q][p]) {
					if outer.at < 0 || inner.at < 0 {
						if !d.holds(c, p) {
							d.addRun(c, p, run{at: -1, proof: max(outer.proof, inner.proof)})
						}
						continue
					}
					d.addRun(c, p, run{at: outer.at + inner.at, proof: max(outer.proof, inner.proof)})
				}
			}
		}
	}
}

// gaps returns the ranges of blocks of c that no placement covers.
func (d *decider) gaps(c int, placements []placement) [][2]int {
	var gaps [][2]int
	next := 0
	for _, place := range placements { // sorted by block
		if place.block > next {
			gaps = append(gaps, [2]int{next, place.block})
		}
		next = place.block + len(d.objects[place.p].Blocks)
	}
	if end := len(d.objects[c].Blocks); end > next {
		gaps = append(gaps, [2]int{next, end})
	}
	return gaps
}

// compareDocuments looks for the objects whose blocks say nothing in what no block explains.
func (d *decider) compareDocuments(c int, cover *cover) {
	gaps := d.gaps(c, cover.placements)
	if len(gaps) == 0 && len(cover.compare) == 0 {
		return
	}
	whole := [][2]int{{0, len(d.objects[c].Blocks)}}
	texts := map[[2]int]*text{}
	d.held(c, func(p int) {
		if !d.mayHold(c, p) || d.holds(c, p) {
			return
		}
		stacks := len(d.objects[p].Blocks) >= stackFrom && d.objects[p].Compression == d.objects[c].Compression
		where := gaps
		switch {
		case cover.compare[p]:
			where = whole
		case stacks && !cover.refuted:
			return // merges would have copied its blocks
		}
		d.compare(c, p, where, texts)
	})
}

// text is the documents of a range of blocks.
type text struct {
	docs []segment.Digest
	has  map[segment.Digest]bool
}

// textOf returns a range of blocks of c, all of which were read.
func (d *decider) textOf(c int, blocks [2]int, known map[[2]int]*text) *text {
	t := known[blocks]
	if t == nil {
		t = &text{docs: d.stores[c].docs(blocks[0], blocks[1])}
		t.has = make(map[segment.Digest]bool, len(t.docs))
		for _, doc := range t.docs {
			t.has[doc] = true
		}
		known[blocks] = t
	}
	return t
}

// compare looks for the documents of p in ranges of blocks of c.
func (d *decider) compare(c, p int, where [][2]int, texts map[[2]int]*text) {
	own, missing, fits := d.stores[p].unread > 0, false, false
	fitting := func(blocks [2]int) bool {
		return d.stores[c].firstDoc[blocks[1]]-d.stores[c].firstDoc[blocks[0]] >= int(d.objects[p].NumDocs)
	}
	for _, blocks := range where {
		if fitting(blocks) {
			fits = true
			missing = missing || !d.stores[c].hasAll(blocks[0], blocks[1])
		}
	}
	if !fits {
		return
	}
	if own || missing {
		// Both or none: half of it decides nothing.
		if own && d.stores[p].refused || missing && d.stores[c].refused {
			d.unchecked[p] = append(d.unchecked[p], c)
			return
		}
		if own && !d.stores[p].asked {
			d.need(p, d.stores[p].missing(0, len(d.objects[p].Blocks)))
			d.stores[p].asked = true
		}
		for _, blocks := range where {
			if texts[blocks] == nil && fitting(blocks) {
				if more := d.stores[c].missing(blocks[0], blocks[1]); len(more) > 0 {
					d.need(c, more)
					texts[blocks] = &text{} // asked for: nobody looks into it
				}
			}
		}
		return
	}
	first := d.stores[p].first()
	var docs []segment.Digest
	for _, blocks := range where {
		if !fitting(blocks) {
			continue
		}
		in := d.textOf(c, blocks, texts)
		if !in.has[first] {
			continue
		}
		if docs == nil {
			docs = d.stores[p].all()
		}
		for _, at := range find(docs, in.docs) {
			d.addRun(c, p, run{at: d.stores[c].firstDoc[blocks[0]] + at, proof: ByDocuments})
		}
	}
}

// find returns the places at which a sequence occurs in another one, overlapping ones too.
func find[T comparable](what, in []T) []int {
	if len(what) == 0 || len(what) > len(in) {
		return nil
	}
	// border[i] is the length of the longest proper prefix of what[:i] that ends it as well.
	border := make([]int, len(what)+1)
	border[0] = -1
	for i, k := 0, -1; i < len(what); {
		for k >= 0 && what[i] != what[k] {
			k = border[k]
		}
		i, k = i+1, k+1
		border[i] = k
	}
	var places []int
	k := 0
	for i := range in {
		for k >= 0 && (k == len(what) || in[i] != what[k]) {
			k = border[k]
		}
		if k++; k == len(what) {
			places = append(places, i+1-k)
		}
	}
	return places
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// segmentWindow is what six blocks in a row look like from outside.
type segmentWindow [stackFrom]segment.Block
