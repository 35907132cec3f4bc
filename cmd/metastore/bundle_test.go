package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long tests wait for what has to happen.
const patience = 2 * time.Minute

// buffer is a bytes.Buffer that may be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// result is what a command left behind.
type result struct {
	status         int
	stdout, stderr string
}

// execute runs one command line to its end.
func execute(t *testing.T, sys *system, args ...string) result {
	t.Helper()
	var stdout, stderr buffer
	sys.stdout, sys.stderr = &stdout, &stderr
	if sys.stdin == nil {
		sys.stdin = strings.NewReader("")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status := run(ctx, args, sys)
	return result{status, stdout.String(), stderr.String()}
}

// server is a server that runs in this process.
type server struct {
	grpc, http string // addresses
	signals    chan os.Signal
	stderr     *buffer
	done       chan struct{}
	status     int // set when done is closed
}

// serve starts a server on free ports. The test fails if it does not stop well at the end.
func serve(t *testing.T, environ []string, args ...string) *server {
	t.Helper()
	s := &server{signals: make(chan os.Signal, 2), stderr: &buffer{}, done: make(chan struct{})}
	addresses := make(chan [2]string, 1)
	sys := &system{
		stdin: strings.NewReader(""), stdout: &buffer{}, stderr: s.stderr, environ: environ, signals: s.signals,
		serving: func(grpc, http net.Addr) { addresses <- [2]string{grpc.String(), http.String()} },
	}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...)
	go func() {
		defer close(s.done)
		s.status = run(context.Background(), args, sys)
	}()
	select {
	case found := <-addresses:
		s.grpc, s.http = found[0], found[1]
	case <-s.done:
		t.Fatalf("the server ended with status %d: %s", s.status, s.stderr)
	case <-time.After(patience):
		t.Fatalf("the server did not start: %s", s.stderr)
	}
	t.Cleanup(func() { require.Equal(t, exitSuccess, s.stop(t)) })
	return s
}

// stop ends the server and returns its exit status. It may be called again.
func (s *server) stop(t *testing.T) int {
	t.Helper()
	select {
	case s.signals <- syscall.SIGTERM:
	case <-s.done:
	}
	return s.wait(t)
}

func (s *server) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-s.done:
		return s.status
	case <-time.After(patience):
		t.Fatalf("the server did not stop: %s", s.stderr)
		return -1
	}
}

// run executes a client command against the server.
func (s *server) run(t *testing.T, args ...string) result {
	t.Helper()
	return execute(t, &system{environ: []string{"HOLDFAST_SERVER=" + s.grpc}}, args...)
}

// ok executes a client command that has to succeed and returns its stdout.
func (s *server) ok(t *testing.T, args ...string) string {
	t.Helper()
	r := s.run(t, args...)
	require.Equal(t, exitSuccess, r.status, "%v: %s", args, r.stderr)
	return r.stdout
}

// withWebAccess starts a server that has the index of the fixture.
func withWebAccess(t *testing.T) *server {
	t.Helper()
	s := serve(t, nil, "--store", "mem://")
	s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	return s
}
