package reconcile

import (
	"context"
	"fmt"

	"holdfast/metastore"
)

// stage stages the items in create-only mode and returns those whose rows are ours to publish.
//
// Rows that the call found are others' and left alone. Only if the answer of a call was lost, and the
// next one finds a Staged row that equals ours, the row is taken for ours: a moment ago there was none
// though the file was complete, and uploaders stage before they upload.
func (w *indexWork) stage(ctx context.Context, items []*item) ([]*item, error) {
	request := metastore.StageSplitsRequest{IndexUID: w.uid, CreateOnly: true}
	byID := map[string]*item{}
	var ids []string
	for _, it := range items {
		metadata := w.metadataOf(it)
		// A split that no store takes must not fail the others.
		if _, err := metastore.PrepareStage(metastore.StageSplitsRequest{IndexUID: w.uid, CreateOnly: true, Splits: []metastore.SplitMetadata{metadata}}); err != nil {
			it.fail(err)
			continue
		}
		request.Splits = append(request.Splits, metadata)
		byID[it.decision.ID] = it
		ids = append(ids, it.decision.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := w.journal.addIntent(w.uid, ids); err != nil {
		return nil, err
	}
	result, doubt, err := w.stageUntilAnswered(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("stage %d splits, %s to %s: %w", len(ids), ids[0], ids[len(ids)-1], err)
	}
	w.summary.Staged += int64(len(result.Staged))
	var ours []*item
	for _, id := range result.Staged {
		byID[id].after = metastore.Staged
		ours = append(ours, byID[id])
	}
	adopted, skipped, err := w.sortSkipped(ctx, result.Skipped, byID, doubt)
	if err != nil {
		return nil, err
	}
	w.summary.Staged += int64(len(adopted))
	return append(ours, adopted...), w.journal.addSkipped(w.uid, skipped)
}

// stageUntilAnswered repeats the call while the store is unavailable. doubt is set if an attempt that
// failed may have staged rows.
func (w *indexWork) stageUntilAnswered(ctx context.Context, request metastore.StageSplitsRequest) (result metastore.StageSplitsResult, doubt bool, err error) {
	for attempt := 1; ; attempt++ {
		result, err = w.Store.StageSplits(ctx, request)
		if err == nil {
			return result, doubt, nil
		}
		doubt = doubt || !metastore.AsError(err).Kind.CertainlyAborted()
		if attempt == readAttempts || !isTransient(err) || wait(ctx, pauseAfter(attempt)) != nil {
			return result, doubt, err
		}
	}
}

// sortSkipped tells rows of ours, whose staging was not answered, from those of others.
func (w *indexWork) sortSkipped(ctx context.Context, found []metastore.SkippedSplit, byID map[string]*item, doubt bool) (adopted []*item, skipped []string, err error) {
	var rows map[string]row
	if doubt && len(found) > 0 {
		items := make([]*item, len(found))
		for i, s := range found {
			items[i] = byID[s.SplitID]
		}
		if rows, err = w.rowsOf(ctx, items); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range found {
		it := byID[s.SplitID]
		if r, has := rows[s.SplitID]; has && r.state == metastore.Staged && sameSplit(&r.metadata, &it.object.metadata) {
			it.after = metastore.Staged
			adopted = append(adopted, it)
			continue
		}
		it.skip(s.State)
		skipped = append(skipped, s.SplitID)
	}
	return adopted, skipped, nil
}

// metadataOf returns the metadata to stage.
func (w *indexWork) metadataOf(it *item) metastore.SplitMetadata {
	metadata := it.object.metadata.WithIndexUID(w.uid)
	if it.decision.ForceMature && metadata.Maturity.Immature {
		return mature(metadata)
	}
	return metadata
}

// mature returns the metadata of the same split, which merges leave alone.
func mature(m metastore.SplitMetadata) metastore.SplitMetadata {
	return metastore.SplitMetadata{
		SplitID: m.SplitID, IndexUID: m.IndexUID, PartitionID: m.PartitionID, SourceID: m.SourceID, NodeID: m.NodeID,
		NumDocs: m.NumDocs, UncompressedDocsSize: m.UncompressedDocsSize, TimeRange: m.TimeRange,
		CreateTimestamp: m.CreateTimestamp, Tags: m.Tags, FooterStart: m.FooterStart, FooterEnd: m.FooterEnd,
		DeleteOpstamp: m.DeleteOpstamp, NumMergeOps: m.NumMergeOps, DocMappingUID: m.DocMappingUID,
	}
}
