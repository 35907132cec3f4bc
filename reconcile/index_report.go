package reconcile

import (
	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// summarize counts what was decided and done.
func (w *indexWork) summarize() {
	s := &w.summary
	s.IndexUID = w.uid.String()
	if w.uid.IndexID == "" {
		s.IndexUID = ""
		if w.plan != nil && !w.plan.IndexUID.Incarnation.IsZero() {
			s.IndexUID = w.plan.IndexUID.String()
		}
	}
	s.Objects = int64(len(w.objects))
	s.Decisions, s.Documents, s.Bytes = map[string]int64{}, map[string]uint64{}, map[string]uint64{}
	if len(w.listing.others) > 0 {
		s.Others = w.listing.others
	}
	for i := range w.items {
		it := &w.items[i]
		s.Decisions[it.kind]++
		s.Documents[it.kind] += it.object.numDocs()
		s.Bytes[it.kind] += uint64(it.object.Size)
		switch {
		case it.outcome == OutcomePublished:
			s.Published++
		case it.outcome == OutcomeFailed:
			s.Failed++
		case it.outcome == OutcomeSkipped, it.before != 0 && it.outcome == OutcomeNone:
			s.Skipped++
		}
	}
	s.ToPublish = w.publishes()
	s.Findings, s.NeedsPerson, s.FindingsLeftOut = []Finding{}, 0, 0
	perCode := map[string]int{}
	for _, f := range w.found {
		if f.NeedsPerson {
			s.NeedsPerson++
		}
		if perCode[f.Code]++; perCode[f.Code] > mostSummaryFindings {
			s.FindingsLeftOut++
			continue
		}
		f.IDs = f.IDs[:min(len(f.IDs), mostSummaryIDs)]
		s.Findings = append(s.Findings, f)
	}
}

// mostSummaryFindings bounds the findings of one code in the summary.
const mostSummaryFindings = 20

// mostSummaryIDs bounds the split ids of a finding in the summary.
const mostSummaryIDs = 100

// report writes a line for each object and each finding.
func (w *indexWork) report() error {
	for i := range w.items {
		if err := w.reporter.write(w.record(&w.items[i])); err != nil {
			return err
		}
	}
	for i := range w.found {
		err := w.reporter.write(&Record{Type: "finding", IndexID: w.indexID, IndexUID: w.summary.IndexUID, Finding: &w.found[i]})
		if err != nil {
			return err
		}
	}
	return w.reporter.flush()
}

func (w *indexWork) record(it *item) *Record {
	d := it.decision
	record := &ObjectRecord{
		SplitID: d.ID, Key: w.location.Child(it.object.Name).String(), Size: it.object.Size, NumDocs: it.object.numDocs(),
		Decision: it.kind, Reason: it.reason, Evidence: d.Evidence, Proof: w.proofOf(d), DecisionID: w.toDecide[d.ID], Flags: d.Flags.Names(), Parents: it.object.parents,
		RowBefore: stateName(it.before), RowAfter: stateName(it.after), Outcome: it.outcome, Detail: it.detail,
	}
	if it.kind == lineage.Publish.String() {
		record.ReplacedSplitIDs, record.Mature = d.ReplacedSplitIDs, d.ForceMature
	}
	return &Record{Type: "object", IndexID: w.indexID, IndexUID: w.summary.IndexUID, ObjectRecord: record}
}

func stateName(state metastore.SplitState) *string {
	if state == 0 {
		return nil
	}
	name := state.String()
	return &name
}
