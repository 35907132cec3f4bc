package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/integration/loopback"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

// brokenStore fails every change after an unknown part of it.
type brokenStore struct{ metastore.Store }

func (brokenStore) DeleteIndex(context.Context, metastore.IndexUID) error {
	return metastore.Unavailable(nil, "the bucket does not answer")
}

func (brokenStore) StageSplits(context.Context, metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	return metastore.StageSplitsResult{}, metastore.Unavailable(nil, "the bucket does not answer")
}

func (brokenStore) ResetSourceCheckpoint(context.Context, metastore.IndexUID, string) error {
	return metastore.Unavailable(nil, "the bucket does not answer")
}

func (brokenStore) CreateDeleteTask(context.Context, metastore.DeleteQuery) (metastore.DeleteTask, error) {
	return metastore.DeleteTask{}, metastore.Unavailable(nil, "the bucket does not answer")
}

func (brokenStore) DeleteIndexTemplates(context.Context, []string) error {
	return metastore.Unavailable(nil, "the bucket does not answer")
}

func (brokenStore) ListIndexesMetadata(context.Context, *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
	return nil, metastore.Unavailable(nil, "the bucket does not answer")
}

// serveBroken serves a store whose changes fail.
func serveBroken(t *testing.T) *server {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: "mem://"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	s := &server{grpc: loopback.Serve(t, brokenStore{store}, rpc.ServerOptions{})}
	s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	s.ok(t, onSource("add", "--config", edgeKafka)...)
	return s
}

func TestAChangeWithAnUnknownOutcomeSaysSoAndHowToCheck(t *testing.T) {
	t.Parallel()
	s := serveBroken(t)
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"index", "delete", "web-access", "--yes"}, []string{"outcome is unknown", "metastore index describe web-access:", "repeating the command is safe"}},
		{[]string{"split", "stage", "--index", "web-access", webAccessRows}, []string{"outcome is unknown", "metastore split list --index web-access", "still Staged"}},
		{[]string{"split", "stage", "--create-only", "--index", "web-access", webAccessRows}, []string{"outcome is unknown", "stages only what is missing"}},
		{onSource("reset-checkpoint", "edge-kafka", "--yes"), []string{"outcome is unknown", "metastore source describe --index web-access edge-kafka", "repeating the command is safe"}},
		{onTask("create", "--query", `{"type":"match_all"}`), []string{"outcome is unknown", "metastore delete-task list --index web-access", "may create a second one"}},
		{[]string{"template", "delete", "web"}, []string{"outcome is unknown", "metastore template list", "repeating the command is safe"}},
	} {
		r := s.run(t, test.args...)
		require.Equal(t, exitFailure, r.status)
		require.Empty(t, r.stdout)
		for _, want := range test.want {
			require.Contains(t, r.stderr, want)
		}
		require.LessOrEqual(t, strings.Count(r.stderr, "\n"), 2, r.stderr)
	}
}

func TestAReadThatFailsSaysNothingAboutOutcomes(t *testing.T) {
	t.Parallel()
	s := serveBroken(t)
	r := s.run(t, "index", "list")
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "list indexes: the bucket does not answer")
	require.Contains(t, r.stderr, "is not available now")
	require.NotContains(t, r.stderr, "outcome")
}

// freePort returns an address that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	address := freePort(t)
	config := "testdata/inputs/web-access.index-config.json"
	for _, args := range [][]string{
		{"index", "list"}, {"index", "create", "--config", config}, {"split", "stage", "--index", "x", webAccessRows}, {"split", "publish", "--index", "x", "y"},
	} {
		r := execute(t, &system{}, append(args, "--server", address)...)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "the server at "+address+" cannot be reached")
		require.Contains(t, r.stderr, "connection refused")
		require.Contains(t, r.stderr, "is `metastore serve` running there?")
		require.NotContains(t, r.stderr, "unknown", "nothing was sent")
	}
}

func TestASignalInterruptsACommand(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts, but never answers
	require.NoError(t, err)
	defer listener.Close()
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGINT
	r := execute(t, &system{signals: signals}, "index", "list", "--server", listener.Addr().String())
	require.Equal(t, exitFailure, r.status)
	require.Equal(t, "error: list indexes: interrupted by a signal\n", r.stderr)
}

// Not parallel: it changes the arguments of the process.
func TestACommandLineWithoutArgumentsHasNotThoseOfTheProcess(t *testing.T) {
	arguments := os.Args
	defer func() { os.Args = arguments }()
	os.Args = []string{"metastore", "version"}
	r := execute(t, &system{})
	require.Equal(t, exitUsage, r.status)
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, `"metastore" needs a command`)
}

func TestWrongCommandLinesExitWithTwoAndDoNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "settings.yaml")
	require.NoError(t, os.WriteFile(config, []byte("stoer: ./data\n"), 0o600))
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, `"metastore" needs a command: bench, cluster, delete-task, export, import, index, migrate, reconcile, serve, shard, source, split, template, version`},
		{[]string{"sevre"}, `unknown command "sevre" for "metastore", did you mean "serve"?`},
		{[]string{"serve", "now"}, "unknown command"},
		{[]string{"serve", "--prot", "1"}, "unknown flag: --prot"},
		{[]string{"serve", "--store", ""}, "--store: the store is empty"},
		{[]string{"serve", "--store", "ftp://host/x"}, `--store: the store has the unknown scheme "ftp"`},
		{[]string{"serve", "--listen", ""}, "--listen is empty"},
		{[]string{"serve", "--log-level", "loud"}, "loud"},
		{[]string{"serve", "--log-format", "xml"}, `--log-format is "xml"`},
		{[]string{"serve", "--max-message-size", "1kB"}, "--max-message-size is 1000 bytes"},
		{[]string{"serve", "--max-message-size", "big"}, "max-message-size"},
		{[]string{"serve", "--max-concurrent-requests", "0"}, "--max-concurrent-requests is 0"},
		{[]string{"serve", "--request-timeout", "-1s"}, "--request-timeout is -1s"},
		{[]string{"serve", "--drain-timeout", "-1s"}, "--drain-timeout is -1s"},
		{[]string{"serve", "--refresh", "-1s"}, "--refresh is -1s"},
		{[]string{"serve", "--refresh", "soon"}, "refresh"},
		{[]string{"serve", "--postgres-max-conns", "-1"}, "--postgres-max-conns is -1"},
		{[]string{"serve", "--idempotency-key-lifetime", "30s"}, "--idempotency-key-lifetime: the lifetime of idempotency keys is 30s"},
		{[]string{"serve", "--idempotency-max-keys", "-1"}, "--idempotency-max-keys is -1"},
		{[]string{"serve", "--idempotency-require-key-for", "CreateIndex,ListSplits"}, `--idempotency-require-key-for: "ListSplits" is no call that changes`},
		{[]string{"serve", "--idempotency-require-key-for", "CreateIndex", "--idempotency-keys=false"}, "--idempotency-require-key-for needs --idempotency-keys"},
		{[]string{"serve", "--config", config}, `settings.yaml: unknown key "stoer"`},
		{[]string{"index", "list", "--config", filepath.Join(dir, "none.yaml")}, "does not exist"},
		{[]string{"index", "list", "--format", "xml"}, `"xml" is no format`},
		{[]string{"index", "list", "--timeout", "0s"}, "--timeout is 0s"},
		{[]string{"index", "list", "--server", ""}, "--server is empty"},
		{[]string{"index", "list", "a b"}, "index id pattern"},
		{[]string{"index", "describe"}, "the argument ID is missing"},
		{[]string{"index", "describe", "a", "b"}, `unexpected argument "b"`},
		{[]string{"index", "describe", "web:nope"}, "is not a ULID"},
		{[]string{"index", "create"}, "--config is missing"},
		{[]string{"index", "delete", "web"}, "--yes is needed"},
		{[]string{"index", "create", "--idempotency-key", "1"}, "\"--idempotency-key\" flag: it has 1 characters, must have 36"},
		{[]string{"index", "delete", "web", "--idempotency-key", "0199f3a1-0000-4000-8000-000000000000"}, "it is a UUID of version 4, must be of version 7"},
		{[]string{"index", "delete", "web", "--idempotency-key", "0199f3a1-0000-7000-8000-000000000000"}, "--idempotency-key needs the UID of the index"},
		{[]string{"source", "add", "--index", "web"}, "--config is missing: which file holds the source config?"},
		{[]string{"source", "update", "--config", config}, "--index is missing"},
		{[]string{"source", "enable", "--index", "web"}, "the argument SOURCE is missing"},
		{[]string{"source", "disable", "--index", "web", "a", "b"}, `unexpected argument "b"`},
		{[]string{"source", "delete", "--index", "web", "a"}, `delete source "a": stdin is no terminal, so --yes is needed`},
		{[]string{"source", "reset-checkpoint", "--index", "web", "a"}, `reset the checkpoint of source "a": stdin is no terminal, so --yes is needed`},
		{[]string{"delete-task", "create", "--index", "web"}, "--query is missing"},
		{[]string{"delete-task", "list", "--index", "web", "--after", "-1"}, "after"},
		{[]string{"template", "create"}, "--config is missing: which file holds the index template?"},
		{[]string{"template", "get"}, "the argument TEMPLATE is missing"},
		{[]string{"template", "delete"}, "no template id is given"},
		{[]string{"template", "match"}, "no index id is given"},
		{[]string{"split", "list"}, "--index is missing"},
		{[]string{"split", "list", "--index", "web", "--limit", "-1"}, "limit"},
		{[]string{"split", "list", "--index", "web", "--kind", "logs"}, `--kind: "logs" is no kind of splits, must be metrics or sketches`},
		{[]string{"split", "publish", "--index", "web"}, "no split id is given"},
		{[]string{"split", "delete", "--index", "web"}, "no split id is given"},
		{[]string{"split", "stage", "--index", "web", "--batch-size", "0", "-"}, "--batch-size is 0"},
		{[]string{"migrate"}, "--store must be a postgres:// URL"},
		{[]string{"migrate", "--store", "./data"}, "--store must be a postgres:// URL"},
		{[]string{"bench", "--scenario", "fast"}, `"fast" is no scenario`},
		{[]string{"bench", "--clients", "0"}, "clients is 0"},
		{[]string{"bench", "--scenario", "list", "--splits", "0"}, "needs at least one batch"},
		{[]string{"bench", "--target", "a:1", "--target", "a:1"}, "given twice"},
	} {
		r := execute(t, &system{}, test.args...)
		require.Equal(t, exitUsage, r.status, "%v: %s", test.args, r.stderr)
		require.Empty(t, r.stdout, test.args)
		require.Contains(t, r.stderr, test.want, test.args)
		require.Contains(t, r.stderr, "--help` explains the command", test.args)
	}
}

func TestIndexConfigsAreReadFromYAMLAndWrongOnesAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	document := s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.yaml", "--format", "json")
	require.Contains(t, document, `"split_num_docs_target":9007199254740993`, "integers above 2^53 stay exact")

	for name, test := range map[string]struct{ text, want string }{
		"broken YAML":     {"a: [", "yaml"},
		"broken JSON":     {`{"version":`, "index config"},
		"an unknown key":  {"version: 0.9\nindex_id: other\nindex_uri: ram:///x\ndoc_mapping: {}\nindx: 1", "indx"},
		"a missing URI":   {"version: 0.9\nindex_id: other\ndoc_mapping: {}", "index_uri"},
		"a bad index id":  {"version: 0.9\nindex_id: ../x\nindex_uri: ram:///x\ndoc_mapping: {}", "index_id"},
		"nothing at all":  {"", "empty"},
		"a future format": {"version: 7.7\nindex_id: other\nindex_uri: ram:///x\ndoc_mapping: {}", "version"},
	} {
		r := s.run(t, "index", "create", "--config", writeInput(t, test.text))
		require.Equal(t, exitFailure, r.status, name)
		require.Contains(t, r.stderr, test.want, name)
	}
	require.Equal(t, 2, strings.Count(s.ok(t, "index", "list"), "\n"), "a header and one index")
}

func TestDeletingAnIndexAsksThePersonAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	answer := func(text string) result {
		return execute(t, &system{environ: []string{"HOLDFAST_SERVER=" + s.grpc}, stdin: strings.NewReader(text), stdinTerminal: true}, "index", "delete", "web-access")
	}
	for _, no := range []string{"", "\n", "y\n", "web\n"} {
		r := answer(no)
		require.Equal(t, exitFailure, r.status)
		require.Contains(t, r.stderr, "has 0 splits. Type its id to delete it")
		require.Contains(t, r.stderr, "not deleted")
	}
	s.ok(t, "index", "describe", "web-access")
	require.Equal(t, exitSuccess, answer("web-access\n").status)
	require.Equal(t, exitFailure, s.run(t, "index", "describe", "web-access").status)
}
