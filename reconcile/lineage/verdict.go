package lineage

import "holdfast/metastore"

// Verdict is what the content of an index's files proves about one of them: where nothing lists its
// parents, its documents tell. The zero value is that nothing was compared.
type Verdict struct {
	Kind VerdictKind
	// By are the objects that it rests on.
	By []string
	// Indexed says that the object came from an indexer, and so replaced nothing.
	Indexed bool
}

// VerdictKind is what is proven.
type VerdictKind uint8

const (
	// NotCompared: nothing is known.
	NotCompared VerdictKind = iota
	// HoldsItsOwn: no live object holds its documents. For legacy objects only.
	HoldsItsOwn
	// Held: the first object of By holds its documents.
	Held
	// HeldPiecemeal: the objects of By hold its documents between them. For legacy objects only.
	HeldPiecemeal
	// HeldPerhaps: a person has to decide whether those of By hold them. For legacy objects only.
	HeldPerhaps
	// NotRead: what would tell was not read; By may hold its documents. For legacy objects only.
	NotRead
)

// takeVerdicts takes over what content proves beyond the lists.
func (d *decider) takeVerdicts() {
	if d.options.Live {
		return
	}
	nodes := make(map[string]node)
	for x := range d.order {
		nodes[d.ids[x]] = node(x)
	}
	for x := range d.order {
		x := node(x)
		verdict := d.verdict(x)
		for _, id := range verdict.By {
			if by, there := nodes[id]; there && by != x {
				d.verdictBy[x] = append(d.verdictBy[x], by)
			}
		}
		by := d.verdictBy[x]
		if len(by) == 0 || d.superseded(x) || d.orphan(x) || d.inconsistent(x) {
			continue
		}
		switch {
		case verdict.Kind == Held:
			d.replaced[x] = replacement{by: by[0], content: true}
			d.contains[by[0]] = append(d.contains[by[0]], x)
		case verdict.Kind == HeldPiecemeal && d.place[x] == placeLegacy:
			d.orphanOf[x] = orphanhood{ReasonContentPiecemeal, by[0]}
			d.excluded[x] = by[:min(len(by), evidenceLimit)]
		}
	}
}

// verdict returns what content proves about an object.
func (d *decider) verdict(x node) *Verdict { return &d.object(x).Verdict }

// legacyLive says whether a legacy object is live: by its row, its content, or the age of all of them.
func (d *decider) legacyLive(x node, decidable bool) bool {
	if d.state(x) == metastore.Published {
		return true
	}
	switch d.verdict(x).Kind {
	case HoldsItsOwn:
		return !d.options.Live
	case NotCompared, NotRead:
		return decidable && d.clock.provesPublished(d.object(x))
	default:
		return false
	}
}

// judgeUndecided says why a legacy object is left to a person.
func (d *decider) judgeUndecided(x node) (Kind, Reason, []node) {
	by := d.verdictBy[x]
	switch d.verdict(x).Kind {
	case HeldPerhaps:
		return LegacyUndecided, ReasonContentLikely, by[:min(len(by), evidenceLimit)]
	case NotRead:
		return LegacyUndecided, ReasonContentNotRead, by[:min(len(by), evidenceLimit)]
	default:
		return LegacyUndecided, ReasonLegacyUnlinked, nil
	}
}

// Comparison says how an object takes part in a comparison of contents that follows a first decision.
type Comparison uint8

const (
	// CompareNot: it is left out. It cannot be read, is of another index, or was never published.
	CompareNot Comparison = iota
	// CompareOpen: its content may tell more.
	CompareOpen
	// CompareClosed: it was replaced, and so was all that it holds.
	CompareClosed
)

// Compared returns how the object of the decision takes part in a comparison of contents.
func (d *Decision) Compared() Comparison {
	switch d.Kind {
	case Publish, AlreadyPublished, LegacyUndecided, StagedBySomeone, Withheld, Inconsistent:
		return CompareOpen
	case Superseded:
		return CompareClosed
	case Marked:
		if d.everPublished {
			return CompareClosed
		}
	}
	return CompareNot
}
