package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// removeTimeout bounds the removal of one server.
const removeTimeout = 30 * time.Second

// shared is the one server of this test binary. It is state of the package because a test binary has no
// other place that all its tests and its TestMain reach.
var shared struct {
	sync.Mutex
	server    *Server
	err       error
	templates []string // names of databases that live as long as the test binary
}

// SharedServer is the server that all tests of this test binary use. The first call starts it.
// Do not stop, kill or restart it: other tests run on it at the same time.
func SharedServer(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = startServer()
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// PrivateServer starts a server for one test, which may stop, kill and restart it. It is removed when
// the test ends. It is a server of our own even where HOLDFAST_TEST_POSTGRES names an existing one.
func PrivateServer(t testing.TB) *Server {
	t.Helper()
	mode := os.Getenv(modeVariable)
	if isURL(mode) {
		mode = ""
	}
	return privateServer(t, mode)
}

func privateServer(t testing.TB, mode string) *Server {
	t.Helper()
	server, err := startOwn(mode)
	if err != nil {
		t.Fatal(err)
	}
	server.private = true
	t.Cleanup(func() {
		if err := server.remove(); err != nil {
			t.Errorf("remove PostgreSQL: %v", err)
		}
	})
	return server
}

// Main runs the tests of a package and removes the shared server before it exits the process:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// A test binary that ends in another way (a panic, a timeout, a signal, no Main at all) leaves the removal to
// a small process that watches it.
func Main(m *testing.M) {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := errors.Join(shared.server.dropTemplates(shared.templates), shared.server.remove()); err != nil {
			fmt.Fprintf(os.Stderr, "pgtest: remove PostgreSQL: %v\n", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func (s *Server) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	return s.backend.remove(ctx)
}
