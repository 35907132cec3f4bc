package postgres

import (
	"context"

	"holdfast/metastore"
)

// MarkSplitsForDeletion implements metastore.SplitStore.
func (s *Store) MarkSplitsForDeletion(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeSplits(ctx, s.changeJob("marking splits for deletion", indexUID), splitIDs, query{sql: markSplitsSQL})
}
