package pgtest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestTransactionPoolerSharesFewSessionsAmongManyClients(t *testing.T) {
	t.Parallel()
	pooled := TransactionPooler(t, Database(t))
	sessions := map[string]bool{}
	for range 3 * PoolerSessions {
		conn, err := pgx.Connect(context.Background(), pooled)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the pooler may be gone by then
		var session string
		if err := conn.QueryRow(context.Background(), "SELECT pg_backend_pid()::text", pgx.QueryExecModeExec).Scan(&session); err != nil {
			t.Fatal(err)
		}
		sessions[session] = true
	}
	if len(sessions) > PoolerSessions {
		t.Errorf("%d sessions served the clients, want at most %d", len(sessions), PoolerSessions)
	}
}

func TestTransactionPoolerIsGoneAtTheEndOfItsTest(t *testing.T) {
	t.Parallel()
	started, err := startPooler(Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := started.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(started.directory); !os.IsNotExist(err) {
		t.Errorf("the directory of the pooler is still there: %v", err)
	}
	if err := runSQL(context.Background(), started.address.String(), "SELECT 1"); err == nil {
		t.Error("the pooler still answers")
	}
}

func TestWithoutPgBouncerATestIsToldWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := os.Stat("/usr/sbin/pgbouncer"); err == nil {
		if program, err := findPooler(); err != nil || program != "/usr/sbin/pgbouncer" {
			t.Errorf("found %q, error %v, want the program of Debian's package", program, err)
		}
		return
	}
	if _, err := findPooler(); !errors.Is(err, errNoPooler) {
		t.Errorf("got error %v, want %v", err, errNoPooler)
	}
}
