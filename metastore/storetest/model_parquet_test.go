package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"holdfast/metastore"
)

func (m *model) StageParquetSplits(_ context.Context, kind metastore.ParquetKind, uid metastore.IndexUID, splits []metastore.ParquetSplitMetadata) error {
	prepared, err := metastore.PrepareParquetStage(uid, splits)
	if err != nil || len(prepared) == 0 {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	ids := make([]string, len(splits))
	for i := range splits {
		ids[i] = splits[i].SplitID
	}
	if bad := index.parquetNotIn(kind, ids, metastore.Staged); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits exist and are not staged")
	}
	if index.parquet[kind] == nil {
		index.parquet[kind] = map[string]*metastore.ParquetSplit{}
	}
	now := time.Now().Unix()
	for _, metadata := range prepared {
		maturity, _ := metadata.MaturityTimestamp()
		split := &metastore.ParquetSplit{Metadata: metadata, State: metastore.Staged, UpdateTimestamp: now, CreateTimestamp: now, MaturityTimestamp: maturity}
		if old := index.parquet[kind][metadata.SplitID]; old != nil {
			split.CreateTimestamp = old.CreateTimestamp
		}
		index.parquet[kind][metadata.SplitID] = split
	}
	return nil
}

// parquetNotIn returns those of the ids whose splits exist in another state.
func (i *modelIndex) parquetNotIn(kind metastore.ParquetKind, ids []string, state metastore.SplitState) []string {
	var others []string
	for _, id := range metastore.UniqueSplitIDs(ids) {
		if split := i.parquet[kind][id]; split != nil && split.State != state {
			others = append(others, id)
		}
	}
	return others
}

func (i *modelIndex) moveParquet(kind metastore.ParquetKind, ids []string, to metastore.SplitState) {
	for _, id := range ids {
		i.parquet[kind][id] = i.parquet[kind][id].Moved(to, time.Now().Unix())
	}
}

func (m *model) PublishParquetSplits(_ context.Context, kind metastore.ParquetKind, request metastore.PublishSplitsRequest) error {
	if request.Delta != nil {
		if err := request.Delta.Validate(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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
		if index.parquet[kind][id] == nil {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return metastore.NotFound(metastore.SplitsEntity(unknown))
	}
	if bad := index.parquetNotIn(kind, request.StagedSplitIDs, metastore.Staged); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits are not staged")
	}
	if bad := index.parquetNotIn(kind, request.ReplacedSplitIDs, metastore.Published); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits are not published")
	}
	index.moveParquet(kind, request.StagedSplitIDs, metastore.Published)
	index.moveParquet(kind, request.ReplacedSplitIDs, metastore.MarkedForDeletion)
	advance()
	return nil
}

func (m *model) ListParquetSplits(_ context.Context, kind metastore.ParquetKind, query *metastore.ListParquetSplitsQuery, visit func(*metastore.ParquetSplitRow) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	index, err := m.find(query.IndexUID)
	if errors.Is(err, metastore.ErrNotFound) {
		return nil
	}
	listed := uint64(0)
	for _, id := range slices.Sorted(maps.Keys(index.parquet[kind])) {
		split := index.parquet[kind][id]
		if query.Limit.Set && listed == query.Limit.Value {
			break
		}
		if !query.Matches(split) {
			continue
		}
		listed++
		row := split.Row()
		if err := visit(&row); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, uid metastore.IndexUID, ids []string) error {
	if ctx.Err() != nil {
		return metastore.Timeout(ctx.Err(), "not begun")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err == nil {
		index.moveParquet(kind, index.parquetNotIn(kind, ids, metastore.MarkedForDeletion), metastore.MarkedForDeletion)
	}
	return nil
}

func (m *model) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, uid metastore.IndexUID, ids []string) error {
	if ctx.Err() != nil {
		return metastore.Timeout(ctx.Err(), "not begun")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return nil
	}
	if bad := index.parquetNotIn(kind, ids, metastore.MarkedForDeletion); len(bad) > 0 {
		return metastore.FailedPrecondition(metastore.SplitsEntity(bad), "splits are not marked for deletion")
	}
	for _, id := range ids {
		delete(index.parquet[kind], id)
	}
	return nil
}
