package postgres

import (
	"context"

	"holdfast/metastore"
)

// DeleteSplits implements metastore.SplitStore.
func (s *Store) DeleteSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	var unmarked map[string]bool
	err := s.changeSplits(ctx, "deleting splits", indexUID, splitIDs, func() query {
		unmarked = make(map[string]bool)
		return query{sql: deleteSplitsSQL, row: func(row columns) error {
			unmarked[row.text(0)] = true
			return nil
		}}
	})
	if err != nil || len(unmarked) == 0 {
		return err
	}
	var refused []string
	for _, id := range metastore.UniqueSplitIDs(splitIDs) {
		if unmarked[id] {
			refused = append(refused, id)
		}
	}
	return metastore.FailedPrecondition(metastore.SplitsEntity(refused), "the splits are not marked for deletion and cannot be deleted")
}
