package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/metastore"
)

const listOperation = "listing splits"

// ListSplits implements metastore.SplitStore. What it hands out is the state of one instant. It holds a connection
// until the last split was visited, so the number of listings at one time is bounded, and one whose
// consumer takes longer than StreamStallTimeout over a split is given up.
func (s *Store) ListSplits(ctx context.Context, list *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
	statement, err := s.listStatement(list)
	if err != nil || statement.empty {
		return err
	}
	reader := rowReader{}
	return s.list(ctx, statement, func(columns columns) error {
		row, err := reader.read(columns)
		if err != nil {
			return err
		}
		if err := visit(row); err != nil {
			return visitError{err}
		}
		return nil
	})
}

// list runs a listing and hands out its rows. visit returns a visitError if its consumer fails.
func (s *Store) list(ctx context.Context, statement listStatement, visit func(columns) error) error {
	if err := s.enterListing(ctx); err != nil {
		return err
	}
	defer func() { <-s.listings }()

	visited := false
	for attempt := 1; ; attempt++ {
		err := s.stream(ctx, statement, func(row columns) error {
			visited = true
			return visit(row)
		})
		var fromVisit visitError
		if errors.As(err, &fromVisit) {
			return fromVisit.error
		}
		if isDisconnect(err) {
			s.pool.Reset()
		}
		if err == nil || visited || attempt > 1 || ctx.Err() != nil || !isDisconnect(err) {
			return failure(ctx, listOperation, "", err)
		}
	}
}

// enterListing waits until one more listing may run.
func (s *Store) enterListing(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, s.options.AcquireTimeout)
	defer cancel()
	select {
	case s.listings <- struct{}{}:
		return nil
	case <-bounded.Done():
		if ctx.Err() != nil {
			return metastore.Timeout(context.Cause(ctx), "%s", listOperation)
		}
		return metastore.Unavailable(nil, "%s: %d listings are running already, which is the most", listOperation, cap(s.listings))
	}
}

// visitError is an error of the consumer, on its way through.
type visitError struct{ error }

func (s *Store) stream(ctx context.Context, statement listStatement, visit func(columns) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	lease := newLease(ctx, conn, s.options.StreamStallTimeout)
	defer lease.end()

	// The format and the types are in the text, so one unnamed statement does, whatever the mode.
	result := conn.Conn().PgConn().ExecParams(ctx, statement.sql, statement.args, nil, binaryFormat, binaryFormat)
	return s.visitRows(result, lease, visit)
}

func (s *Store) visitRows(result *pgconn.ResultReader, lease *lease, visit func(columns) error) error {
	for result.NextRow() {
		lease.visiting()
		err := visit(columns(result.Values()))
		if stalled := !lease.visited(); stalled {
			return metastore.Timeout(nil, "%s: the consumer took longer than %s over one split", listOperation, s.options.StreamStallTimeout)
		}
		if err != nil {
			return err // the unread rest makes the lease close the connection
		}
	}
	_, err := result.Close()
	return err
}

// rowReader makes split rows of the columns of listColumns. A row shares its memory with others, which is freed when none of
// them is in use any more.
type rowReader struct {
	row     metastore.SplitRow
	patched []byte
	chunk   strings.Builder
}

// listColumns are what a listing selects; rowReader knows them by their position.
const listColumns = `
    index_uid,
    split_id,
    split_state,
    create_timestamp,
    update_timestamp,
    publish_timestamp,
    delete_opstamp,
    split_metadata_json`

const chunkSize = 64 << 10

func (r *rowReader) read(row columns) (*metastore.SplitRow, error) {
	state, err := row.state(2)
	if err == nil {
		r.patched, err = metastore.PatchDocument(r.patched[:0], row[7], row.text(0), metastore.Some(row.seconds(3)), uint64(row.int8(6)))
	}
	if err != nil {
		return nil, fmt.Errorf("split %.60q of index %.300q: %w", row[1], row[0], err)
	}
	r.row = metastore.SplitRow{
		State:            state,
		UpdateTimestamp:  row.seconds(4),
		PublishTimestamp: row.optionalSeconds(5),
		Document:         r.keep(r.patched),
	}
	return &r.row, nil
}

// keep copies text into the current chunk.
func (r *rowReader) keep(text []byte) string {
	if r.chunk.Cap()-r.chunk.Len() < len(text) {
		r.chunk.Reset()
		r.chunk.Grow(max(chunkSize, len(text)))
	}
	start := r.chunk.Len()
	r.chunk.Write(text)
	return r.chunk.String()[start:]
}
