package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Database makes a fresh, empty database on the shared server and returns its postgres:// URL.
// The database is dropped when the test ends, together with the sessions it still has.
func Database(t testing.TB) string {
	t.Helper()
	return SharedServer(t).DSN(SharedServer(t).Database(t))
}

// Database makes a fresh, empty database and returns its name. It is dropped when the test ends,
// together with the sessions it still has.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	// template0, which nobody can be connected to: a session on template1 would make this fail.
	return s.databaseFrom(t, "template0")
}

func (s *Server) databaseFrom(t testing.TB, template string) string {
	t.Helper()
	name := databaseName(t.Name())
	quoted := pgx.Identifier{name}.Sanitize()
	s.Exec(t, maintenanceDatabase, "CREATE DATABASE "+quoted+" TEMPLATE "+pgx.Identifier{template}.Sanitize())
	if s.private {
		return name
	}
	t.Cleanup(func() {
		if err := runSQL(context.Background(), s.DSN(maintenanceDatabase), "DROP DATABASE "+quoted+" WITH (FORCE)"); err != nil {
			t.Errorf("drop database %s: %v", name, err)
		}
	})
	return name
}

// databaseName is unique, and tells a person who looks at the server whose database it is.
func databaseName(test string) string {
	readable := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, test)
	var unique [6]byte
	_, _ = rand.Read(unique[:]) // never fails, as documented
	// PostgreSQL cuts names at 63 bytes.
	return "t_" + readable[:min(len(readable), 40)] + "_" + hex.EncodeToString(unique[:])
}
