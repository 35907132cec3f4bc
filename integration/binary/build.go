package binary

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Build returns the path of the metastore binary, a copy that lives as long as the test. Test binaries that call it at the same
// time wait for each other, and what one has built the next ones copy.
func Build(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "metastore")
	if err := build(binary); err != nil {
		t.Fatalf("build the metastore binary: %v", err)
	}
	return binary
}

func build(copyTo string) (err error) {
	cache, err := run("go", "env", "GOCACHE")
	if err != nil {
		return err
	}
	// Beside what go clean -cache knows. go build leaves a binary that is up to date as it is.
	kept := filepath.Join(strings.TrimSpace(cache), "holdfast-metastore")
	lock, err := os.OpenFile(kept+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which gives the lock back
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := run("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", kept, "holdfast/cmd/metastore"); err != nil {
		return err
	}
	return copyFile(kept, copyTo)
}

// run returns what a program printed.
func run(program string, args ...string) (string, error) {
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(output), nil
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
