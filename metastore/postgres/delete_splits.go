package postgres

import (
	"context"

	"holdfast/metastore"
)

// DeleteSplits implements metastore.SplitStore. A large call first looks whether all splits may be deleted. Each piece
// looks again under its locks.
func (s *Store) DeleteSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	j := s.changeJob("deleting splits", indexUID)
	if len(splitIDs) > metastore.MaxAtomicSplitIDs {
		if err := s.refuseReadOnly(j.operation); err != nil {
			return err
		}
		unmarked, err := s.unmarkedSplits(ctx, indexUID, splitIDs)
		if err != nil {
			return err
		}
		if len(unmarked) > 0 {
			return notMarked(splitIDs, unmarked)
		}
	}
	return j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
		var unmarked map[string]bool
		err := s.changePiece(ctx, j, ids, func() query {
			unmarked = make(map[string]bool)
			return query{sql: deleteSplitsSQL, row: noteID(unmarked)}
		})
		if err != nil || len(unmarked) == 0 {
			return err
		}
		return notMarked(splitIDs, unmarked)
	})
}

// unmarkedSplits returns the splits that exist and are not marked.
func (s *Store) unmarkedSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) (map[string]bool, error) {
	const operation = "looking at the splits to delete"
	unmarked := make(map[string]bool)
	j := job{log: s.log, operation: operation, indexUID: indexUID, size: checkSize}
	err := j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
		args := [][]byte{textArgument(indexUID.String()), textArrayArgument(ids)}
		return s.read(ctx, operation, func() []query {
			return []query{{sql: unmarkedSplitsSQL, args: args, row: noteID(unmarked)}}
		})
	})
	return unmarked, err
}

// noteID adds the split id of a row to a set.
func noteID(ids map[string]bool) func(columns) error {
	return func(row columns) error {
		ids[row.text(0)] = true
		return nil
	}
}

// notMarked names the splits that stand in the way of a deletion, in the order of the request.
func notMarked(splitIDs []string, unmarked map[string]bool) error {
	var refused []string
	for _, id := range metastore.UniqueSplitIDs(splitIDs) {
		if unmarked[id] {
			refused = append(refused, id)
		}
	}
	return metastore.FailedPrecondition(metastore.SplitsEntity(refused), "the splits are not marked for deletion and cannot be deleted")
}
