package reconcile

import (
	"context"
	"slices"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile/segment"
)

// contents compares what is in the files of an index, where files without recovery entries do not say
// what they replaced.
type contents struct {
	*indexWork
	objects []containment.Object
	content map[string]*containment.Content
}

// ContentStats is what comparing the contents of files took.
type ContentStats struct {
	Compared int64 `json:"files_compared"`
	// Files and Bytes count the blocks of documents that were read, and in how many reads of a file; those
	// known from the journal do not count. The requests are among the other reads of the index.
	Files int64 `json:"files_read"`
	Bytes int64 `json:"bytes_read"`
	// RefusedFiles and RefusedBytes would have been read, but for the limit or because it failed.
	RefusedFiles int64 `json:"files_refused,omitempty"`
	RefusedBytes int64 `json:"bytes_refused,omitempty"`
}

// compareContents returns what the contents prove, nil if no file needs it. plan is what the lists say.
func (w *indexWork) compareContents(ctx context.Context, plan *lineage.Plan) (*containment.Result, error) {
	c := &contents{indexWork: w, content: map[string]*containment.Content{}}
	if w.Lineage.Live || !slices.ContainsFunc(plan.Decisions, func(d lineage.Decision) bool {
		return w.byID[d.ID].content == lineage.Legacy && d.Compared() != lineage.CompareNot
	}) {
		return nil, nil
	}
	if err := c.take(ctx, plan); err != nil {
		return nil, err
	}
	options := w.containmentOptions(plan)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		result, err := containment.Decide(c.objects, c.content, options)
		if err != nil {
			return nil, err
		}
		if len(result.Needs) == 0 {
			return result, nil
		}
		if err := c.read(ctx, result.Needs); err != nil {
			return nil, err
		}
	}
}

func (w *indexWork) containmentOptions(plan *lineage.Plan) containment.Options {
	o := containment.Options{
		Attested: w.Lineage.GCHealthy, Reference: plan.ReferenceTime, Horizon: w.Lineage.Horizon, MarkedHorizon: w.Lineage.MarkedHorizon,
		Skew: w.Lineage.ClockSkew, NoRewrites: w.Lineage.NoDeleteTasks, Full: w.Full, Accepted: map[string]bool{},
	}
	for _, id := range w.Accept {
		o.Accepted[id] = true
	}
	return o
}

// take collects the objects to compare: all without an entry, and those with one that may hold one of
// them or be held by one.
func (c *contents) take(ctx context.Context, plan *lineage.Plan) error {
	var legacy []containment.Object
	var entries []*splitObject
	role := map[string]lineage.Comparison{}
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		object := c.byID[d.ID]
		if role[d.ID] = d.Compared(); role[d.ID] == lineage.CompareNot {
			continue
		}
		if object.content == lineage.WithEntry {
			entries = append(entries, object)
			continue
		}
		o := object.evidence.Object(object.id, c.written(object))
		o.State = stateOf(role[d.ID])
		legacy = append(legacy, o)
	}
	relatives := newRelatives(legacy)
	entries = slices.DeleteFunc(entries, func(object *splitObject) bool { return !relatives.of(object) })
	if err := c.readEvidence(ctx, entries); err != nil {
		return err
	}
	c.objects = legacy
	for _, object := range entries {
		if object.evidence == nil {
			continue // it could not be read; what is in it stays unknown
		}
		o := object.evidence.Object(object.id, c.written(object))
		o.Entry, o.Parents, o.State, o.Origin = true, object.parents, stateOf(role[object.id]), segment.Indexed
		o.Partition, o.TimeRange = metastore.Some(object.metadata.PartitionID), object.metadata.TimeRange
		if len(object.parents) > 0 {
			o.Origin = segment.Merged
		}
		c.objects = append(c.objects, o)
	}
	for i := range c.objects {
		object := c.byID[c.objects[i].ID]
		if known := c.journal.known(object.version(c.place(object)), object.evidence); known != nil {
			c.content[object.id] = known
		}
	}
	c.summary.Contents.Compared = int64(len(c.objects))
	return nil
}

func stateOf(role lineage.Comparison) containment.State {
	if role == lineage.CompareClosed {
		return containment.Closed
	}
	return containment.Open
}

// written is the time of the last write in unix seconds, 0 if it says nothing.
func (w *indexWork) written(object *splitObject) int64 {
	if w.Lineage.IgnoreLastModified {
		return 0
	}
	return object.Modified.Unix()
}

func (w *indexWork) place(object *splitObject) string { return w.location.Child(object.Name).String() }

// verdicts puts what the contents prove into the objects of the decision procedure.
func (w *indexWork) verdicts(result *containment.Result, objects []lineage.Object) {
	kinds := [...]lineage.VerdictKind{
		containment.Live: lineage.HoldsItsOwn, containment.Superseded: lineage.Held, containment.Orphan: lineage.HeldPiecemeal,
		containment.Likely: lineage.HeldPerhaps, containment.Unread: lineage.NotRead,
	}
	w.proofs = make(map[string]containment.Verdict, len(result.Verdicts))
	for _, v := range result.Verdicts {
		w.proofs[v.ID] = v
	}
	for i := range objects {
		if v, compared := w.proofs[objects[i].ID]; compared {
			e := w.byID[v.ID].evidence
			objects[i].Verdict = lineage.Verdict{Kind: kinds[v.Kind], By: v.By, Indexed: !e.Merged()}
		}
	}
}

// proofOf says in words what proves a decision that rests on contents, empty for the others.
func (w *indexWork) proofOf(d *lineage.Decision) string {
	v, compared := w.proofs[d.ID]
	if !compared {
		return ""
	}
	switch d.Reason {
	case lineage.ReasonContentLive:
		return "no live split holds its documents"
	case lineage.ReasonContentHeld, lineage.ReasonContentPiecemeal, lineage.ReasonContentLikely:
		switch v.Proof {
		case containment.ByList:
			return "list: a recovery entry lists it, or what holds it"
		case containment.ByBlocks:
			return "blocks: the split in the evidence has its blocks in a row, and the checksum that follows from them"
		case containment.ByDocuments:
			return "documents: all were compared, by SHA-256"
		case containment.ByRewrite:
			return "rewrite: documents were compared; the split in the evidence has those that are left, in their order, and a greater opstamp"
		}
	}
	return ""
}
