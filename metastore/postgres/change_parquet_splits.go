package postgres

import (
	"context"

	"holdfast/metastore"
)

// MarkParquetSplitsForDeletion implements metastore.ParquetSplitStore.
func (s *Store) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	j := s.changeJob("marking Parquet splits for deletion", indexUID)
	return s.changeParquetSplits(ctx, j, splitIDs, func(s *Store) error {
		return j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
			return s.changeParquetPiece(ctx, j, ids, func() query { return query{sql: parquetTables[kind].mark} }, nil)
		})
	})
}

// DeleteParquetSplits implements metastore.ParquetSplitStore. A large call does as that of DeleteSplits.
func (s *Store) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	j := s.changeJob("deleting Parquet splits", indexUID)
	return s.changeParquetSplits(ctx, j, splitIDs, func(s *Store) error {
		if err := s.lookForUnmarked(ctx, indexUID, splitIDs, parquetTables[kind].unmarked); err != nil {
			return err
		}
		return j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
			unmarked := make(map[string]bool)
			return s.changeParquetPiece(ctx, j, ids, func() query {
				clear(unmarked)
				return query{sql: parquetTables[kind].delete, row: noteID(unmarked)}
			}, func() error { return refuseUnmarked(splitIDs, unmarked) })
		})
	})
}

// changeParquetSplits runs a job on Parquet splits. Where there is no index there are none.
func (s *Store) changeParquetSplits(ctx context.Context, j job, splitIDs []string, run func(*Store) error) error {
	if err := s.refuseReadOnly(j.operation); err != nil {
		return err
	}
	if !isStorable(j.indexUID.IndexID) {
		return nil
	}
	return s.onceInPieces(ctx, j, splitIDs, run)
}

// changeParquetPiece runs a statement on the Parquet splits of one piece as one transaction. The statement gets the index UID
// and the ids.
func (s *Store) changeParquetPiece(ctx context.Context, j job, ids []string, change func() query, verdict func() error) error {
	if len(ids) == 0 {
		return nil
	}
	args := [][]byte{textArgument(j.indexUID.String()), textArrayArgument(ids)}
	return s.mutateIf(ctx, j.operation, j.indexUID.IndexID, func() []query {
		statement := change()
		statement.args = args
		return []query{statement}
	}, verdict)
}
