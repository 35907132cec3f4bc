package file

import (
	"context"

	"holdfast/metastore"
)

// StageSplits implements metastore.SplitStore.
func (s *Store) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	var result metastore.StageSplitsResult
	if len(request.Splits) == 0 && !request.CreateOnly {
		return result, nil
	}
	splits, err := metastore.PrepareStage(request)
	if err != nil {
		return result, err
	}
	bytes := 0
	for i := range splits {
		bytes += len(splits[i].Document())
	}
	if !request.CreateOnly {
		// Here, and not where the state is known, because there one caller at a time decides, and may
		// have to again. Create-only staging reads what is absent, which is usually little.
		if splits, err = asStored(splits); err != nil {
			return result, err
		}
	}
	err = s.change(ctx, request.IndexUID, bytes, func(state *indexState) (ops []op, err error) {
		if request.CreateOnly {
			result, ops, err = stageAbsent(state, splits)
			return ops, err
		}
		result = metastore.StageSplitsResult{Mutation: metastore.MutationYes}
		if err := refuseNotStaged(state, request.Splits); err != nil {
			return nil, err
		}
		return []op{stageOp(splits)}, nil
	})
	if err != nil {
		return metastore.StageSplitsResult{}, err
	}
	return result, nil
}

// asStored reads the splits from their documents: what is kept in memory must be what is read from the
// entry, also for splits that did not come as documents.
func asStored(splits []metastore.SplitMetadata) ([]metastore.SplitMetadata, error) {
	stored := make([]metastore.SplitMetadata, len(splits))
	for i := range splits {
		var err error
		if stored[i], err = reread(&splits[i]); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

func reread(split *metastore.SplitMetadata) (metastore.SplitMetadata, error) {
	stored, err := metastore.ParseSplitMetadata([]byte(split.Document()))
	if err != nil {
		return stored, metastore.InvalidArgument("staging split %q: %v", split.SplitID, err)
	}
	if stored.SplitID != split.SplitID {
		return stored, metastore.InvalidArgument("staging split %q: split_id is not valid UTF-8", split.SplitID)
	}
	return stored, nil
}

// stageAbsent takes the splits that do not exist and reports the others.
func stageAbsent(state *indexState, splits []metastore.SplitMetadata) (result metastore.StageSplitsResult, ops []op, err error) {
	var absent []metastore.SplitMetadata
	for i := range splits {
		if existing := state.splits.get(splits[i].SplitID); existing != nil {
			result.Skipped = append(result.Skipped, metastore.SkippedSplit{SplitID: splits[i].SplitID, State: existing.state})
			continue
		}
		absent = append(absent, splits[i])
		result.Staged = append(result.Staged, splits[i].SplitID)
	}
	if len(absent) == 0 {
		return result, nil, nil
	}
	result.Mutation = metastore.MutationYes
	stored, err := asStored(absent)
	return result, []op{stageOp(stored)}, err
}

// refuseNotStaged fails if any split exists in another state than Staged.
func refuseNotStaged(state *indexState, splits []metastore.SplitMetadata) error {
	var ids []string
	for i := range splits {
		if existing := state.splits.get(splits[i].SplitID); existing != nil && existing.state != metastore.Staged {
			ids = append(ids, splits[i].SplitID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return metastore.FailedPrecondition(metastore.SplitsEntity(metastore.UniqueSplitIDs(ids)), "splits exist and are not staged")
}
