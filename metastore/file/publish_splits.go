package file

import (
	"context"

	"holdfast/metastore"
)

// PublishSplits implements metastore.SplitStore.
func (s *Store) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
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
		unknown := append(unknownIDs(state, staged), unknownIDs(state, replaced)...)
		if len(unknown) > 0 {
			return nil, metastore.NotFound(metastore.SplitsEntity(metastore.UniqueSplitIDs(unknown)))
		}
		if wrong := notInState(state, staged, metastore.Staged); len(wrong) > 0 {
			return nil, metastore.FailedPrecondition(metastore.SplitsEntity(wrong), "splits to publish are not staged")
		}
		if wrong := notInState(state, replaced, metastore.Published); len(wrong) > 0 {
			return nil, metastore.FailedPrecondition(metastore.SplitsEntity(wrong), "replaced splits are not published and cannot be marked for deletion")
		}
		if len(staged)+len(replaced) > 0 {
			ops = append(ops, publishOp{staged: staged, replaced: replaced})
		}
		return ops, nil
	})
}

// MarkSplitsForDeletion implements metastore.SplitStore.
func (s *Store) MarkSplitsForDeletion(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeSplits(ctx, indexUID, splitIDs, func(state *indexState, ids []string) ([]op, error) {
		var marked []string
		for _, id := range ids {
			if split := state.splits.get(id); split != nil && split.state != metastore.MarkedForDeletion {
				marked = append(marked, id)
			}
		}
		if len(marked) == 0 {
			return nil, nil
		}
		return []op{markOp(marked)}, nil
	})
}

// DeleteSplits implements metastore.SplitStore.
func (s *Store) DeleteSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeSplits(ctx, indexUID, splitIDs, func(state *indexState, ids []string) ([]op, error) {
		var deletable, wrong []string
		for _, id := range ids {
			switch split := state.splits.get(id); {
			case split == nil:
			case split.state == metastore.MarkedForDeletion:
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
		return []op{deleteOp(deletable)}, nil
	})
}

// changeSplits has a change of splits committed as one entry, whatever their number: an entry of ids is small.
// decide is told the ids without repetitions.
func (s *Store) changeSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string, decide func(*indexState, []string) ([]op, error)) error {
	ctx, done := metastore.BeginPiece(ctx)
	defer done()
	ids := metastore.UniqueSplitIDs(splitIDs)
	return s.change(ctx, indexUID, idBytes(ids), func(state *indexState) ([]op, error) { return decide(state, ids) })
}

func unknownIDs(state *indexState, ids []string) (unknown []string) {
	for _, id := range ids {
		if state.splits.get(id) == nil {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

// notInState returns the ids of existing splits that are in another state.
func notInState(state *indexState, ids []string, want metastore.SplitState) (wrong []string) {
	for _, id := range ids {
		if split := state.splits.get(id); split.state != want {
			wrong = append(wrong, id)
		}
	}
	return wrong
}

// idBytes is about what ids take in an entry.
func idBytes(ids []string) int {
	bytes := 0
	for _, id := range ids {
		bytes += len(id) + 3
	}
	return bytes
}
