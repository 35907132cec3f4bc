package lineage

import (
	"cmp"
	"slices"
)

// Finding is something that a reader of the report should know.
type Finding struct {
	Code FindingCode
	// NeedsPerson is set when someone has to look, because nothing that can be read decides it.
	NeedsPerson bool
	// IDs are the splits concerned; what each place means is said with the code.
	IDs []string
}

// FindingCode is the kind of a finding. Its names are stable.
type FindingCode string

// The findings.
const (
	// FindingAmbiguous: the first id was not published because of the others, and each side holds
	// documents that nothing else holds.
	FindingAmbiguous FindingCode = "ambiguous"
	// FindingPossibleLoss: the first id is an orphan that holds documents of its parents, the other
	// ids, which are gone and which no live split contains. Keep its file.
	FindingPossibleLoss FindingCode = "possible-loss"
	// FindingInconsistent: the ids contradict each other; nothing of their family is published. When
	// the reason is edge-index, an alias may be missing.
	FindingInconsistent FindingCode = "inconsistent"
	// FindingHiddenLink: the ids may be contained in other live splits; see their evidence.
	FindingHiddenLink FindingCode = "hidden-link"
	// FindingYoungL0: nothing proves that the ids were published.
	FindingYoungL0 FindingCode = "young-l0"
	// FindingRecentMarkRisk: splits that retention, a person or a delete task marked within the marked
	// horizon before the loss come back. No ids. It needs a person when Options.LastMark says that
	// this happened; it is left out when LastMark says that it did not.
	FindingRecentMarkRisk FindingCode = "recent-mark-risk"
	// FindingUnreadable: the ids could not be read and no live split contains them.
	FindingUnreadable FindingCode = "unreadable"
	// FindingLegacyUndecided: the ids have no recovery entry and no proof.
	FindingLegacyUndecided FindingCode = "legacy-undecided"
	// FindingStagedBySomeone: the ids should be published, but others staged them.
	FindingStagedBySomeone FindingCode = "staged-by-someone"
	// FindingWithheld: the ids are withheld by the options.
	FindingWithheld FindingCode = "withheld"
	// FindingPublishedWithoutObject: the id has a Published row and no file, or a file that cannot be
	// read or is of another index UID.
	FindingPublishedWithoutObject FindingCode = "published-without-object"
	// FindingStalePublished: the first id has a Published row, and the second, which contains it, is
	// not published by this plan.
	FindingStalePublished FindingCode = "stale-published"
	// FindingOtherIncarnations: the ids are of another index UID. It needs a person when the options
	// did not name the incarnation.
	FindingOtherIncarnations FindingCode = "other-incarnations"
	// FindingAgeRuleOff: nobody attested that the janitor was healthy, so age proved nothing. No ids.
	FindingAgeRuleOff FindingCode = "age-rule-off"
)

func sortFindings(findings []Finding) {
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), slices.Compare(a.IDs, b.IDs))
	})
}
