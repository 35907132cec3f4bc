package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/metastore"
)

// TestEveryFailureOfTheDatabaseHasItsKind has a row for each condition that the server reports, or the driver.
func TestEveryFailureOfTheDatabaseHasItsKind(t *testing.T) {
	t.Parallel()
	index := metastore.IndexEntity("logs")
	ended, end := context.WithCancel(context.Background())
	end()
	for _, row := range []struct {
		name    string
		err     error
		indexID string
		kind    metastore.ErrorKind
		entity  metastore.Entity
	}{
		{"foreign key of an index", state("23503", "splits"), "logs", metastore.KindNotFound, index},
		{"foreign key, no index in the call", state("23503", "splits"), "", metastore.KindInternal, metastore.Entity{}},
		{"index id taken", state("23505", "indexes"), "logs", metastore.KindAlreadyExists, index},
		{"another row taken", state("23505", "delete_tasks"), "logs", metastore.KindInternal, metastore.Entity{}},
		{"null where there must be a value", state("23502", "splits"), "logs", metastore.KindInvalidArgument, metastore.Entity{}},
		{"check violated", state("23514", "splits"), "logs", metastore.KindInvalidArgument, metastore.Entity{}},
		{"text too long", state("22001", "splits"), "logs", metastore.KindInvalidArgument, metastore.Entity{}},
		{"number out of range", state("22003", "splits"), "logs", metastore.KindInvalidArgument, metastore.Entity{}},
		{"time out of range", state("22008", "splits"), "logs", metastore.KindInvalidArgument, metastore.Entity{}},
		{"text that is none", state("22021", ""), "logs", metastore.KindInvalidArgument, metastore.Entity{}},
		{"index id that is no text", state("22021", ""), "lo\x00gs", metastore.KindNotFound, metastore.IndexEntity("lo\x00gs")},
		{"read-only transaction", state("25006", ""), "logs", metastore.KindForbidden, metastore.Entity{}},
		{"no right", state("42501", "splits"), "logs", metastore.KindForbidden, metastore.Entity{}},
		{"wrong password", state("28P01", ""), "", metastore.KindForbidden, metastore.Entity{}},
		{"deadlock", state("40P01", ""), "logs", metastore.KindUnavailable, metastore.Entity{}},
		{"serialization failure", state("40001", ""), "logs", metastore.KindUnavailable, metastore.Entity{}},
		{"too many connections", state("53300", ""), "", metastore.KindUnavailable, metastore.Entity{}},
		{"disk full", state("53100", ""), "logs", metastore.KindUnavailable, metastore.Entity{}},
		{"shutting down", state("57P01", ""), "", metastore.KindUnavailable, metastore.Entity{}},
		{"starting", state("57P03", ""), "", metastore.KindUnavailable, metastore.Entity{}},
		{"statement timeout", state("57014", ""), "logs", metastore.KindTimeout, metastore.Entity{}},
		{"lock timeout", state("55P03", ""), "logs", metastore.KindTimeout, metastore.Entity{}},
		{"no table", state("42P01", "splits"), "logs", metastore.KindInternal, metastore.Entity{}},
		{"a bug of ours", state("42601", ""), "logs", metastore.KindInternal, metastore.Entity{}},
		{"connection lost", fmt.Errorf("receive: %w", io.ErrUnexpectedEOF), "logs", metastore.KindUnavailable, metastore.Entity{}},
		{"no connection free", errPoolBusy, "logs", metastore.KindUnavailable, metastore.Entity{}},
		{"anything else", errors.New("surprise"), "logs", metastore.KindInternal, metastore.Entity{}},
		{"one of the store's own", metastore.NotFound(metastore.SplitsEntity([]string{"a"})), "logs", metastore.KindNotFound, metastore.SplitsEntity([]string{"a"})},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := metastore.AsError(failure(context.Background(), "doing it", row.indexID, row.err))
			if got.Kind != row.kind || !reflect.DeepEqual(got.Entity, row.entity) {
				t.Errorf("kind %s of %+v (%v), want %s of %+v", got.Kind, got.Entity, got, row.kind, row.entity)
			}
			if strings.Contains(got.Error(), "secret") {
				t.Errorf("the error repeats the row: %v", got)
			}
		})
	}
	if got := metastore.AsError(failure(ended, "doing it", "logs", errors.New("closed"))); got.Kind != metastore.KindTimeout {
		t.Errorf("the end of the caller's context gives %s, want Timeout", got.Kind)
	}
	if err := failure(context.Background(), "doing it", "logs", nil); err != nil {
		t.Errorf("no error gives %v", err)
	}
}

func state(code, table string) error {
	return fmt.Errorf("query: %w", &pgconn.PgError{Code: code, TableName: table, Message: "message", Detail: "Failing row contains (secret)."})
}
