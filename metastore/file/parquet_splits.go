package file

import (
	"context"
	"errors"
	"math"

	"holdfast/metastore"
)

// StageParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) StageParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splits []metastore.ParquetSplitMetadata) error {
	prepared, err := metastore.PrepareParquetStage(indexUID, splits)
	if err != nil || len(prepared) == 0 {
		return err
	}
	bytes := 0
	for _, split := range prepared {
		bytes += len(split.Document())
	}
	return s.change(ctx, indexUID, bytes, func(state *indexState) ([]op, error) {
		set := &state.parquet[kind]
		var refused []string
		for i := range splits {
			if old := set.get(splits[i].SplitID); old != nil && old.State != metastore.Staged {
				refused = append(refused, splits[i].SplitID)
			}
		}
		if len(refused) > 0 {
			return nil, metastore.FailedPrecondition(metastore.SplitsEntity(metastore.UniqueSplitIDs(refused)), "splits exist and are not staged")
		}
		return []op{stageParquetOp{kind: kind, splits: prepared}}, nil
	})
}

// PublishParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) PublishParquetSplits(ctx context.Context, kind metastore.ParquetKind, request metastore.PublishSplitsRequest) error {
	if request.Delta != nil {
		if err := request.Delta.Validate(); err != nil {
			return err
		}
	}
	staged := metastore.UniqueSplitIDs(request.StagedSplitIDs)
	replaced := metastore.UniqueSplitIDs(request.ReplacedSplitIDs)
	bytes := idBytes(staged) + idBytes(replaced) + progressBytes(request.Delta)
	return s.change(ctx, request.IndexUID, bytes, func(state *indexState) ([]op, error) {
		ops, err := progressOps(state, request.Delta, request.PublishToken)
		if err != nil {
			return nil, err
		}
		if err := state.parquet[kind].refusePublish(staged, replaced); err != nil {
			return nil, err
		}
		if len(staged)+len(replaced) > 0 {
			ops = append(ops, publishParquetOp{kind: kind, staged: staged, replaced: replaced})
		}
		return ops, nil
	})
}

// refusePublish tells why splits cannot be published or replaced, nil if they can.
func (s *parquetSet) refusePublish(staged, replaced []string) error {
	var unknown, notStaged, notPublished []string
	for _, list := range []struct {
		ids   []string
		want  metastore.SplitState
		wrong *[]string
	}{{staged, metastore.Staged, &notStaged}, {replaced, metastore.Published, &notPublished}} {
		for _, id := range list.ids {
			switch split := s.get(id); {
			case split == nil:
				unknown = append(unknown, id)
			case split.State != list.want:
				*list.wrong = append(*list.wrong, id)
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return metastore.NotFound(metastore.SplitsEntity(metastore.UniqueSplitIDs(unknown)))
	case len(notStaged) > 0:
		return metastore.FailedPrecondition(metastore.SplitsEntity(notStaged), "splits to publish are not staged")
	case len(notPublished) > 0:
		return metastore.FailedPrecondition(metastore.SplitsEntity(notPublished), "replaced splits are not published and cannot be marked for deletion")
	}
	return nil
}

// ListParquetSplits implements metastore.ParquetSplitStore. It holds no lock: the state that it goes through does not
// change.
func (s *Store) ListParquetSplits(ctx context.Context, kind metastore.ParquetKind, query *metastore.ListParquetSplitsQuery, visit func(*metastore.ParquetSplitRow) error) error {
	limit := uint64(math.MaxUint64)
	if query.Limit.Set {
		limit = query.Limit.Value
	}
	if limit == 0 {
		return nil
	}
	state, err := s.stateOf(ctx, query.IndexUID.IndexID)
	if err != nil || state.index == nil || state.index.IndexUID != query.IndexUID {
		return err
	}
	looked := 0
	state.parquet[kind].ascend(query.After.Value, func(split *metastore.ParquetSplit) bool {
		if looked++; looked%contextCheckInterval == 0 && ctx.Err() != nil {
			err = metastore.Timeout(ctx.Err(), "listing splits")
			return false
		}
		if !query.Matches(split) {
			return true
		}
		row := split.Row()
		limit--
		err = visit(&row)
		return err == nil && limit > 0
	})
	return err
}

// MarkParquetSplitsForDeletion implements metastore.ParquetSplitStore.
func (s *Store) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeParquet(ctx, kind, indexUID, splitIDs, func(set *parquetSet, ids []string) ([]op, error) {
		var marked []string
		for _, id := range ids {
			if split := set.get(id); split != nil && split.State != metastore.MarkedForDeletion {
				marked = append(marked, id)
			}
		}
		if len(marked) == 0 {
			return nil, nil
		}
		return []op{markParquetOp{kind: kind, ids: marked}}, nil
	})
}

// DeleteParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeParquet(ctx, kind, indexUID, splitIDs, func(set *parquetSet, ids []string) ([]op, error) {
		var deletable, wrong []string
		for _, id := range ids {
			switch split := set.get(id); {
			case split == nil:
			case split.State == metastore.MarkedForDeletion:
				deletable = append(deletable, id)
			default:
				wrong = append(wrong, id)
			}
		}
		if len(wrong) > 0 {
			return nil, metastore.FailedPrecondition(metastore.SplitsEntity(wrong), "splits are not marked for deletion and cannot be deleted")
		}
		if len(deletable) == 0 {
			return nil, nil
		}
		return []op{deleteParquetOp{kind: kind, ids: deletable}}, nil
	})
}

// changeParquet has a change of Parquet splits committed. An unknown index has none, so it needs none.
func (s *Store) changeParquet(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string, decide func(*parquetSet, []string) ([]op, error)) error {
	ctx, done := metastore.BeginPiece(ctx)
	defer done()
	ids := metastore.UniqueSplitIDs(splitIDs)
	if len(ids) == 0 {
		return nil
	}
	err := s.change(ctx, indexUID, idBytes(ids), func(state *indexState) ([]op, error) { return decide(&state.parquet[kind], ids) })
	if errors.Is(err, metastore.ErrNotFound) {
		return nil
	}
	return err
}
