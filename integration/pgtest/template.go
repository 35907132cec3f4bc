package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Template is a database on the shared server that is filled once, by the first test that needs it, and of which each
// test gets a copy. That is much faster than to fill a database for each test. A test binary keeps its templates in
// variables of its test package; [Main] drops them.
type Template struct {
	// Fill fills the empty database of that postgres:// URL. It must leave no session on it.
	Fill func(ctx context.Context, dsn string) error

	once sync.Once
	name string
	err  error
}

// Database makes a copy of the template and returns its postgres:// URL. It is dropped when the test ends, together with the
// sessions it still has.
func (p *Template) Database(t testing.TB) string {
	t.Helper()
	server := SharedServer(t)
	p.once.Do(func() { p.name, p.err = server.fillTemplate(p.Fill) })
	if p.err != nil {
		t.Fatalf("fill the template database: %v", p.err)
	}
	return server.DSN(server.databaseFrom(t, p.name))
}

// fillTemplate makes a database that no test drops.
func (s *Server) fillTemplate(fill func(ctx context.Context, dsn string) error) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var unique [6]byte
	_, _ = rand.Read(unique[:]) // never fails, as documented
	name := "t_template_" + hex.EncodeToString(unique[:])
	if err := runSQL(ctx, s.DSN(maintenanceDatabase), "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", err
	}
	shared.Lock()
	shared.templates = append(shared.templates, name)
	shared.Unlock()
	return name, fill(ctx, s.DSN(name))
}

// dropTemplates drops what fillTemplate made.
func (s *Server) dropTemplates(names []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	var failures []error
	for _, name := range names {
		if err := runSQL(ctx, s.DSN(maintenanceDatabase), "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)"); err != nil {
			failures = append(failures, fmt.Errorf("drop template database %s: %w", name, err))
		}
	}
	return errors.Join(failures...)
}
