package pgtest

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(dieVariable); mode != "" {
		startAndDie(mode)
	}
	Main(m)
}

func queryText(t *testing.T, dsn, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Errorf("close the connection: %v", err)
		}
	}()
	var text string
	if err := conn.QueryRow(context.Background(), sql).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

func TestEachDatabaseIsEmptyAndItsOwn(t *testing.T) {
	t.Parallel()
	first, second := Database(t), Database(t)
	if first == second {
		t.Fatalf("two databases share the address %s", first)
	}
	if err := runSQL(context.Background(), first, "CREATE TABLE only_here (id int)"); err != nil {
		t.Fatal(err)
	}
	if tables := queryText(t, second, "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'"); tables != "0" {
		t.Errorf("the second database has %s tables, want 0", tables)
	}
}

func TestDatabaseIsDroppedAtTheEndOfItsTestDespiteOpenSessions(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("a test that leaves a session behind", func(t *testing.T) {
		name = SharedServer(t).Database(t)
		conn, err := pgx.Connect(context.Background(), SharedServer(t).DSN(name))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn // left open on purpose
	})
	maintenance := SharedServer(t).DSN(maintenanceDatabase)
	if left := queryText(t, maintenance, "SELECT count(*)::text FROM pg_database WHERE datname = '"+name+"'"); left != "0" {
		t.Errorf("database %s is still there", name)
	}
}

func TestServerWritesDurablyAndTakesManySessions(t *testing.T) {
	t.Parallel()
	dsn := Database(t)
	if fsync := queryText(t, dsn, "SHOW fsync"); fsync != "on" {
		t.Errorf("fsync is %s, want on", fsync)
	}
	if commit := queryText(t, dsn, "SHOW synchronous_commit"); commit != "on" {
		t.Errorf("synchronous_commit is %s, want on", commit)
	}
	if connections := queryText(t, dsn, "SHOW max_connections"); connections != maxConnections {
		t.Errorf("max_connections is %s, want %s", connections, maxConnections)
	}
}

// modes are the ways to run a server that this machine offers: every one that the environment does not rule out.
func modes(t *testing.T) []string {
	t.Helper()
	forced := os.Getenv(modeVariable)
	if forced == "docker" || forced == "local" {
		return []string{forced}
	}
	var found []string
	if _, err := newDockerBackend(context.Background()); err == nil {
		found = append(found, "docker")
	}
	if _, err := findInstallation(); err == nil {
		found = append(found, "local")
	}
	if len(found) == 0 {
		t.Fatal(errNoPostgres)
	}
	return found
}

func TestPrivateServerComesBackWithItsDataUnderTheSameAddress(t *testing.T) {
	t.Parallel()
	for _, mode := range modes(t) {
		for _, way := range []struct {
			name string
			end  func(*Server, testing.TB)
		}{
			{"stopped", (*Server).Stop},
			{"killed twice", func(s *Server, t testing.TB) { s.Kill(t); s.Kill(t) }},
		} {
			t.Run(mode+" "+way.name, func(t *testing.T) {
				t.Parallel()
				server := privateServer(t, mode)
				dsn := server.DSN(server.Database(t))
				if err := runSQL(context.Background(), dsn, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)"); err != nil {
					t.Fatal(err)
				}
				way.end(server, t)
				if err := runSQL(context.Background(), dsn, "SELECT 1"); err == nil {
					t.Fatal("the server still answers")
				}
				server.Start(t)
				if id := queryText(t, dsn, "SELECT id::text FROM kept"); id != "7" {
					t.Errorf("the row is %s, want 7", id)
				}
			})
		}
	}
}

func TestRestartEndsSessionsAndServesAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range modes(t) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := privateServer(t, mode)
			before := queryText(t, server.DSN(maintenanceDatabase), "SELECT pg_postmaster_start_time()::text")
			server.Restart(t)
			if after := queryText(t, server.DSN(maintenanceDatabase), "SELECT pg_postmaster_start_time()::text"); after == before {
				t.Errorf("the server started at %s both before and after the restart", after)
			}
		})
	}
}
