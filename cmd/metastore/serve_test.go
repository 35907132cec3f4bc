package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func TestServeAnswersProbesAndMetrics(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", filepath.Join(t.TempDir(), "data"))
	s.ok(t, "index", "list")
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ok\n"} {
		status, body := get(t, "http://"+s.http+path)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, want, body)
	}
	_, metrics := get(t, "http://"+s.http+"/metrics")
	for _, want := range []string{
		"go_goroutines", "process_open_fds", "holdfast_build_info{",
		`grpc_server_handled_total{grpc_code="OK",grpc_method="ListIndexesMetadata"`,
	} {
		require.Contains(t, metrics, want)
	}
}

func TestServeStopsWellOnOneSignal(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	s.signals <- syscall.SIGINT
	require.Equal(t, exitSuccess, s.wait(t))
	require.Contains(t, s.stderr.String(), "msg=stopped")
	require.Equal(t, exitFailure, s.run(t, "index", "list").status)
}

func TestServeTakesItsSettingsFromFileEnvironmentAndFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "settings.yaml")
	require.NoError(t, os.WriteFile(config, []byte("store: "+filepath.Join(dir, "from-file")+"\nlog_format: json\nlog_level: debug\n"), 0o600))

	s := serve(t, []string{"HOLDFAST_CONFIG=" + config, "HOLDFAST_STORE=" + filepath.Join(dir, "from-env")}, "--log-format", "text")
	s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	require.Contains(t, s.stderr.String(), "from-env")
	require.Contains(t, s.stderr.String(), "level=INFO", "the flag wins over the file")
	require.DirExists(t, filepath.Join(dir, "from-env"))
	require.NoDirExists(t, filepath.Join(dir, "from-file"))
}

func TestClientCommandsTakeTheirServerFromTheConfigFile(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	config := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(config, []byte("server: "+s.grpc+"\nformat: json\n"), 0o600))
	r := execute(t, &system{}, "index", "list", "--config", config)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.True(t, strings.HasPrefix(r.stdout, "[\n{"), r.stdout)
}

func TestServeRefusesATakenPort(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	for _, args := range [][]string{{"--listen", s.grpc, "--http", ""}, {"--listen", "127.0.0.1:0", "--http", s.http}} {
		r := execute(t, &system{}, append([]string{"serve", "--store", "mem://"}, args...)...)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "address already in use")
	}
}

func TestServePassesItsLimitsToTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://", "--max-message-size", "1MB")
	s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	row := strings.Replace(fixtureRows(t)[0], "{", `{"extra":"`+strings.Repeat("x", 1_000_000)+`",`, 1)
	r := s.run(t, "split", "stage", "--index", "web-access", writeInput(t, row))
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, s.ok(t, "split", "list", "--index", "web-access"), "0 splits")
}

func TestSecretsOfTheStoreAreNeverPrinted(t *testing.T) {
	t.Parallel()
	const secret = "hunter22"
	address := freePort(t)
	for _, url := range []string{
		"postgres://u:" + secret + "@" + address + "/db?connect_timeout=1",
		"postgres://u@" + address + "/db?connect_timeout=1&password=" + secret,
		"postgres://u:" + secret + "@" + address + ":bad/db",
		"s3://" + secret + "@@:/?secret_access_key=" + secret,
		"what://u:" + secret + "@host",
	} {
		for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--http", "", "--log-level", "debug", "--store", url}, {"migrate", "--store", url}} {
			r := execute(t, &system{}, command...)
			require.NotEqual(t, exitSuccess, r.status)
			require.NotContains(t, r.stdout+r.stderr, secret)
		}
	}
}

func TestBenchMeasuresSeveralServersAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	a, b := serve(t, nil, "--store", "mem://"), serve(t, nil, "--store", filepath.Join(t.TempDir(), "data"))
	for _, scenario := range []string{"stage", "stage-again", "create-only", "publish", "list", "mixed"} {
		t.Run(scenario, func(t *testing.T) {
			r := execute(t, &system{}, "bench", "--target", a.grpc, "--target", b.grpc, "--scenario", scenario,
				"--clients", "2", "--batch", "5", "--splits", "50", "--calls", "10", "--slice", "50ms", "--duration", "30s")
			require.Equal(t, exitSuccess, r.status, r.stderr)
			require.Contains(t, r.stdout, a.grpc)
			require.Contains(t, r.stdout, b.grpc)
			require.NotContains(t, r.stdout, "error of", "no call may fail")
		})
	}
	for _, s := range []*server{a, b} {
		require.Equal(t, "[]\n", s.ok(t, "index", "list", "--format", "json"))
	}
}
