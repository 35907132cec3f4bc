package postgres

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
)

// query is one statement with its arguments.
type query struct {
	sql  string
	args [][]byte
	// row is called for each row of the result; what it is given is valid until it returns. Nil ignores them.
	row func(row columns) error
	// affected, if not nil, receives the number of rows that the statement changed, returned or locked.
	affected *int64
}

// maxAttempts bounds how often a call is tried that the server keeps aborting.
const maxAttempts = 6

// binaryFormat says that all values are in binary format.
var binaryFormat = []int16{1}

// mutate runs the queries that build returns as one transaction, all or nothing, in one round trip.
// When the server aborts it because of a deadlock or a serialization failure it builds and runs them again.
// The index id is what an error about a missing or an existing index names.
func (s *Store) mutate(ctx context.Context, operation, indexID string, build func() []query) error {
	return s.mutateIf(ctx, operation, indexID, build, nil)
}

// mutateIf is mutate for a call whose results tell whether it takes place: verdict says why not. The queries change
// nothing then, so that nothing has to be undone but the record of the call, if it has one.
func (s *Store) mutateIf(ctx context.Context, operation, indexID string, build func() []query, verdict func() error) error {
	if s.record != nil && verdict != nil {
		return s.changeLocked(ctx, operation, indexID, build, func() (decision, error) { return decision{}, verdict() })
	}
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	err := failure(ctx, operation, indexID, s.write(ctx, operation, build))
	if err == nil && verdict != nil {
		return verdict()
	}
	return err
}

// write is mutate with the errors of the driver. The record of the call, if it has one, is written first.
func (s *Store) write(ctx context.Context, operation string, build func() []query) error {
	if s.record == nil {
		return s.repeat(ctx, isAborted, build)
	}
	return s.once(ctx, operation, s.record, func() error {
		return s.repeat(ctx, isAborted, func() []query { return append([]query{s.insertRecords(s.record)}, build()...) })
	})
}

// read runs queries that change nothing. It repeats them once when the connection breaks.
func (s *Store) read(ctx context.Context, operation string, build func() []query) error {
	broken := 0
	err := s.repeat(ctx, func(err error) bool {
		if isDisconnect(err) {
			broken++
			return broken == 1
		}
		return isAborted(err)
	}, build)
	return failure(ctx, operation, "", err)
}

func (s *Store) refuseReadOnly(operation string) error {
	if s.options.ReadOnly {
		return metastore.Forbidden(nil, "%s: the store is opened read-only", operation)
	}
	return nil
}

func (s *Store) repeat(ctx context.Context, again func(error) bool, build func() []query) error {
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, build())
		if err == nil || attempt == maxAttempts || ctx.Err() != nil || !again(err) {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// pause waits a little before another attempt, longer from one to the next.
func pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(time.Duration(1+rand.IntN(10*attempt)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (s *Store) attempt(ctx context.Context, queries []query) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release(ctx, conn)
	err = s.send(ctx, conn, queries)
	if isDisconnect(err) {
		// The other idle connections probably lead to the same server.
		s.pool.Reset()
	}
	return err
}

// release gives a connection back. One whose call was cancelled is closed: the order to cancel could reach the server late,
// and hit the next call.
func release(ctx context.Context, conn *pgxpool.Conn) {
	if ctx.Err() != nil {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Conn().Close(bounded) // it is of no more use either way
	}
	conn.Release()
}

var errPoolBusy = errors.New("no connection to the database became free in time")

// acquire takes a connection from the pool. It waits no longer than AcquireTimeout.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, s.options.AcquireTimeout, errPoolBusy)
	defer cancel()
	conn, err := s.pool.Acquire(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, errPoolBusy
	}
	return conn, err
}

// send sends the queries together, without waiting for one answer before the next. Outside of a transaction they are
// one: PostgreSQL commits at the end of what was sent together.
func (s *Store) send(ctx context.Context, conn *pgxpool.Conn, queries []query) error {
	batch := &pgconn.Batch{}
	for _, q := range queries {
		if !s.options.PreparedStatements {
			batch.ExecParams(q.sql, q.args, nil, binaryFormat, binaryFormat)
			continue
		}
		// Sent to the server only the first time on this connection.
		prepared, err := conn.Conn().Prepare(ctx, statementName(q.sql), q.sql)
		if err != nil {
			return err
		}
		batch.ExecPrepared(prepared.Name, q.args, binaryFormat, binaryFormat)
	}
	return receive(conn.Conn().PgConn().ExecBatch(ctx, batch), queries)
}

func receive(results *pgconn.MultiResultReader, queries []query) error {
	var failed error
	for i := 0; results.NextResult(); i++ {
		result := results.ResultReader()
		for result.NextRow() {
			if failed == nil && i < len(queries) && queries[i].row != nil {
				failed = queries[i].row(columns(result.Values()))
			}
		}
		tag, err := result.Close()
		if err == nil && i < len(queries) && queries[i].affected != nil {
			*queries[i].affected = tag.RowsAffected()
		}
	}
	return errors.Join(results.Close(), failed)
}

// statementName names a prepared statement after its text.
func statementName(sql string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(sql)) // never fails, as documented
	return "holdfast_" + strconv.FormatUint(hash.Sum64(), 16)
}
