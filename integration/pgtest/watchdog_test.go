package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// dieVariable turns a run of this test binary into a process that starts a server and dies.
const dieVariable = "HOLDFAST_PGTEST_DIE"

// startAndDie starts a server, prints what it is known by, and dies without a chance to clean up.
func startAndDie(mode string) {
	server, err := startOwn(mode)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch backend := server.backend.(type) {
	case *localBackend:
		fmt.Println(backend.directory)
	case *dockerBackend:
		fmt.Println(backend.container.GetContainerID())
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func TestServerIsRemovedWhenItsTestBinaryIsKilled(t *testing.T) {
	t.Parallel()
	for _, mode := range modes(t) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			process := exec.CommandContext(t.Context(), os.Args[0])
			process.Env = append(os.Environ(), dieVariable+"="+mode)
			process.Stderr = os.Stderr
			output, err := process.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the process ended with %v, want a SIGKILL", err)
			}
			name := strings.TrimSpace(string(output))
			if name == "" {
				t.Fatal("the process started no server")
			}
			waitFor(t, "the removal of "+name, func() bool { return !exists(t, mode, name) })
		})
	}
}

func exists(t *testing.T, mode, name string) bool {
	t.Helper()
	if mode == "local" {
		_, err := os.Stat(name)
		return err == nil
	}
	docker, err := newDockerBackend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = docker.provider.Client().ContainerInspect(t.Context(), name, client.ContainerInspectOptions{})
	return err == nil
}

// waitFor returns when a condition holds.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}
