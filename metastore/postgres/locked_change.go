package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// changeLocked runs a transaction in two round trips: the queries that lock returns, which lock and read in the order
// of locks, and then what decide makes of that. If decide returns no query, or an error, the transaction is undone, and
// the error is that of the call. When the server aborts the transaction both run again.
// The index id is what an error about a missing index names.
func (s *Store) changeLocked(ctx context.Context, operation, indexID string, lock func() []query, decide func() ([]query, error)) error {
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := s.tryChangeLocked(ctx, lock, decide)
		if err == nil {
			return nil
		}
		if isDisconnect(err) {
			// The other idle connections probably lead to the same server.
			s.pool.Reset()
		}
		if attempt == maxAttempts || ctx.Err() != nil || !isAborted(err) {
			return failure(ctx, operation, indexID, err)
		}
		if err := pause(ctx, attempt); err != nil {
			return failure(ctx, operation, indexID, err)
		}
	}
}

func (s *Store) tryChangeLocked(ctx context.Context, lock func() []query, decide func() ([]query, error)) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	// A connection whose transaction is still open is not reused but closed, which undoes the transaction.
	defer release(ctx, conn)

	err = s.send(ctx, conn, append([]query{{sql: "BEGIN ISOLATION LEVEL READ COMMITTED"}}, lock()...))
	if err != nil {
		return errors.Join(err, s.rollback(ctx, conn))
	}
	writes, err := decide()
	if err != nil || len(writes) == 0 {
		_ = s.rollback(ctx, conn) // what was decided holds, whatever becomes of a transaction that wrote nothing
		return err
	}
	return s.send(ctx, conn, append(writes, query{sql: "COMMIT"}))
}

// rollback ends a transaction in which nothing was written.
func (s *Store) rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().PgConn().TxStatus() == 'I' || conn.Conn().IsClosed() {
		return nil
	}
	return s.send(ctx, conn, []query{{sql: "ROLLBACK"}})
}
