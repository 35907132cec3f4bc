package postgres

import (
	"context"

	"holdfast/metastore"
)

// MarkParquetSplitsForDeletion implements metastore.ParquetSplitStore.
func (s *Store) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	return s.changeParquetSplits(ctx, "marking Parquet splits for deletion", indexUID, splitIDs, func() query {
		return query{sql: parquetTables[kind].mark}
	}, nil)
}

// DeleteParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	unmarked := make(map[string]bool)
	return s.changeParquetSplits(ctx, "deleting Parquet splits", indexUID, splitIDs, func() query {
		clear(unmarked)
		return query{sql: parquetTables[kind].delete, row: noteID(unmarked)}
	}, func() error { return refuseUnmarked(splitIDs, unmarked) })
}

// changeParquetSplits runs a statement on Parquet splits. The statement gets the index UID and the ids. Where there is
// no index there are no splits.
func (s *Store) changeParquetSplits(ctx context.Context, operation string, indexUID metastore.IndexUID, splitIDs []string, change func() query, verdict func() error) error {
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	ids := storableTexts(metastore.UniqueSplitIDs(splitIDs))
	if len(ids) == 0 || !isStorable(indexUID.IndexID) {
		return nil
	}
	args := [][]byte{textArgument(indexUID.String()), textArrayArgument(ids)}
	return s.mutateIf(ctx, operation, indexUID.IndexID, func() []query {
		statement := change()
		statement.args = args
		return []query{statement}
	}, verdict)
}
