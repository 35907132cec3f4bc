package lineage

import "holdfast/metastore"

// findEverPublished collects what is known to have been published at some time: what a list names
// (inputs of merges and rewrites are published splits), what a row says, and what is so old that it
// would be gone otherwise.
func (d *decider) findEverPublished() {
	for x := range d.ids {
		row := d.row(node(x))
		switch {
		case row != nil && (row.State == metastore.Published || row.State == metastore.MarkedForDeletion && row.PublishTimestampSet):
			d.proof[x] = proofRow
		case len(d.childrenOf(node(x))) > 0:
			d.proof[x] = proofList
		case x < len(d.order) && d.readable(node(x)) && d.state(node(x)) != metastore.MarkedForDeletion && d.clock.provesPublished(d.object(node(x))):
			d.proof[x] = proofAge
		}
	}
}

// discardLosers finds the splits that cannot have been published: a split is replaced at most once, so
// the siblings of a published child were not published; and a split can only be published while its
// parents are, so one that was not when a parent's row was marked never was. For that the rows must be
// known to be complete: else its own row may have been Published and got lost, and a Staged one may be
// what a recovery left behind.
//
// An orphan's list still proves that its parents were published.
func (d *decider) discardLosers() {
	for a := range d.ids {
		children := d.childrenOf(node(a))
		if len(children) == 0 {
			continue
		}
		first, published := none, 0
		for _, c := range children {
			if d.everPublished(c) {
				if published++; published == 1 {
					first = c
				}
			}
		}
		switch {
		case published > 1:
			d.contradictSiblings(node(a))
		case published == 1:
			for _, c := range children {
				if c != first && !d.orphan(c) {
					d.orphanOf[c] = orphanhood{ReasonSiblingPublished, first}
				}
			}
		}
	}
	for x := range d.order {
		for _, p := range d.parentsOf(node(x)) {
			d.discardByParentRow(node(x), p)
		}
	}
}

func (d *decider) discardByParentRow(x, p node) {
	state, own := d.state(p), d.state(x)
	switch {
	case state == metastore.MarkedForDeletion && (d.options.Live || d.options.RowsComplete) && !d.everPublished(x):
		if !d.orphan(x) {
			d.orphanOf[x] = orphanhood{ReasonParentMarked, p}
		}
	case state == metastore.Published && d.options.Live && own == 0:
		if d.everPublished(x) {
			// A list says that x was published, the row of p that it was not.
			d.contradict(x, ReasonParentPublished, p)
		} else if !d.orphan(x) {
			d.orphanOf[x] = orphanhood{ReasonParentPublished, p}
		}
	}
}

func (d *decider) contradictSiblings(a node) {
	var published []node
	for _, c := range d.childrenOf(a) {
		if d.everPublished(c) {
			published = append(published, c)
		}
	}
	d.contradict(a, ReasonTwoPublishedChildren, published...)
}

// supersedeByPublished: whoever was published replaced its parents for good, even if it is itself
// replaced by now.
func (d *decider) supersedeByPublished() {
	for x := range d.order {
		c := node(x)
		if d.readable(c) && d.everPublished(c) && !d.orphan(c) && !d.inconsistent(c) {
			d.supersedeParents(c, false)
		}
	}
}

func (d *decider) supersedeParents(c node, accepted bool) {
	for _, p := range d.parentsOf(c) {
		if !d.superseded(p) {
			d.replaced[p] = replacement{by: c, accepted: accepted}
		}
	}
}
