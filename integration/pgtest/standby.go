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

// ReplicatedServer starts a server of the test's own, and another one that follows it by streaming replication and answers
// reads. Both end with the test. They are of a local installation, whatever the environment says, because a container lets no
// other server replicate from it; without an installation both are nil.
func ReplicatedServer(t testing.TB) (primary, standby *Server) {
	t.Helper()
	if _, err := findInstallation(); err != nil {
		return nil, nil
	}
	primary = privateServer(t, "local")
	backend, err := newLocalStandby(primary.backend.(*localBackend), primary.DSN(maintenanceDatabase))
	if err != nil {
		t.Fatalf("make a standby of PostgreSQL: %v", err)
	}
	standby = &Server{backend: backend, private: true}
	t.Cleanup(func() {
		if err := standby.remove(); err != nil {
			t.Errorf("remove the standby: %v", err)
		}
	})
	if err := standby.startAndWait(); err != nil {
		t.Fatalf("start the standby: %v", err)
	}
	return primary, standby
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
