package reconcile

import (
	"fmt"
	"maps"
	"slices"

	"holdfast/reconcile/containment"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
)

// contentCode is what the codes of findings about contents begin with: the kind of the flag follows.
const contentCode = "content-"

// findContents reports the doubts that contents leave.
func (w *indexWork) findContents() {
	if w.compared == nil {
		return
	}
	w.toDecide = map[string]string{}
	together := map[containment.FlagKind][]string{}
	decided := make(map[string]lineage.Kind, len(w.plan.Decisions))
	for i := range w.plan.Decisions {
		decided[w.plan.Decisions[i].ID] = w.plan.Decisions[i].Kind
	}
	for i := range w.compared.Flags {
		flag := &w.compared.Flags[i]
		w.decisions[flag.ID] = true
		switch f := w.findContent(flag); {
		case !concerns(flag, decided):
		case isCommon(flag):
			together[flag.Kind] = append(together[flag.Kind], flag.Splits[0])
			if f.DecisionID != "" {
				w.toDecide[flag.Splits[0]] = f.DecisionID
			}
		default:
			if f.DecisionID != "" {
				w.toDecide[flag.Splits[0]] = f.DecisionID
			}
			w.add(f)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(together)) {
		f := w.findContent(&containment.Flag{Kind: kind, Splits: together[kind]})
		f.DecisionID = "" // each has its own, in the report
		w.add(f)
	}
}

// isCommon says whether a doubt is so common that one finding is made for all of its kind.
func isCommon(flag *containment.Flag) bool {
	switch flag.Kind {
	case containment.Unchecked:
		return !flag.Accepted
	case containment.UncheckedOverlap, containment.OldCover, containment.Repeat, containment.MayBeBack:
		return true
	case containment.Piecemeal:
		return flag.Docs == 0
	default:
		return false
	}
}

// concerns says whether a flag is still about a decision: the lists may have told more.
func concerns(flag *containment.Flag, decided map[string]lineage.Kind) bool {
	kind, known := decided[flag.Splits[0]]
	if !known {
		return false
	}
	switch flag.Kind {
	case containment.Unchecked, containment.Weak, containment.Undercount, containment.Deleted, containment.Order:
		return kind == lineage.LegacyUndecided || flag.Accepted
	case containment.Piecemeal:
		return kind == lineage.Orphan
	default:
		return true
	}
}

func (w *indexWork) findContent(flag *containment.Flag) Finding {
	f := Finding{Code: contentCode + string(flag.Kind), IDs: flag.Splits}
	decide := false
	switch flag.Kind {
	case containment.Deleted:
		f.Message = fmt.Sprintf("the second split is a rewrite of the first, and %d documents of the first are nowhere else: a delete task named them, or they are lost. The second is published, the first is not. Compare the number with the delete tasks that you know", flag.Docs)
		decide = true
		if flag.Accepted {
			f.Message = fmt.Sprintf("accepted: %d documents of the first split were deleted; the second, a rewrite of it, replaced it", flag.Docs)
		}
	case containment.Order:
		f.Message = "the second split holds the first, which has had more delete tasks applied, and both were made at about the same time: the second is a merge of the first, or the first was made of the second by deletions. The second is published, the first is not; issue the delete tasks again"
		decide = true
		if flag.Accepted {
			f.Message = "accepted: the second split is a merge of the first"
		}
	case containment.Weak:
		f.Message = fmt.Sprintf("the %d documents of the first split occur several times in the second, at more places than there are such splits: it was merged into it, or its documents were indexed once more. It is not published; accept the decision to publish it", flag.Docs)
		decide = true
		if flag.Accepted {
			f.Message = fmt.Sprintf("accepted: the %d documents of the first split were indexed once more than the second holds them", flag.Docs)
		}
	case containment.Undercount:
		f.Message = fmt.Sprintf("all documents of the first split are in others that are published, but %d of them less often: they were indexed several times, or deleted. It is not published; accept the decision to publish it, and the others' documents count once more", flag.Docs)
		decide = true
		if flag.Accepted {
			f.Message = fmt.Sprintf("accepted: the first split is published for %d documents that were indexed more often than the others hold them", flag.Docs)
		}
	case containment.Unchecked:
		f.Message = "others may hold the documents of these splits; what would tell was not read, so they are not published. Allow more to be read, or accept the decisions in the report to publish them unread"
		decide = true
		if flag.Accepted {
			f.Message = "accepted: the first split is published though the others may hold its documents"
		}
	case containment.UncheckedOverlap:
		f.Message = "these splits are published, but what would tell whether others share documents with them was not read. Allow more to be read, or attest that the janitor was healthy"
	case containment.DeletedOrLive:
		f.Message = fmt.Sprintf("%d documents of the first split are in the second and not in the third, a rewrite of it: they were deleted, or the second was never published. The first is published; issue the delete tasks again", flag.Docs)
	case containment.Piecemeal:
		f.Message = "these splits are not published, as others that are have all their documents (see the evidence), though none has them as a whole: they were never published, or documents that are the same to the byte were indexed several times"
		if flag.Docs > 0 {
			f.Message = fmt.Sprintf("the first split, to which delete tasks were applied, is not published, as the others have all its documents; %d documents of these may have been deleted from it. Issue the delete tasks again", flag.Docs)
		}
	case containment.MayBeBack:
		f.Message = "these splits, to which delete tasks were applied, are in others (see the evidence), which may have been made before the deletions: issue the delete tasks again"
	case containment.Overlap:
		f.Message = fmt.Sprintf("the first split shares %d documents with the others, and each has documents of its own: all are published, so these documents count several times", flag.Docs)
		f.NeedsPerson = true
	case containment.Repeat:
		f.Message = "documents of these splits occur in other splits that are published; as indexers wrote them, they were indexed several times"
	case containment.Kept:
		f.Message = fmt.Sprintf("this split is published because %d of its documents would be nowhere else", flag.Docs)
		f.NeedsPerson = true
	case containment.OldCover:
		f.Message = "these splits are in others (see the evidence), and should have been deleted long ago: deletions failed, or their documents were indexed twice. They are not published"
	case containment.Contradiction:
		f.Message = "the recovery entry of the first split lists the second, but its documents are not in it"
		f.NeedsPerson = true
	}
	if decide && !flag.Accepted {
		f.NeedsPerson, f.DecisionID = true, flag.ID
		f.Next = w.again("plan", "--index", w.indexID, "--accept", flag.ID)
		if flag.Kind == containment.Unchecked {
			f.Next = w.again("plan", "--index", w.indexID, "--max-read", "unlimited")
		}
	}
	return f
}

// findWideRanges reports rows without exact times.
func (w *indexWork) findWideRanges() {
	var ids []string
	for i := range w.items {
		it := &w.items[i]
		if it.kind == lineage.Publish.String() && it.object.content == lineage.Legacy && it.object.metadata.TimeRange.Value == evidence.WideRange {
			ids = append(ids, it.decision.ID)
		}
	}
	if len(ids) > 0 {
		w.add(Finding{Code: CodeWideRange, IDs: ids, Message: "the times of these splits are not known, so their rows hold the widest range: every search opens them, and retention never expires them"})
	}
}

// unknownDecisions returns the accepted decisions that nothing asked for.
func unknownDecisions(accepted []string, known map[string]bool) []string {
	var unknown []string
	for _, id := range accepted {
		if !known[id] {
			unknown = append(unknown, id)
		}
	}
	return unknown
}
