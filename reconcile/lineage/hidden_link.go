package lineage

import (
	"math"

	"holdfast/metastore"
)

// findHiddenLinks flags live splits whose documents another live split may contain through a split
// that is gone, so that no list tells.
//
// The other split, d, must have an ancestor without a readable object, else all its links are known.
// Its documents come from one source, doc mapping and partition. With x an ancestor of d, the number
// of merge operations of d is at least that of x, and greater if d is a merge; and d was created after
// x. A contender x may instead be the sibling of an ancestor of d, through a parent in common: then
// the same holds of its parents. Splits with a document in common overlap in time.
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
	opaque := d.newestOpaque()
	for x := range d.order {
		x := node(x)
		if !d.live[x] || !d.readable(x) {
			continue
		}
		q := query{x: x}
		q.ops, q.create = d.ancestorBounds(x)
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
			d.linkedTo[x] = found
			d.flags[x] |= FlagHiddenLink
		}
	}
}

// newestOpaque returns the last written of the objects that searches see and whose parents are unknown,
// or none: whatever is older than it and not known to be published may be contained in it.
func (d *decider) newestOpaque() node {
	newest := none
	for x := range d.order {
		x := node(x)
		if d.state(x) != metastore.Published || d.readable(x) || d.place[x] == placeLegacy && d.clock.provesPublished(d.object(x)) {
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

// ancestorBounds returns the least effective number of merge operations and the least create timestamp
// of a split that may contain x.
func (d *decider) ancestorBounds(x node) (ops uint64, create int64) {
	object := d.object(x)
	ops, create = object.NumMergeOps, object.CreateTimestamp
	if d.accepted[x] {
		for _, p := range d.parentsOf(x) {
			if !d.readable(p) {
				return 1, math.MinInt64
			}
			ops, create = min(ops, d.object(p).NumMergeOps), min(create, d.object(p).CreateTimestamp)
		}
	}
	if create < math.MinInt64+d.clock.skew {
		return addCapped(ops, 1), math.MinInt64
	}
	return addCapped(ops, 1), create - d.clock.skew
}

// timeRange is everything when the range is unknown or upside down.
func timeRange(object *Object) (start, end int64) {
	if r := object.TimeRange; r.Set && r.Value.Start <= r.Value.End {
		return r.Value.Start, r.Value.End
	}
	return math.MinInt64, math.MaxInt64
}
