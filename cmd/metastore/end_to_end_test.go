package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a metastore server in a process of its own.
type process struct {
	cmd    *exec.Cmd
	server string
}

// startProcess runs the binary on a store and waits until it serves.
func startProcess(t *testing.T, binary, store string) *process {
	t.Helper()
	var stderr buffer
	p := &process{cmd: exec.Command(binary, "serve", "--store", store, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")}
	p.cmd.Stderr = &stderr
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	address := regexp.MustCompile(`metastore is serving.* grpc=(\S+)`)
	require.Eventually(t, func() bool {
		match := address.FindStringSubmatch(stderr.String())
		if match != nil {
			p.server = match[1]
		}
		return match != nil
	}, patience, 10*time.Millisecond, "the server does not serve: %s", &stderr)
	return p
}

// kill ends the process without warning.
func (p *process) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	require.Error(t, p.cmd.Wait())
}

func (p *process) command(t *testing.T, binary string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append(args, "--server", p.server)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%v: %s", args, &stderr)
	return string(out)
}

// TestEveryRowIsThereAfterKill9 is the main job, with the real binary: stage, kill the server, start
// it again, find every row, and stage again what is missing, which is nothing.
func TestEveryRowIsThereAfterKill9(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "metastore")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "-ldflags", "-X main.version=v9.9.9-test", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build
	build.Stderr = os.Stderr
	require.NoError(t, build.Run())

	store := filepath.Join(dir, "data")
	p := startProcess(t, binary, store)
	version, err := exec.Command(binary, "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(version), "metastore v9.9.9-test\n")
	p.command(t, binary, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	stage := []string{"split", "stage", "--index", "web-access", "--create-only", webAccessRows, "--format", "json"}
	first := parseStaged(t, p.command(t, binary, stage...))
	require.Len(t, first.Staged, 21)
	list := []string{"split", "list", "--index", "web-access", "--format", "json"}
	before := p.command(t, binary, list...)
	p.kill(t)

	p = startProcess(t, binary, store)
	require.Equal(t, before, p.command(t, binary, list...))
	second := parseStaged(t, p.command(t, binary, stage...))
	require.Empty(t, second.Staged)
	require.Len(t, second.Skipped, 21)
	require.Equal(t, first.IndexUID, second.IndexUID)
	require.Equal(t, before, p.command(t, binary, list...), "a retry changes nothing")
	var rows []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(before), &rows))
	require.Len(t, rows, 21)

	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.cmd.Wait(), "a graceful stop exits with 0")
}
