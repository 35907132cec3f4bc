package storetest

import (
	"context"
	"slices"
	"time"

	"holdfast/metastore"
)

func (m *model) StageSplits(_ context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	var result metastore.StageSplitsResult
	splits, err := metastore.PrepareStage(request)
	if err != nil {
		return result, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(splits) == 0 && !request.CreateOnly {
		return result, nil
	}
	index, err := m.find(request.IndexUID)
	if err != nil {
		return result, err
	}
	if !request.CreateOnly {
		if bad := index.notIn(stagedIDs(request.Splits), metastore.Staged); len(bad) > 0 {
			return result, metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits exist and are not staged")
		}
	}
	for _, split := range splits {
		if present := index.splits[split.SplitID]; present != nil && request.CreateOnly {
			result.Skipped = append(result.Skipped, metastore.SkippedSplit{SplitID: split.SplitID, State: present.State})
			continue
		}
		now := time.Now().Unix()
		index.splits[split.SplitID] = &modelSplit{
			Split: metastore.Split{State: metastore.Staged, UpdateTimestamp: now, Metadata: split}, stagedAt: now,
		}
		result.Mutation = metastore.MutationYes
		if request.CreateOnly {
			result.Staged = append(result.Staged, split.SplitID)
		}
	}
	return result, nil
}

func stagedIDs(splits []metastore.SplitMetadata) []string {
	var ids []string
	for _, split := range splits {
		ids = append(ids, split.SplitID)
	}
	return ids
}

// notIn returns those of the ids whose splits exist in another state.
func (i *modelIndex) notIn(ids []string, state metastore.SplitState) []string {
	var others []string
	for _, id := range metastore.UniqueSplitIDs(ids) {
		if split := i.splits[id]; split != nil && split.State != state {
			others = append(others, id)
		}
	}
	return others
}

func (m *model) PublishSplits(_ context.Context, request metastore.PublishSplitsRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if request.Delta != nil {
		if err := request.Delta.Validate(); err != nil {
			return err
		}
	}
	index, err := m.find(request.IndexUID)
	if err != nil {
		return err
	}
	advance, err := index.progress(request.Delta, request.PublishToken)
	if err != nil {
		return err
	}
	var unknown []string
	for _, id := range metastore.UniqueSplitIDs(slices.Concat(request.StagedSplitIDs, request.ReplacedSplitIDs)) {
		if index.splits[id] == nil {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return metastore.NotFound(metastore.SplitsEntity(unknown))
	}
	if bad := index.notIn(request.StagedSplitIDs, metastore.Staged); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits are not staged")
	}
	if bad := index.notIn(request.ReplacedSplitIDs, metastore.Published); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits are not published")
	}
	now := time.Now().Unix()
	for _, id := range request.StagedSplitIDs {
		split := index.splits[id]
		split.State, split.UpdateTimestamp, split.PublishTimestamp = metastore.Published, now, metastore.Some(now)
	}
	for _, id := range request.ReplacedSplitIDs {
		split := index.splits[id]
		split.State, split.UpdateTimestamp = metastore.MarkedForDeletion, now
	}
	advance()
	return nil
}

func (m *model) MarkSplitsForDeletion(ctx context.Context, uid metastore.IndexUID, ids []string) error {
	if ctx.Err() != nil {
		return metastore.Timeout(ctx.Err(), "not begun")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	for _, id := range index.notIn(ids, metastore.MarkedForDeletion) {
		index.splits[id].State, index.splits[id].UpdateTimestamp = metastore.MarkedForDeletion, time.Now().Unix()
	}
	return nil
}

func (m *model) DeleteSplits(ctx context.Context, uid metastore.IndexUID, ids []string) error {
	if ctx.Err() != nil {
		return metastore.Timeout(ctx.Err(), "not begun")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	if bad := index.notIn(ids, metastore.MarkedForDeletion); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits are not marked for deletion")
	}
	for _, id := range ids {
		delete(index.splits, id)
	}
	return nil
}

func (m *model) ListSplits(_ context.Context, query *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
	type found struct {
		uid   metastore.IndexUID
		split modelSplit
	}
	var all []found
	m.mu.RLock()
	for _, index := range m.indexes {
		uid := index.metadata.IndexUID
		if !query.AllIndexes && !slices.Contains(query.IndexUIDs, uid) {
			continue
		}
		for _, split := range index.splits {
			if m.matches(query, uid, split) {
				all = append(all, found{uid, *split})
			}
		}
	}
	m.mu.RUnlock()
	slices.SortFunc(all, func(a, b found) int { return query.Compare(a.uid, &a.split.Split, b.uid, &b.split.Split) })
	if query.Offset.Set {
		all = all[min(query.Offset.Value, uint64(len(all))):]
	}
	if query.Limit.Set {
		all = all[:min(query.Limit.Value, uint64(len(all)))]
	}
	for _, f := range all {
		row := f.split.Row()
		if m.rule == StageTime {
			patched, err := metastore.PatchDocument(nil, row.Document, f.uid.String(), metastore.Some(f.split.stagedAt), f.split.Metadata.DeleteOpstamp)
			if err != nil {
				return err
			}
			row.Document = string(patched)
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return nil
}

// matches applies the filters. The create timestamp follows the rule of the store, while maturity always counts from
// the document's own.
func (m *model) matches(query *metastore.ListSplitsQuery, uid metastore.IndexUID, split *modelSplit) bool {
	if m.rule == PayloadCreateTimestamp {
		return query.Matches(uid, &split.Split)
	}
	rest := *query
	rest.CreateTimestamp = metastore.FilterRange[int64]{}
	return rest.Matches(uid, &split.Split) && query.CreateTimestamp.Contains(split.stagedAt)
}
