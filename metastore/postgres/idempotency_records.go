package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// WithRecord implements idempotency.Store.
func (s *Store) WithRecord(record idempotency.Record) metastore.Store {
	keyed := *s
	keyed.record = &record
	return &keyed
}

// KeyScope implements idempotency.Store: one table has all records.
func (s *Store) KeyScope() idempotency.Scope { return idempotency.ScopeGlobal }

// insertRecords returns the statement that begins a transaction of calls with records. If a record is there already it
// fails.
func (s *Store) insertRecords(records ...*idempotency.Record) query {
	if len(records) == 1 {
		r := records[0]
		return query{sql: insertRecordSQL, args: [][]byte{
			r.Key[:],
			r.Principal[:],
			textArgument(r.Operation),
			textArgument(r.Resource),
			r.Fingerprint[:],
			int2Argument(int16(r.FingerprintVersion)),
			textArgument(strconv.FormatInt(s.options.KeyWait.Milliseconds(), 10)),
			textArgument(s.settings.LockTimeout),
		}}
	}
	n := len(records)
	return query{sql: insertRecordsSQL, args: [][]byte{
		bytesArrayOf(oidUUID, n, func(i int) []byte { return records[i].Key[:] }),
		bytesArrayOf(oidBytea, n, func(i int) []byte { return records[i].Principal[:] }),
		textArrayOf(n, func(i int) string { return records[i].Operation }),
		textArrayOf(n, func(i int) string { return records[i].Resource }),
		bytesArrayOf(oidBytea, n, func(i int) []byte { return records[i].Fingerprint[:] }),
		bytesArrayOf(oidInt2, n, func(i int) []byte { return int2Argument(int16(records[i].FingerprintVersion)) }),
	}}
}

func hexArgument(value []byte) []byte { return hex.AppendEncode(nil, value) }

// once runs a transaction that inserts the record of a call, so that it is executed once: if the record is there, once
// says so and nothing was done. When the connection breaks, running it again finds out what became of it.
func (s *Store) once(ctx context.Context, operation string, record *idempotency.Record, transaction func() error) error {
	if err := s.refuseOverQuota(ctx, operation, record); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := transaction()
		switch {
		case err == nil:
			s.quota.add(record.Principal)
			return nil
		case hasRecordConflict(err):
			if err = s.executed(ctx, record); !errors.Is(err, errRecordGone) {
				return err
			}
		case isLockTimeoutOfRecord(err):
			return inFlight(operation, s.options.KeyWait)
		case !isDisconnect(err):
			return err
		}
		if attempt == maxAttempts || pause(ctx, 10*attempt) != nil {
			return outcomeUnknown(operation, err)
		}
	}
}

// removeRecords removes records that the transaction has inserted, of calls that do not take place.
func removeRecords(records []*idempotency.Record) []query {
	if len(records) == 0 {
		return nil
	}
	return []query{{sql: removeRecordsSQL, args: [][]byte{
		textArrayOf(len(records), func(i int) string { return records[i].Key.String() }),
		textArrayOf(len(records), func(i int) string { return hex.EncodeToString(records[i].Principal[:]) }),
	}}}
}

// errRecordGone says that a record was in the way of its own insertion, and is not there any more.
var errRecordGone = errors.New("the record of the idempotency key was removed in the same moment")

// executed tells why a record could not be inserted: its call was executed, or the key was used for another.
func (s *Store) executed(ctx context.Context, record *idempotency.Record) error {
	var known *idempotency.Record
	var status string
	err := s.repeat(ctx, isAborted, func() []query {
		known = nil
		return []query{{
			sql:  findRecordSQL,
			args: [][]byte{textArgument(record.Key.String()), hexArgument(record.Principal[:])},
			row: func(row columns) error {
				if length := len(row[2]); length != len(record.Fingerprint) {
					return fmt.Errorf("column fingerprint has %d bytes, must have %d", length, len(record.Fingerprint))
				}
				known = &idempotency.Record{Key: record.Key, Binding: idempotency.Binding{
					Principal: record.Principal, Operation: row.text(0), Resource: row.text(1),
					Fingerprint: idempotency.Fingerprint(row[2]), FingerprintVersion: int(row.int8(3)),
				}}
				status, known.Result, known.CreateTimestamp = row.text(4), row.text(5), row.seconds(6)
				return nil
			},
		}}
	})
	switch {
	case err != nil:
		return err
	case known == nil:
		return errRecordGone
	case status != "OK":
		return metastore.Internal(nil, "the record of idempotency key %s has status %q, which no server writes; nothing was executed", record.Key.Abbreviated(), status)
	}
	if err := known.Check(record.Binding); err != nil {
		return err
	}
	return &idempotency.Replayed{Record: *known}
}

// unlessExecuted returns the refusal of a call, or that the call was executed before.
func (s *Store) unlessExecuted(ctx context.Context, refusal error) error {
	if s.record == nil {
		return refusal
	}
	if err := s.executed(ctx, s.record); !errors.Is(err, errRecordGone) {
		return failure(ctx, "finding an idempotency record", "", err)
	}
	return refusal
}

// setResult records what a repetition of the call needs to answer.
func (s *Store) setResult(result string) []query {
	if s.record == nil {
		return nil
	}
	return []query{{sql: setRecordResultSQL, args: [][]byte{
		textArgument(s.record.Key.String()),
		hexArgument(s.record.Principal[:]),
		textArgument(result),
	}}}
}

// inFlight says that a transaction with the key was not over in time.
func inFlight(operation string, wait time.Duration) error {
	return &idempotency.Error{
		Reason:     idempotency.KeyInFlight,
		Message:    fmt.Sprintf("%s: a call with this idempotency key is under way and was not over within %s: repeat the call with the same key", operation, wait),
		Metadata:   map[string]string{"operation": operation},
		RetryAfter: wait,
	}
}

// outcomeUnknown says that the connection broke, perhaps while the transaction was being committed, and that no other was
// to be had in time.
func outcomeUnknown(operation string, cause error) error {
	return &idempotency.Error{
		Reason:     idempotency.OutcomeUnknown,
		Message:    fmt.Sprintf("%s: the connection to the database was lost, and whether the call was executed is not known (%s): repeat the call with the same key", operation, describe(cause)),
		Metadata:   map[string]string{"operation": operation},
		RetryAfter: time.Second,
	}
}

const recordsPrimaryKey = "idempotency_records_pkey"

func hasRecordConflict(err error) bool {
	var database *pgconn.PgError
	return errors.As(err, &database) && database.Code == stateUniqueViolation && database.ConstraintName == recordsPrimaryKey
}

// isLockTimeoutOfRecord tells the wait for another call with the key from other waits, if these are bounded too.
func isLockTimeoutOfRecord(err error) bool {
	var database *pgconn.PgError
	return errors.As(err, &database) && database.Code == stateLockNotAvailable && strings.Contains(database.Where, "idempotency_records")
}
