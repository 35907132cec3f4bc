package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Standby starts a server that follows this one by streaming replication and answers reads. It ends with the test. There is none,
// and it returns nil, where the server is not of a local installation: a container lets no other server replicate from it.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	primary, ok := s.backend.(*localBackend)
	if !ok {
		return nil
	}
	backend, err := newLocalStandby(primary, s.DSN(maintenanceDatabase))
	if err != nil {
		t.Fatalf("make a standby of PostgreSQL: %v", err)
	}
	standby := &Server{backend: backend, private: true}
	t.Cleanup(func() {
		if err := backend.remove(context.Background()); err != nil {
			t.Errorf("remove the standby: %v", err)
		}
	})
	if err := standby.startAndWait(); err != nil {
		t.Fatalf("start the standby: %v", err)
	}
	return standby
}

// newLocalStandby copies a running cluster into one of its own, which is not started yet.
func newLocalStandby(primary *localBackend, dsn string) (_ *localBackend, err error) {
	directory, err := os.MkdirTemp(temporaryRoot(), localPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	l := &localBackend{bin: primary.bin, directory: directory, credential: primary.credential}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(directory))
		}
	}()
	if err := os.WriteFile(filepath.Join(directory, "owner"), fmt.Append(nil, os.Getpid()), 0o600); err != nil {
		return nil, fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	if l.credential != nil {
		if err := os.Chown(directory, int(l.credential.Uid), int(l.credential.Gid)); err != nil {
			return nil, fmt.Errorf("give the directory of PostgreSQL to its user: %w", err)
		}
	}
	if l.port, err = freePort(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	output, err := l.command(ctx, "pg_basebackup", "--dbname", dsn, "--pgdata", filepath.Join(directory, "data"),
		"--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w: %s", err, bytes.TrimSpace(output))
	}
	l.watchdog, err = startWatchdog(localWatchdog, directory)
	return l, err
}
