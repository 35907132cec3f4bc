package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// Conditions that the server reports, by their SQLSTATE.
const (
	stateProtocolViolation   = "08P01"
	stateDivisionByZero      = "22012"
	stateUntranslatable      = "22021"
	stateNotNullViolation    = "23502"
	stateForeignKeyViolation = "23503"
	stateUniqueViolation     = "23505"
	stateCheckViolation      = "23514"
	stateReadOnly            = "25006"
	stateSerialization       = "40001"
	stateDeadlock            = "40P01"
	stateInsufficientRights  = "42501"
	stateUndefinedSchema     = "3F000"
	stateUndefinedFunction   = "42883"
	stateUndefinedTable      = "42P01"
	stateLockNotAvailable    = "55P03"
	stateQueryCanceled       = "57014"
	stateAdminShutdown       = "57P01"
	stateCrashShutdown       = "57P02"
	stateCannotConnectNow    = "57P03"
	stateIdleSessionTimeout  = "57P05"
)

// failure turns an error of the driver into an *metastore.Error. It returns nil for nil, and what is one already
// as it is. The index id is what an error about a missing or an existing index names.
func failure(ctx context.Context, operation, indexID string, err error) error {
	if err == nil {
		return nil
	}
	var typed *metastore.Error
	if errors.As(err, &typed) {
		return typed
	}
	var refused *idempotency.Error
	if errors.As(err, &refused) {
		return refused
	}
	var replayed *idempotency.Replayed
	if errors.As(err, &replayed) {
		return replayed
	}
	var database *pgconn.PgError
	if errors.As(err, &database) {
		return databaseFailure(operation, indexID, database)
	}
	switch {
	case errors.Is(err, errPoolBusy):
		return metastore.Unavailable(err, "%s", operation)
	case ctx.Err() != nil:
		return metastore.Timeout(context.Cause(ctx), "%s", operation)
	case isDisconnect(err):
		return metastore.Unavailable(describe(err), "%s: the connection to the database failed", operation)
	}
	return metastore.Internal(describe(err), "%s", operation)
}

func databaseFailure(operation, indexID string, err *pgconn.PgError) error {
	// Only the message: the detail may quote whole rows.
	cause := errors.New(err.Message + " (SQLSTATE " + err.Code + ")")
	switch err.Code {
	case stateProtocolViolation:
		if strings.HasPrefix(err.Message, "unsupported startup parameter") {
			return metastore.InvalidArgument("%s: the pooler in front of the database refused a setting of the session: %s; behind a transaction-pooling proxy use neither prepared statements nor settings in the DSN", operation, cause)
		}
	case stateUntranslatable:
		// No index has an id that the database cannot hold.
		if !isStorable(indexID) {
			return metastore.NotFound(metastore.IndexEntity(indexID))
		}
	case stateForeignKeyViolation:
		if indexID != "" {
			return metastore.NotFound(metastore.IndexEntity(indexID))
		}
	case stateUniqueViolation:
		if indexID != "" && strings.HasPrefix(err.TableName, "indexes") {
			return metastore.AlreadyExists(metastore.IndexEntity(indexID))
		}
	case stateNotNullViolation, stateCheckViolation:
		return refusedValue(operation, cause)
	case stateReadOnly, stateInsufficientRights:
		if err.Code == stateInsufficientRights && strings.Contains(err.Message, "idempotency_record") {
			return metastore.Forbidden(cause, "%s: the database refused it: grant the user SELECT, INSERT, UPDATE and DELETE on holdfast.idempotency_records and EXECUTE on the functions of schema holdfast", operation)
		}
		return metastore.Forbidden(cause, "%s: the database refused it", operation)
	case stateUndefinedTable, stateUndefinedFunction, stateUndefinedSchema:
		return metastore.Internal(cause, "%s: the database lacks a part of the metastore's schema; run metastore migrate", operation)
	case stateQueryCanceled, stateLockNotAvailable:
		return metastore.Timeout(cause, "%s: the database gave up", operation)
	case stateSerialization, stateDeadlock:
		return metastore.Unavailable(cause, "%s: the database aborted it, also when repeated", operation)
	}
	switch err.Code[:min(2, len(err.Code))] {
	case "22", "54": // wrong, or beyond a limit: a metric name can be too long for an index
		return refusedValue(operation, cause)
	case "28":
		return metastore.Forbidden(cause, "%s: the database refused the credentials", operation)
	case "08", "53":
		return metastore.Unavailable(cause, "%s", operation)
	case "57":
		return metastore.Unavailable(cause, "%s: the database is shutting down or starting", operation)
	}
	return metastore.Internal(cause, "%s", operation)
}

func refusedValue(operation string, cause error) error {
	return metastore.InvalidArgument("%s: the database refused a value: %s", operation, cause)
}

// describe returns the error without what the driver tells about the address, where parts of it could be secret.
func describe(err error) error {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		if cause := connect.Unwrap(); cause != nil {
			return describe(cause)
		}
		return errors.New("cannot connect")
	}
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		return errDSN
	}
	return err
}

// isAborted reports whether the server undid a transaction that may simply be repeated.
func isAborted(err error) bool {
	return hasState(err, stateDeadlock, stateSerialization)
}

// isRefusal reports whether the server has said that it undid the transaction and goes on.
func isRefusal(err error) bool {
	var database *pgconn.PgError
	return errors.As(err, &database) && !isDisconnect(err)
}

// isDisconnect reports whether the connection is gone or could not be made.
func isDisconnect(err error) bool {
	if err == nil {
		return false
	}
	if hasState(err, stateAdminShutdown, stateCrashShutdown, stateCannotConnectNow, stateIdleSessionTimeout) {
		return true
	}
	var database *pgconn.PgError
	if errors.As(err, &database) {
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed")
}

func hasState(err error, states ...string) bool {
	var database *pgconn.PgError
	if !errors.As(err, &database) {
		return false
	}
	for _, state := range states {
		if database.Code == state {
			return true
		}
	}
	return false
}
