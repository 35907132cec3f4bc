package lineage

import "math"

// contradiction is a reason not to trust a family of splits: a node, and the nodes it contradicts.
type contradiction struct {
	reason Reason
	ids    []node
}

// validateEdges compares each child with its parents as far as they can be read. A writer copies or
// computes the child's metadata from its parents', so a difference means that the list, the metadata
// or the file is not what it seems, and nothing connected with it is decided.
//
// Merges (two or more parents): number of merge operations one above the greatest, documents the exact
// sum. Delete rewrites (one parent): same number of merge operations, at most as many documents, a
// greater delete opstamp. Both: same index, source, doc mapping. Times are never a reason.
func (d *decider) validateEdges() {
	for x := range d.order {
		for _, p := range d.parentsOf(node(x)) {
			d.family.join(node(x), p)
		}
	}
	for _, x := range d.selfParent {
		d.contradict(x, ReasonSelfParent)
	}
	for x := range d.order {
		if parents := d.parentsOf(node(x)); len(parents) > 0 {
			d.validateChild(node(x), parents)
		}
	}
}

func (d *decider) validateChild(x node, parents []node) {
	child := d.object(x)
	rewrite := len(parents) == 1
	readable, docs, ops := 0, uint64(0), uint64(0)
	for _, p := range parents {
		if d.place[p] == placeForeign {
			d.contradict(x, ReasonEdgeIndex, p)
			return
		}
		if !d.readable(p) {
			continue
		}
		parent := d.object(p)
		readable++
		docs, ops = addCapped(docs, parent.NumDocs), max(ops, parent.NumMergeOps)
		if reason := edgeFault(child, parent, rewrite); reason != 0 {
			d.contradict(x, reason, p)
			return
		}
	}
	if rewrite {
		return
	}
	switch {
	case readable == len(parents) && child.NumMergeOps != addCapped(ops, 1):
		d.contradict(x, ReasonEdgeMergeOps, parents...)
	case child.NumDocs < docs || readable == len(parents) && child.NumDocs != docs:
		d.contradict(x, ReasonEdgeDocs, parents...)
	}
}

// edgeFault returns what is wrong between a child and one of its parents, zero if nothing is.
func edgeFault(child, parent *Object, rewrite bool) Reason {
	switch {
	case child.SourceID != parent.SourceID:
		return ReasonEdgeSource
	case child.DocMappingUID != parent.DocMappingUID:
		return ReasonEdgeDocMapping
	case rewrite && child.NumMergeOps != parent.NumMergeOps, !rewrite && child.NumMergeOps <= parent.NumMergeOps:
		return ReasonEdgeMergeOps
	case rewrite && child.NumDocs > parent.NumDocs, !rewrite && child.NumDocs < parent.NumDocs:
		return ReasonEdgeDocs
	case rewrite && child.DeleteOpstamp <= parent.DeleteOpstamp:
		return ReasonEdgeOpstamp
	default:
		return 0
	}
}

// contradict puts the family of x aside. The first contradiction of a node and of a family is kept.
func (d *decider) contradict(x node, reason Reason, others ...node) {
	found := contradiction{reason, append([]node{x}, others...)}
	family := d.family.find(x)
	if _, known := d.bad[family]; !known {
		d.bad[family] = found
	}
	for _, at := range found.ids {
		if _, known := d.badAt[at]; !known {
			d.badAt[at] = found
		}
	}
}

func (d *decider) inconsistent(x node) bool {
	if len(d.bad) == 0 {
		return false
	}
	_, bad := d.bad[d.family.find(x)]
	return bad
}

func addCapped(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
