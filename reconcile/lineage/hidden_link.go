package lineage

import (
	"math"

	"holdfast/metastore"
)

// findHiddenLinks flags live splits whose documents another live split may contain through a split
// that is gone, so that no list tells.
//
// The other split, d, must have an ancestor without a readable object, else all its links are known.
// Its documents come from one source, doc mapping and partition, and overlap in time with those of x.
//
// If x is an ancestor of d, at least two steps lie between them, the hidden split and d. A merge
// counts one more merge operation than any parent, a rewrite as many as its parent; where no
// delete task ever ran, d counts two more than x. And d was created after x.
//
// A contender x may instead be the sibling of an ancestor of d, by a parent in common: then the same
// holds of its parents. It was planned before d, but may have taken long.
func (d *decider) findHiddenLinks() {
	incomplete := d.incomplete()
	trees := map[scopeKey]*boxTree{}
	for x := range d.order {
		if x := node(x); d.live[x] && d.readable(x) && incomplete[x] {
			key := d.scopeKey(x)
			if trees[key] == nil {
				trees[key] = &boxTree{}
			}
			object := d.object(x)
			box := point{x: x, create: object.CreateTimestamp, ops: effectiveOps(object.NumMergeOps, len(d.parentsOf(x)))}
			box.start, box.end = timeRange(object)
			trees[key].add(box)
		}
	}
	for _, tree := range trees {
		tree.build()
	}
	opaque, gap := d.newestOpaque(), d.leastGap()
	d.findLegacyHiddenLinks(incomplete, opaque)
	for x := range d.order {
		x := node(x)
		if !d.live[x] || !d.readable(x) {
			continue
		}
		q := query{x: x}
		q.ops, q.create = d.ancestorBounds(x, gap)
		q.start, q.end = timeRange(d.object(x))
		found := none
		if tree := trees[d.scopeKey(x)]; tree != nil {
			found = tree.find(q)
		}
		if found == none && opaque != none && d.state(x) != metastore.Published &&
			(d.options.IgnoreLastModified || d.object(opaque).LastModified >= q.create) {
			found = opaque
		}
		if found != none {
			d.suspect(x, found)
		}
	}
}

// findLegacyHiddenLinks does the same for live legacy objects, of which only the age is known. One with
// an old Published row may be contained in a split that is now to be published and has an incomplete
// ancestry. One that is live for its age was replaced, if at all, so shortly before the loss that it
// was not yet collected, and so by an ancestor of a split that is younger than the horizon.
func (d *decider) findLegacyHiddenLinks(incomplete []bool, opaque node) {
	newestRowless, newestYoung := none, none
	later := func(x, than node) bool {
		return than == none || d.object(x).CreateTimestamp > d.object(than).CreateTimestamp
	}
	for x := range d.order {
		x := node(x)
		if !d.live[x] || !incomplete[x] {
			continue
		}
		if d.state(x) != metastore.Published && later(x, newestRowless) {
			newestRowless = x
		}
		if !d.clock.old(d.object(x)) && later(x, newestYoung) {
			newestYoung = x
		}
	}
	for x := range d.order {
		x := node(x)
		if !d.live[x] || d.place[x] != placeLegacy {
			continue
		}
		if d.verdict(x).Kind == HoldsItsOwn {
			// It was compared with all that can be read.
			if opaque != none && opaque != x && d.place[opaque] != placeLegacy {
				d.suspect(x, opaque)
			}
			continue
		}
		since, found := d.object(x).CreateTimestamp-d.clock.skew, newestYoung
		if d.state(x) == metastore.Published {
			found = newestRowless
		} else if found == none && opaque != none && (d.options.IgnoreLastModified || d.object(opaque).LastModified >= since) {
			d.suspect(x, opaque)
			continue
		}
		if found != none && d.object(found).CreateTimestamp >= since {
			d.suspect(x, found)
		}
	}
}

func (d *decider) suspect(x, of node) {
	d.linkedTo[x] = of
	d.flags[x] |= FlagHiddenLink
}

// newestOpaque returns the last written of the objects that searches see and whose parents are unknown,
// or none: whatever is older than it and not known to be published may be contained in it.
func (d *decider) newestOpaque() node {
	newest := none
	for x := range d.order {
		x := node(x)
		if d.state(x) != metastore.Published || d.readable(x) || d.superseded(x) || d.place[x] == placeLegacy && d.clock.provesPublished(d.object(x)) {
			continue
		}
		if newest == none || d.object(x).LastModified > d.object(newest).LastModified {
			newest = x
		}
	}
	return newest
}

// incomplete marks the splits with an ancestor of which no readable object exists.
func (d *decider) incomplete() []bool {
	marked := make([]bool, len(d.ids))
	var stack []node
	for x := range d.ids {
		if !d.readable(node(x)) {
			stack = append(stack, node(x))
		}
	}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, c := range d.childrenOf(p) {
			if !marked[c] {
				marked[c] = true
				stack = append(stack, c)
			}
		}
	}
	return marked
}

// scopeKey is what documents keep through merges and rewrites.
type scopeKey struct {
	source     string
	docMapping [16]byte
	partition  uint64
}

func (d *decider) scopeKey(x node) scopeKey {
	object := d.object(x)
	return scopeKey{object.SourceID, object.DocMappingUID, object.PartitionID}
}

// effectiveOps is the greatest number of merge operations that an ancestor can have, plus one: a
// rewrite keeps the number, a merge is above it.
func effectiveOps(ops uint64, parents int) uint64 {
	if parents == 1 {
		return addCapped(ops, 1)
	}
	return ops
}

// leastGap is by how much the effective merge operations of a split exceed those of an ancestor that
// is not its parent.
func (d *decider) leastGap() uint64 {
	if !d.options.NoDeleteTasks {
		return 1
	}
	for x := range d.order {
		if d.readable(node(x)) && (d.object(node(x)).DeleteOpstamp > 0 || len(d.parentsOf(node(x))) == 1) {
			return 1 // there was one
		}
	}
	return 2
}

// longestMerge bounds the time from the planning of a merge to its create timestamp, in seconds.
const longestMerge = 24 * 3600

// ancestorBounds returns the least effective number of merge operations and the least create timestamp
// of a split that may contain x.
func (d *decider) ancestorBounds(x node, gap uint64) (ops uint64, create int64) {
	object := d.object(x)
	ops, margin := object.NumMergeOps, d.clock.skew
	if d.accepted[x] {
		margin += longestMerge
		if len(d.parentsOf(x)) > 1 {
			for _, p := range d.parentsOf(x) {
				if !d.readable(p) {
					ops = 0
					break
				}
				ops = min(ops, d.object(p).NumMergeOps)
			}
		}
	}
	if object.CreateTimestamp < math.MinInt64+margin {
		return addCapped(ops, gap), math.MinInt64
	}
	return addCapped(ops, gap), object.CreateTimestamp - margin
}

// timeRange is everything when the range is unknown or upside down.
func timeRange(object *Object) (start, end int64) {
	if r := object.TimeRange; r.Set && r.Value.Start <= r.Value.End {
		return r.Value.Start, r.Value.End
	}
	return math.MinInt64, math.MaxInt64
}
