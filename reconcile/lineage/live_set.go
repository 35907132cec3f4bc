package lineage

import "holdfast/metastore"

// findLive collects what holds the index's documents: every readable object that is no orphan and was
// not replaced, and the legacy objects that their content or age proves live.
func (d *decider) findLive() {
	legacyDecidable := d.legacyDecidable()
	for x := range d.order {
		x := node(x)
		if d.orphan(x) || d.superseded(x) || d.inconsistent(x) || d.state(x) == metastore.MarkedForDeletion {
			continue
		}
		switch d.place[x] {
		case placeReadable:
			// In a running cluster a Staged row is work in progress and holds nothing yet.
			d.live[x] = !d.options.Live || d.state(x) != metastore.Staged
			if d.live[x] && len(d.parentsOf(x)) == 0 && !d.everPublished(x) {
				d.flags[x] |= FlagYoungL0
			}
		case placeLegacy:
			d.live[x] = d.legacyLive(x, legacyDecidable)
			if d.live[x] && d.verdict(x).Indexed && d.state(x) != metastore.Published && !d.clock.provesPublished(d.object(x)) {
				d.flags[x] |= FlagYoungL0
			}
		}
	}
}

// legacyDecidable says whether the newest legacy object is older than the horizon. Then the parents of
// every legacy object have been collected, and whatever replaced one has an entry that lists it. With
// younger ones, parents and children may lie side by side without a link.
func (d *decider) legacyDecidable() bool {
	if !d.options.GCHealthy || d.options.Live {
		return false
	}
	for x := range d.order {
		if d.place[x] == placeLegacy && !d.clock.old(d.object(node(x))) {
			return false
		}
	}
	return true
}

// findPossibleLoss looks for parents of orphans that are gone and that no live split contains as far
// as the lists tell.
func (d *decider) findPossibleLoss() {
	d.findCarriers()
	for x := range d.order {
		x := node(x)
		if !d.orphan(x) || d.inconsistent(x) || d.state(x) == metastore.MarkedForDeletion {
			continue
		}
		for _, p := range d.parentsOf(x) {
			// What complete rows have marked was replaced or given up when somebody still knew why.
			accounted := d.state(p) == metastore.MarkedForDeletion && (d.options.RowsComplete || d.options.Live)
			if d.gone(p) && d.carrier[p] == none && !accounted {
				d.flags[x] |= FlagPossibleLoss
				d.lost[x] = append(d.lost[x], p)
			}
		}
	}
}

// findCarriers notes for each known ancestor of a live split which one holds its documents. Two live
// splits have no ancestor in common that lists can tell; if they had, the smaller id would take it, so
// that no row is replaced twice.
func (d *decider) findCarriers() {
	var stack []node
	for x := range d.order {
		if !d.live[x] {
			continue
		}
		stack = append(stack[:0], node(x))
		for len(stack) > 0 {
			c := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, held := range [][]node{d.parentsOf(c), d.contains[c]} {
				for _, p := range held {
					if d.carrier[p] == none {
						d.carrier[p] = node(x)
						stack = append(stack, p)
					}
				}
			}
		}
	}
}
