package postgres

import (
	"context"
	"errors"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// changeJob is a large or small call that changes splits.
func (s *Store) changeJob(operation string, indexUID metastore.IndexUID) job {
	return job{log: s.log, operation: operation, indexUID: indexUID, size: pieceSize, pieceTime: pieceTime}
}

// changeSplits runs the statement of a job on splits under a key-share lock on their index, piece by piece. The
// statement gets the index UID and the ids of a piece before its own arguments.
func (s *Store) changeSplits(ctx context.Context, j job, splitIDs []string, statement query) error {
	return s.onceInPieces(ctx, j, splitIDs, func(s *Store) error {
		return j.run(ctx, splitIDs, func(ctx context.Context, ids []string) error {
			return s.changePiece(ctx, j, ids, func() query { return statement }, func() error { return nil })
		})
	})
}

// onceInPieces runs a job on the store. If it is large and has a record, its pieces have none, and the record follows them: a
// call that was cut off in between does what it did again, which changes nothing.
func (s *Store) onceInPieces(ctx context.Context, j job, splitIDs []string, run func(*Store) error) error {
	if s.record == nil || len(splitIDs) <= metastore.MaxAtomicSplitIDs {
		return run(s)
	}
	err := s.unlessExecuted(ctx, nil)
	if err == nil {
		// Before anything is done, not when the record is to follow.
		err = s.refuseAtOnce(ctx, j.operation, j.indexUID.IndexID)
	}
	if err != nil {
		return err
	}
	withoutRecord := *s
	withoutRecord.record = nil
	if err := run(&withoutRecord); err != nil {
		return err
	}
	return doneWithoutRecord(j.operation, s.mutate(ctx, j.operation, j.indexUID.IndexID, func() []query { return nil }))
}

// doneWithoutRecord says what is true of a call that was executed if its record is refused.
func doneWithoutRecord(operation string, err error) error {
	var refused *idempotency.Error
	if !errors.As(err, &refused) {
		return err
	}
	told := *refused
	switch refused.Reason {
	case idempotency.KeyReused:
		told.Message = operation + ": while the call ran, its idempotency key was used for another request: every logical call needs a key of its own; both were executed"
	case idempotency.KeyQuota:
		told.Message = operation + ": the call was executed, but its idempotency key cannot be remembered, for the caller has too many by now; to repeat it changes nothing more"
	}
	return &told
}

// changePiece runs a statement on the splits of one piece as one transaction. verdict says from its result why it changed
// nothing.
func (s *Store) changePiece(ctx context.Context, j job, ids []string, build func() query, verdict func() error) error {
	uid, array := textArgument(j.indexUID.String()), textArrayArgument(ids)
	var indexExists int64
	return s.mutateIf(ctx, j.operation, j.indexUID.IndexID, func() []query {
		queries := []query{{sql: lockIndexSQL, args: [][]byte{uid}, affected: &indexExists}}
		if len(ids) == 0 {
			return queries
		}
		statement := build()
		statement.args = append([][]byte{uid, array}, statement.args...)
		return append(queries, statement)
	}, func() error {
		if indexExists == 0 {
			return metastore.NotFound(metastore.IndexEntity(j.indexUID.IndexID))
		}
		return verdict()
	})
}
