package postgres

import (
	"context"

	"holdfast/metastore"
)

// MarkParquetSplitsForDeletion implements metastore.ParquetSplitStore.
func (s *Store) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeParquetSplits(ctx, "marking Parquet splits for deletion", indexUID, splitIDs, func() query {
		return query{sql: parquetTables[kind].mark}
	})
}

// DeleteParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	var unmarked map[string]bool
	err := s.changeParquetSplits(ctx, "deleting Parquet splits", indexUID, splitIDs, func() query {
		unmarked = map[string]bool{}
		return query{sql: parquetTables[kind].delete, row: func(row columns) error {
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

// changeParquetSplits runs a statement on Parquet splits. The statement gets the index UID and the ids. Where there is
// no index there are no splits.
func (s *Store) changeParquetSplits(ctx context.Context, operation string, indexUID metastore.IndexUID, splitIDs []string, change func() query) error {
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	ids := storableTexts(metastore.UniqueSplitIDs(splitIDs))
	if len(ids) == 0 || !isStorable(indexUID.IndexID) {
		return nil
	}
	args := [][]byte{textArgument(indexUID.String()), textArrayArgument(ids)}
	return s.mutate(ctx, operation, indexUID.IndexID, func() []query {
		statement := change()
		statement.args = args
		return []query{statement}
	})
}
