package reconcile

import "holdfast/reconcile/lineage"

// translate puts a finding of the decision procedure into words.
func (w *indexWork) translate(f lineage.Finding) Finding {
	found := Finding{Code: string(f.Code), NeedsPerson: f.NeedsPerson, IDs: f.IDs}
	plan := func(flags ...string) string {
		return w.again(append([]string{"plan", "--index", w.indexID}, flags...)...)
	}
	inspect := ""
	if len(f.IDs) > 0 {
		inspect = commandText("split", "inspect", w.location.Child(f.IDs[0]+splitSuffix).String())
	}
	rows := w.command("split", "list", "--index", w.indexID)
	switch f.Code {
	case lineage.FindingAmbiguous:
		found.Message = "the first split was not published because it shares documents with the others, but each side holds documents that nothing else holds"
		found.Next = inspect
	case lineage.FindingPossibleLoss:
		found.Message = "the first split is an orphan, but holds the documents of the others, which are gone and in no live split; keep its file"
		found.Next = inspect
	case lineage.FindingInconsistent:
		found.Message = "these splits contradict each other; nothing of their family is published"
		found.Next = inspect
	case lineage.FindingHiddenLink:
		found.Message = "the documents of these splits may be in other live splits too (see the evidence), through a merge that is gone; they are published as mature, so that they can still be removed"
		found.Next = plan("--hidden-link", "withhold")
	case lineage.FindingYoungL0:
		found.Message = "nothing proves that these recent splits were published; if they were not, their source has indexed the documents again. They are published as mature, so that they can still be removed"
		found.Next = plan("--gc-healthy")
	case lineage.FindingRecentMarkRisk:
		found.Message = "splits that retention, a person or a delete task marked shortly before the loss come back; retention marks them again, delete tasks must be issued again"
	case lineage.FindingUnreadable:
		found.Message = "these files could not be read, and no live split contains them"
		found.Next = inspect
	case lineage.FindingLegacyUndecided:
		found.Message = "these files were written by release 0.9 or older, do not name their parents, and nothing proves which of them are live"
		found.Next = plan("--gc-healthy")
	case lineage.FindingStagedBySomeone:
		found.Message = "these splits are live, but others staged their rows and did not publish them. If the index is frozen and nobody is going to, publish them"
		found.Next = w.again("run", "--index", w.indexID, "--adopt-staged")
	case lineage.FindingWithheld:
		found.Message = "these splits are live, but withheld as the options say"
	case lineage.FindingPublishedWithoutObject:
		found.Message = "the row of this split is published, but its file is gone; if it is not merely hidden from us, mark the row"
		found.Next = w.command(append([]string{"split", "mark-for-deletion", "--index", w.indexID}, f.IDs...)...)
	case lineage.FindingStalePublished:
		found.Message = "the first split is published, and so are its documents in the second one, or will be; once the second is visible, mark the first"
		if len(f.IDs) > 0 {
			found.Next = w.command("split", "mark-for-deletion", "--index", w.indexID, f.IDs[0])
		}
	case lineage.FindingOtherIncarnations:
		found.Message = "these files are of another index, or of another incarnation of this one; if an earlier recovery gave the index a new incarnation, name the old one"
		found.Next = plan("--alias", "INDEX_UID")
	case lineage.FindingAgeRuleOff:
		found.Message = "nobody attested that the janitor was healthy until the loss, so the age of a file proved nothing. If it was, say so"
		found.Next = plan("--gc-healthy")
	default:
		found.Message = "see the split ids"
		found.Next = rows
	}
	return found
}
