package postgres

import (
	"context"

	"holdfast/metastore"
)

// MarkSplitsForDeletion implements metastore.SplitStore.
func (s *Store) MarkSplitsForDeletion(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeSplits(ctx, "marking splits for deletion", indexUID, splitIDs, func() query {
		return query{sql: markSplitsSQL}
	})
}

// changeSplits runs a statement on splits under a key-share lock on their index. The statement gets the index UID and
// the ids.
func (s *Store) changeSplits(ctx context.Context, operation string, indexUID metastore.IndexUID, splitIDs []string, change func() query) error {
	ids := storableTexts(metastore.UniqueSplitIDs(splitIDs))
	uid, array := textArgument(indexUID.String()), textArrayArgument(ids)
	var indexExists int64
	err := s.mutate(ctx, operation, indexUID.IndexID, func() []query {
		queries := []query{{sql: lockIndexSQL, args: [][]byte{uid}, affected: &indexExists}}
		if len(ids) == 0 {
			return queries
		}
		statement := change()
		statement.args = [][]byte{uid, array}
		return append(queries, statement)
	})
	if err == nil && indexExists == 0 {
		return metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
	}
	return err
}
