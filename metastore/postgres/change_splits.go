package postgres

import (
	"context"

	"holdfast/metastore"
)

// changeJob is a large or small call that changes splits.
func (s *Store) changeJob(operation string, indexUID metastore.IndexUID) job {
	return job{log: s.log, operation: operation, indexUID: indexUID, size: pieceSize}
}

// changeSplits runs the statement of a job on splits under a key-share lock on their index, piece by piece. The
// statement gets the index UID and the ids of a piece before its own arguments.
func (s *Store) changeSplits(ctx context.Context, j job, splitIDs []string, statement query) error {
	return j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
		return s.changePiece(ctx, j, ids, func() query { return statement })
	})
}

// changePiece runs a statement on the splits of one piece as one transaction.
func (s *Store) changePiece(ctx context.Context, j job, ids []string, build func() query) error {
	uid, array := textArgument(j.indexUID.String()), textArrayArgument(ids)
	var indexExists int64
	err := s.mutate(ctx, j.operation, j.indexUID.IndexID, func() []query {
		queries := []query{{sql: lockIndexSQL, args: [][]byte{uid}, affected: &indexExists}}
		if len(ids) == 0 {
			return queries
		}
		statement := build()
		statement.args = append([][]byte{uid, array}, statement.args...)
		return append(queries, statement)
	})
	if err == nil && indexExists == 0 {
		return metastore.NotFound(metastore.IndexEntity(j.indexUID.IndexID))
	}
	return err
}
