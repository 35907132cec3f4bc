package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	username = "holdfast"
	password = "holdfast-test"

	// maintenanceDatabase is where databases are created and dropped from.
	maintenanceDatabase = "postgres"

	// startTimeout bounds everything between the order to start a server and its first answer,
	// the pull of an image included.
	startTimeout = 3 * time.Minute

	maxConnections = "300"
)

// backend is a way to run one PostgreSQL server.
type backend interface {
	// start starts the server, the first time or after stop or kill, on the same address and the
	// same data. It need not wait until the server answers.
	start(ctx context.Context) error
	// stop ends the server in its orderly way: open sessions are ended, a checkpoint is written.
	stop(ctx context.Context) error
	// kill ends every process of the server at once, as a loss of power does.
	kill(ctx context.Context) error
	// remove ends the server and deletes all that it left.
	remove(ctx context.Context) error
	// url is the address of the server, user and password included, without a database.
	url() url.URL
	// running returns an error when the server's process is gone.
	running(ctx context.Context) error
	// output is the end of the server's log, for an error message.
	output(ctx context.Context) string
}

// Server is a running PostgreSQL server. Stop, Kill, Start and Restart are for one goroutine
// at a time, the other methods for any number.
type Server struct {
	backend backend

	// private servers are removed with all their databases, so these are not dropped one by one.
	private bool
}

// DSN is the postgres:// URL of one database of the server. It stays the same over restarts.
func (s *Server) DSN(database string) string {
	address := s.backend.url()
	address.Path = "/" + database
	return address.String()
}

// Exec runs one or more SQL statements, separated by semicolons, in a database of the server.
func (s *Server) Exec(t testing.TB, database, sql string) {
	t.Helper()
	if err := runSQL(context.Background(), s.DSN(database), sql); err != nil {
		t.Fatalf("run SQL in database %s: %v", database, err)
	}
}

// Stop ends the server in its orderly way. Sessions see SQLSTATE 57P01.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.backend.stop(context.Background()); err != nil {
		t.Fatalf("stop PostgreSQL: %v", err)
	}
}

// Kill ends every process of the server at once, without a word to its sessions. Only what was
// committed is there after the next Start.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.backend.kill(context.Background()); err != nil {
		t.Fatalf("kill PostgreSQL: %v", err)
	}
}

// Start brings a stopped or killed server back and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.startAndWait(); err != nil {
		t.Fatalf("start PostgreSQL again: %v", err)
	}
}

// Restart is Stop and Start.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

func (s *Server) startAndWait() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := s.backend.start(ctx); err != nil {
		return err
	}
	if err := s.waitUntilReady(ctx); err != nil {
		return fmt.Errorf("%w; the server's log ends:\n%s", err, s.backend.output(context.Background()))
	}
	return nil
}

// waitUntilReady returns when the server answers a query. It asks over TCP: the public image first
// runs a server on its Unix socket only, to set itself up.
func (s *Server) waitUntilReady(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := runSQL(attempt, s.DSN(maintenanceDatabase), "SELECT 1")
		cancel()
		if err == nil {
			return nil
		}
		if gone := s.backend.running(ctx); gone != nil {
			return gone
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until PostgreSQL answers: %w", errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// runSQL runs statements without arguments on a connection of its own.
func runSQL(ctx context.Context, dsn, sql string) (err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// serverURL is the address of a server of ours, without a database.
func serverURL(host string, port int) url.URL {
	return url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(username, password),
		Host:     net.JoinHostPort(host, strconv.Itoa(port)),
		RawQuery: "sslmode=disable",
	}
}
