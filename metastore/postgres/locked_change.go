package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore/idempotency"
)

// decision is what a transaction makes of what it has read.
type decision struct {
	writes []query
	// commit says that the queries before have changed something that is to stay, even if there is nothing to write.
	commit bool
}

// changeLocked runs a transaction in two round trips: the queries that lock returns, which lock and read in the order
// of locks, and then what decide makes of that. If decide neither writes nor commits, or returns an error, the
// transaction is undone, and the error is that of the call; but a call with a record is committed unless decide returns
// an error. When the server aborts the transaction both run again. The index id is what an error about a missing index
// names.
func (s *Store) changeLocked(ctx context.Context, operation, indexID string, lock func() []query, decide func() (decision, error)) error {
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	if s.record == nil {
		return failure(ctx, operation, indexID, s.repeatLocked(ctx, nil, lock, decide))
	}
	err := s.once(ctx, operation, s.record, func() error {
		return s.repeatLocked(ctx, []*idempotency.Record{s.record}, lock, decide)
	})
	return failure(ctx, operation, indexID, err)
}

// repeatLocked is changeLocked with the errors of the driver. The records are those of the calls in the transaction.
func (s *Store) repeatLocked(ctx context.Context, records []*idempotency.Record, lock func() []query, decide func() (decision, error)) error {
	for attempt := 1; ; attempt++ {
		err := s.tryChangeLocked(ctx, records, lock, decide)
		if isDisconnect(err) {
			// The other idle connections probably lead to the same server.
			s.pool.Reset()
		}
		if err == nil || attempt == maxAttempts || ctx.Err() != nil || !isAborted(err) {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

func (s *Store) tryChangeLocked(ctx context.Context, records []*idempotency.Record, lock func() []query, decide func() (decision, error)) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	// A connection whose transaction is still open is not reused but closed, which undoes the transaction.
	defer release(ctx, conn)

	queries := []query{{sql: "BEGIN ISOLATION LEVEL READ COMMITTED"}}
	if len(records) > 0 {
		queries = append(queries, s.insertRecords(records...))
	}
	err = s.send(ctx, conn, append(queries, lock()...))
	if err != nil {
		return errors.Join(err, s.rollback(ctx, conn))
	}
	decided, err := decide()
	if err != nil || !decided.commit && len(decided.writes)+len(records) == 0 {
		_ = s.rollback(ctx, conn) // what was decided holds, whatever becomes of a transaction that wrote nothing
		return err
	}
	return s.send(ctx, conn, append(decided.writes, query{sql: "COMMIT"}))
}

// rollback ends a transaction in which nothing was written.
func (s *Store) rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().PgConn().TxStatus() == 'I' || conn.Conn().IsClosed() {
		return nil
	}
	return s.send(ctx, conn, []query{{sql: "ROLLBACK"}})
}
