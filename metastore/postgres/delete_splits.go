package postgres

import (
	"context"

	"holdfast/metastore"
)

// DeleteSplits implements metastore.SplitStore. A large call first looks whether all splits may be deleted. Each piece
// looks again under its locks.
func (s *Store) DeleteSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	j := s.changeJob("deleting splits", indexUID)
	if err := s.refuseReadOnly(j.operation); err != nil {
		return err
	}
	return s.onceInPieces(ctx, j, splitIDs, func(s *Store) error { return s.deleteSplits(ctx, j, splitIDs) })
}

func (s *Store) deleteSplits(ctx context.Context, j job, splitIDs []string) error {
	if err := s.lookForUnmarked(ctx, j.indexUID, splitIDs, unmarkedSplitsSQL); err != nil {
		return err
	}
	return j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
		unmarked := make(map[string]bool)
		return s.changePiece(ctx, j, ids, func() query {
			clear(unmarked)
			return query{sql: deleteSplitsSQL, row: noteID(unmarked)}
		}, func() error { return refuseUnmarked(splitIDs, unmarked) })
	})
}

// lookForUnmarked refuses a large deletion of which a split is not marked. The statement finds these.
func (s *Store) lookForUnmarked(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string, statement string) error {
	if len(splitIDs) <= metastore.MaxAtomicSplitIDs {
		return nil
	}
	const operation = "looking at the splits to delete"
	unmarked := make(map[string]bool)
	j := job{log: s.log, operation: operation, indexUID: indexUID, size: checkSize}
	err := j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
		args := [][]byte{textArgument(indexUID.String()), textArrayArgument(ids)}
		return s.read(ctx, operation, func() []query {
			return []query{{sql: statement, args: args, row: noteID(unmarked)}}
		})
	})
	if err != nil {
		return err
	}
	return refuseUnmarked(splitIDs, unmarked)
}

// noteID adds the split id of a row to a set.
func noteID(ids map[string]bool) func(columns) error {
	return func(row columns) error {
		ids[row.text(0)] = true
		return nil
	}
}

// refuseUnmarked names the splits that stand in the way of a deletion, in the order of the request.
func refuseUnmarked(splitIDs []string, unmarked map[string]bool) error {
	if len(unmarked) == 0 {
		return nil
	}
	var refused []string
	for _, id := range metastore.UniqueSplitIDs(splitIDs) {
		if unmarked[id] {
			refused = append(refused, id)
		}
	}
	return metastore.FailedPrecondition(metastore.SplitsEntity(refused), "the splits are not marked for deletion and cannot be deleted")
}
