package lineage

import (
	"slices"

	"holdfast/metastore"
)

// evidenceLimit bounds the ids that one decision names, since one list may name very many.
const evidenceLimit = 20

func (d *decider) decisions() []Decision {
	replaced := d.replacedRows()
	decisions := make([]Decision, len(d.order))
	var evidence arena
	for x := range decisions {
		decision := &decisions[x]
		*decision = Decision{ID: d.ids[x], Row: d.state(node(x)), Flags: d.flags[x], everPublished: d.everPublished(node(x))}
		var nodes []node
		decision.Kind, decision.Reason, nodes = d.judge(node(x))
		for _, at := range nodes {
			evidence.add(d.ids[at])
		}
		decision.Evidence = evidence.take()
		if decision.Kind == Publish {
			decision.AlreadyStaged = decision.Row == metastore.Staged
			decision.ForceMature = d.forceMature(node(x))
			decision.ReplacedSplitIDs = replaced[node(x)]
		}
	}
	return decisions
}

// judge turns what the steps found about an object into a decision. The evidence is in a slice that
// the next call may overwrite.
func (d *decider) judge(x node) (Kind, Reason, []node) {
	switch {
	case d.place[x] == placeUnreadable:
		return UnreadableObject, ReasonUnreadable, d.known(d.carrier[x])
	case d.place[x] == placeForeign:
		if d.object(x).IndexUID.IndexID != d.options.IndexUID.IndexID {
			return ForeignIncarnation, ReasonOtherIndex, nil
		}
		return ForeignIncarnation, ReasonOtherIncarnation, nil
	case d.state(x) == metastore.MarkedForDeletion:
		return Marked, ReasonRow, nil
	case d.options.Live && d.state(x) == 0 && d.waitReason(x) != 0:
		return Wait, d.waitReason(x), nil
	case d.inconsistent(x):
		return d.judgeInconsistent(x)
	case d.orphan(x):
		if len(d.excluded[x]) > 0 {
			return Orphan, d.orphanOf[x].reason, d.excluded[x]
		}
		return Orphan, d.orphanOf[x].reason, d.known(d.orphanOf[x].by)
	case d.superseded(x):
		if d.replaced[x].content {
			return Superseded, ReasonContentHeld, d.known(d.replaced[x].by)
		}
		if d.replaced[x].accepted {
			return Superseded, ReasonReplacedByAccepted, d.known(d.replaced[x].by)
		}
		return Superseded, ReasonReplaced, d.known(d.replaced[x].by)
	case d.state(x) == metastore.Published:
		return AlreadyPublished, ReasonRow, d.known(d.linkedTo[x])
	case d.state(x) == metastore.Staged && !d.mayPublishStaged(d.row(x)):
		if d.row(x).EqualsObject {
			return StagedBySomeone, ReasonRowStaged, nil
		}
		return StagedBySomeone, ReasonRowStagedDiffers, nil
	case !d.live[x]:
		return d.judgeUndecided(x)
	default:
		return d.judgeLive(x)
	}
}

func (d *decider) judgeInconsistent(x node) (Kind, Reason, []node) {
	found, direct := d.badAt[x]
	reason := found.reason
	if !direct {
		found, reason = d.bad[d.family.find(x)], ReasonConnected
	}
	var others []node
	for _, at := range found.ids {
		if at != x && len(others) < evidenceLimit {
			others = append(others, at)
		}
	}
	return Inconsistent, reason, others
}

func (d *decider) judgeLive(x node) (Kind, Reason, []node) {
	switch {
	case d.options.Live && !d.options.LiveRecover:
		return Withheld, ReasonLiveDrift, d.known(d.linkedTo[x])
	case d.flags[x]&FlagHiddenLink != 0 && d.options.HiddenLink == Withhold:
		return Withheld, ReasonPolicyHiddenLink, d.known(d.linkedTo[x])
	case d.flags[x]&FlagYoungL0 != 0 && d.options.YoungL0 == Withhold:
		return Withheld, ReasonPolicyYoungL0, nil
	}
	return Publish, d.publishReason(x), append(slices.Clone(d.excluded[x]), d.known(d.linkedTo[x])...)
}

func (d *decider) publishReason(x node) Reason {
	switch {
	case d.place[x] == placeLegacy && d.verdict(x).Kind == HoldsItsOwn:
		return ReasonContentLive
	case d.place[x] == placeLegacy:
		return ReasonLegacyOld
	case d.accepted[x] && len(d.excluded[x]) > 0:
		return ReasonChosen
	case d.accepted[x]:
		return ReasonOnlyChild
	case d.proof[x] == proofList:
		return ReasonProvenByList
	case d.proof[x] == proofAge:
		return ReasonProvenByAge
	default:
		return ReasonUnlisted
	}
}

// mayPublishStaged: a row that somebody else staged may belong to an upload that is still running.
func (d *decider) mayPublishStaged(row *Row) bool {
	return !d.options.Live && row.EqualsObject && (row.Ours || d.options.AdoptStaged)
}

func (d *decider) forceMature(x node) bool {
	doubts := FlagHiddenLink | FlagAmbiguous
	if d.options.YoungL0 != PublishUnchanged {
		doubts |= FlagYoungL0
	}
	return d.flags[x]&doubts != 0 || d.place[x] == placeLegacy || d.options.Live
}

func (d *decider) known(x node) []node {
	if x == none {
		return nil
	}
	return []node{x}
}

// arena cuts many short lists of ids from few allocations.
type arena struct {
	block []string
	start int
}

func (a *arena) add(id string) {
	if len(a.block) == cap(a.block) {
		const size = 4096
		block := make([]string, 0, size+len(a.block)-a.start)
		a.block, a.start = append(block, a.block[a.start:]...), 0
	}
	a.block = append(a.block, id)
}

func (a *arena) take() []string {
	if a.start == len(a.block) {
		return nil
	}
	taken := a.block[a.start:len(a.block):len(a.block)]
	a.start = len(a.block)
	return taken
}
