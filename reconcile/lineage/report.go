package lineage

import (
	"time"
)

// findings collects what a reader of the report should know beyond the single decisions.
func (d *decider) findings(plan *Plan) []Finding {
	var found []Finding
	add := func(code FindingCode, needsPerson bool, ids []string) {
		found = append(found, Finding{code, needsPerson, ids})
	}
	for _, group := range []struct {
		code        FindingCode
		needsPerson bool
		member      func(x node, decision *Decision) bool
	}{
		{FindingHiddenLink, true, func(_ node, decision *Decision) bool {
			return decision.Flags&FlagHiddenLink != 0 && decision.Kind != Wait
		}},
		{FindingYoungL0, false, func(_ node, decision *Decision) bool {
			return decision.Flags&FlagYoungL0 != 0 && decision.Kind != Wait
		}},
		{FindingUnreadable, true, func(x node, decision *Decision) bool {
			return decision.Kind == UnreadableObject && d.carrier[x] == none
		}},
		{FindingLegacyUndecided, true, func(_ node, decision *Decision) bool {
			return decision.Kind == LegacyUndecided && decision.Reason == ReasonLegacyUnlinked // else a finding about contents says more
		}},
		{FindingStagedBySomeone, true, func(_ node, decision *Decision) bool {
			return decision.Kind == StagedBySomeone && !d.options.Live
		}},
		{FindingWithheld, true, func(_ node, decision *Decision) bool { return decision.Kind == Withheld }},
		{FindingOtherIncarnations, d.options.IndexUID.Incarnation.IsZero(), func(_ node, decision *Decision) bool {
			return decision.Kind == ForeignIncarnation
		}},
	} {
		var ids []string
		for x := range plan.Decisions {
			if decision := &plan.Decisions[x]; group.member(node(x), decision) {
				ids = append(ids, decision.ID)
			}
		}
		if ids != nil {
			add(group.code, group.needsPerson, ids)
		}
	}
	for _, contradiction := range d.bad {
		add(FindingInconsistent, true, d.idsOf(contradiction.ids))
	}
	for x := range plan.Decisions {
		decision := &plan.Decisions[x]
		if decision.Kind == Orphan && decision.Flags&FlagAmbiguous != 0 {
			add(FindingAmbiguous, true, append([]string{decision.ID}, decision.Evidence...))
		}
		if decision.Kind == Orphan && decision.Flags&FlagPossibleLoss != 0 {
			add(FindingPossibleLoss, true, append([]string{decision.ID}, d.idsOf(d.lost[node(x)])...))
		}
	}
	for _, row := range plan.Rows {
		switch row.Kind {
		case RowStale:
			add(FindingStalePublished, true, []string{row.ID, row.By})
		case RowWithoutObject:
			add(FindingPublishedWithoutObject, true, []string{row.ID})
		}
	}
	found = append(found, d.indexFindings(plan)...)
	sortFindings(found)
	return found
}

// indexFindings are about the index as a whole.
func (d *decider) indexFindings(plan *Plan) []Finding {
	var found []Finding
	if len(plan.Decisions) > 0 && !d.options.GCHealthy && !d.options.Live {
		found = append(found, Finding{Code: FindingAgeRuleOff})
	}
	publishes := false
	for x := range plan.Decisions {
		publishes = publishes || plan.Decisions[x].Kind == Publish
	}
	if !publishes {
		return found
	}
	last := d.options.LastMark
	recent := last.Set && last.Value >= d.clock.reference-int64(d.options.MarkedHorizon/time.Second)-d.clock.skew
	if recent || !last.Set {
		found = append(found, Finding{Code: FindingRecentMarkRisk, NeedsPerson: recent})
	}
	return found
}

func (d *decider) idsOf(nodes []node) []string {
	ids := make([]string, len(nodes))
	for i, x := range nodes {
		ids[i] = d.ids[x]
	}
	return ids
}
