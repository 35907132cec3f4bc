package lineage

import (
	"cmp"
	"slices"

	"holdfast/metastore"
)

// replacedRows returns for each live split the ids of its known ancestors whose rows are still
// Published, as rows from an old backup are. Publishing the split must replace them in the same call,
// or its documents would show twice.
func (d *decider) replacedRows() map[node][]string {
	replaced := map[node][]string{}
	if len(d.rows) == 0 {
		return replaced
	}
	for p := range d.ids {
		if x := d.carrier[p]; x != none && d.state(node(p)) == metastore.Published {
			replaced[x] = append(replaced[x], d.ids[p])
		}
	}
	for _, ids := range replaced {
		slices.Sort(ids)
	}
	return replaced
}

func (d *decider) rowDecisions(decisions []Decision) []RowDecision {
	if len(d.rows) == 0 {
		return nil
	}
	var rows []RowDecision
	for p := range d.ids {
		p := node(p)
		if d.state(p) != metastore.Published {
			continue
		}
		switch x := d.carrier[p]; {
		case x != none && decisions[x].Kind == Publish:
			rows = append(rows, RowDecision{d.ids[p], RowReplaced, d.ids[x]})
		case x != none:
			rows = append(rows, RowDecision{d.ids[p], RowStale, d.ids[x]})
		case d.superseded(p):
			rows = append(rows, RowDecision{d.ids[p], RowStale, d.ids[d.replaced[p].by]})
		case d.place[p] != placeReadable && d.place[p] != placeLegacy:
			rows = append(rows, RowDecision{ID: d.ids[p], Kind: RowWithoutObject})
		}
	}
	slices.SortFunc(rows, func(a, b RowDecision) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}
