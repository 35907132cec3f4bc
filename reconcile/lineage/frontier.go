package lineage

import (
	"cmp"
	"math/bits"
	"slices"

	"holdfast/metastore"
)

// searchLimit is the size up to which all selections of a contested group are compared.
const searchLimit = 10

// contender is a member of the frontier: a split with parents that nothing proves to have been
// published, and nothing proves not to.
type contender struct {
	x      node
	group  node
	weight int  // parents that are gone: their documents are in their children only
	legacy int  // parents that only a person could publish
	needed bool // a parent of it is gone and listed by no other contender
}

// decideFrontier chooses among the splits that compete for parents. Publishing one of them in place of
// its parents is exact whether or not it was published, as it holds their documents; publishing two
// that share a parent would show documents twice.
func (d *decider) decideFrontier() {
	groups := newDisjointSets(len(d.order))
	var frontier []contender
	for x := range d.order {
		if d.inFrontier(node(x)) {
			frontier = append(frontier, contender{x: node(x)})
		}
	}
	listedBy := make([]int32, len(d.ids)) // contenders that list a node
	last := make([]node, len(d.ids))
	for _, c := range frontier {
		for _, p := range d.parentsOf(c.x) {
			if listedBy[p]++; listedBy[p] > 1 {
				groups.join(last[p], c.x)
			}
			last[p] = c.x
		}
	}
	for i := range frontier {
		c := &frontier[i]
		c.group = groups.find(c.x)
		for _, p := range d.parentsOf(c.x) {
			switch {
			case d.gone(p):
				c.weight++
				c.needed = c.needed || listedBy[p] == 1
			case d.place[p] == placeLegacy:
				c.legacy++
			}
		}
	}
	slices.SortFunc(frontier, d.compareContenders)
	for start := 0; start < len(frontier); {
		end := start + 1
		for end < len(frontier) && frontier[end].group == frontier[start].group {
			end++
		}
		d.decideGroup(frontier[start:end])
		start = end
	}
}

// gone says that a node's documents cannot be had from an object of its own: there is none that can be
// read, or its row is marked and stays so.
func (d *decider) gone(x node) bool {
	return d.place[x] != placeReadable && d.place[x] != placeLegacy || d.state(x) == metastore.MarkedForDeletion
}

func (d *decider) inFrontier(x node) bool {
	if !d.readable(x) || len(d.parentsOf(x)) == 0 || d.everPublished(x) || d.orphan(x) || d.inconsistent(x) {
		return false
	}
	if d.options.Live {
		return d.state(x) == 0 && d.waitReason(x) == 0
	}
	return d.state(x) != metastore.MarkedForDeletion // marked before it was published: it never was
}

// compareContenders orders by group and, in a group, by preference: those that alone hold a parent that
// is gone, those with parents that are gone, those that nobody else staged, delete rewrites (deletions
// stay applied), later ones among those, more legacy parents, more parents, more documents, smaller id.
func (d *decider) compareContenders(a, b contender) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		default:
			return 1
		}
	}
	generation := func(x node) uint64 { // of deletions; merges come after all rewrites
		if len(d.parentsOf(x)) > 1 {
			return 0
		}
		return addCapped(d.object(x).DeleteOpstamp, 1)
	}
	na, nb := len(d.parentsOf(a.x)), len(d.parentsOf(b.x))
	return cmp.Or(
		cmp.Compare(a.group, b.group),
		first(a.needed, b.needed),
		first(a.weight > 0, b.weight > 0),
		first(d.publishable(a.x), d.publishable(b.x)),
		cmp.Compare(generation(b.x), generation(a.x)),
		cmp.Compare(b.legacy, a.legacy),
		cmp.Compare(nb, na),
		cmp.Compare(d.object(b.x).NumDocs, d.object(a.x).NumDocs),
		cmp.Compare(a.x, b.x), // nodes are numbered by id
	)
}

func (d *decider) publishable(x node) bool {
	return d.state(x) != metastore.Staged || d.mayPublishStaged(d.row(x))
}

func (d *decider) decideGroup(group []contender) {
	if len(group) == 1 {
		d.accept(group[0].x)
		return
	}
	chosen := d.chooseGreedily(group)
	if len(group) <= searchLimit {
		chosen = d.chooseBest(group)
	}
	holder := map[node]node{} // parent -> the accepted contender that lists it
	for i, c := range group {
		if chosen[i] {
			d.accept(c.x)
			for _, p := range d.parentsOf(c.x) {
				holder[p] = c.x
			}
		}
	}
	for i, c := range group {
		if chosen[i] {
			continue
		}
		uncovered := false
		for _, p := range d.parentsOf(c.x) {
			if winner, held := holder[p]; held {
				d.exclude(c.x, winner)
				d.exclude(winner, c.x)
			} else {
				uncovered = uncovered || d.gone(p)
			}
		}
		d.orphanOf[c.x] = orphanhood{ReasonSiblingChosen, d.excluded[c.x][0]}
		if !uncovered {
			continue
		}
		d.flags[c.x] |= FlagAmbiguous
		for _, p := range d.parentsOf(c.x) {
			if winner, held := holder[p]; held {
				d.flags[winner] |= FlagAmbiguous
			}
		}
	}
}

// exclude notes that x is excluded by other, or the other way round, as evidence.
func (d *decider) exclude(x, other node) {
	if known := d.excluded[x]; len(known) < evidenceLimit && !slices.Contains(known, other) {
		d.excluded[x] = append(known, other)
	}
}

func (d *decider) accept(x node) {
	d.accepted[x] = true
	d.supersedeParents(x, true)
}

// chooseGreedily walks the group in order and takes whoever shares no parent with one already taken.
func (d *decider) chooseGreedily(group []contender) []bool {
	chosen, held := make([]bool, len(group)), map[node]bool{}
	for i, c := range group {
		parents := d.parentsOf(c.x)
		if slices.ContainsFunc(parents, func(p node) bool { return held[p] }) {
			continue
		}
		chosen[i] = true
		for _, p := range parents {
			held[p] = true
		}
	}
	return chosen
}

// chooseBest compares all selections without a shared parent and takes one that covers the most parents that
// are gone: those that are there can be published instead. Among equals it takes what the walk of chooseGreedily comes to first.
func (d *decider) chooseBest(group []contender) []bool {
	var conflicts [searchLimit]uint16
	holders := map[node]uint16{}
	for i, c := range group {
		for _, p := range d.parentsOf(c.x) {
			holders[p] |= 1 << i
		}
	}
	for i, c := range group {
		for _, p := range d.parentsOf(c.x) {
			conflicts[i] |= holders[p]
		}
	}
	best, bestWeight := uint16(0), -1
	var walk func(i int, taken, barred uint16, weight int)
	walk = func(i int, taken, barred uint16, weight int) {
		if i == len(group) {
			if weight > bestWeight {
				best, bestWeight = taken, weight
			}
			return
		}
		if barred&(1<<i) == 0 {
			walk(i+1, taken|1<<i, barred|conflicts[i], weight+group[i].weight)
		}
		walk(i+1, taken, barred, weight)
	}
	walk(0, 0, 0, 0)
	chosen := make([]bool, len(group))
	for ; best != 0; best &= best - 1 {
		chosen[bits.TrailingZeros16(best)] = true
	}
	return chosen
}
