package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile"
)

// webAccessFiles are split files that the peer wrote.
const webAccessFiles = "../../reconcile/splitfile/testdata/main"

// reconcileBucket returns a root with the directory of one index.
func reconcileBucket(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "web-access"), os.DirFS(filepath.Join(webAccessFiles, "web-access"))))
	return root
}

// reconcileSummary is the stable part of the result.
type reconcileSummary struct {
	Indexes []struct {
		IndexID     string           `json:"index_id"`
		IndexUID    string           `json:"index_uid"`
		Objects     int              `json:"objects"`
		Decisions   map[string]int64 `json:"decisions"`
		Staged      int              `json:"staged"`
		Published   int              `json:"published"`
		Skipped     int              `json:"skipped"`
		NeedsPerson int              `json:"needs_person"`
	} `json:"indexes"`
}

func parseReconcile(t *testing.T, text string) reconcileSummary {
	t.Helper()
	var s reconcileSummary
	require.NoError(t, json.Unmarshal([]byte(text), &s), "%s", text)
	require.Len(t, s.Indexes, 1)
	return s
}

func TestReconcileRebuildsAServersIndexAndTheSecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	root, dir := reconcileBucket(t), t.TempDir()
	flags := []string{"--bucket", root, "--format", "json", "--journal", filepath.Join(dir, "journal"), "--report", filepath.Join(dir, "report.jsonl")}

	planned := parseReconcile(t, s.ok(t, append([]string{"reconcile", "plan"}, flags...)...)).Indexes[0]
	require.Equal(t, map[string]int64{"publish": 6, "superseded": 15}, planned.Decisions)
	require.Zero(t, planned.Published)
	first := parseReconcile(t, s.ok(t, append([]string{"reconcile", "run"}, flags...)...)).Indexes[0]
	require.Equal(t, 21, first.Objects)
	require.Equal(t, 6, first.Staged)
	require.Equal(t, 6, first.Published)
	rows := s.ok(t, "split", "list", "--index", "web-access", "--format", "json")
	require.Equal(t, 6, strings.Count(rows, `"split_state":"Published"`))
	second := parseReconcile(t, s.ok(t, append([]string{"reconcile", "run"}, flags...)...)).Indexes[0]
	require.Zero(t, second.Staged)
	require.Zero(t, second.Published)
	require.Equal(t, 6, second.Skipped)
	require.Equal(t, rows, s.ok(t, "split", "list", "--index", "web-access", "--format", "json"))
	report, err := os.ReadFile(filepath.Join(dir, "report.jsonl"))
	require.NoError(t, err)
	require.Equal(t, 21, strings.Count(string(report), `"type":"object"`))
	require.Contains(t, string(report), `{"type":"end"`)
}

func TestReconcileExitsWith3WhenTheIndexIsMissingAndSaysWhatToType(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--store", filepath.Join(dir, "data"), "--bucket", reconcileBucket(t), "--journal", "none"}
	r := execute(t, &system{}, append([]string{"reconcile", "run"}, flags...)...)
	require.Equal(t, exitNeedsPerson, r.status, r.stderr)
	require.Contains(t, r.stdout, "needs a person: missing-index")
	require.Contains(t, r.stdout, "next: metastore reconcile plan --index web-access --index-config")
	require.NotContains(t, r.stderr, "error:")

	config := []string{"--index-config", "testdata/inputs/web-access.index-config.json"}
	r = execute(t, &system{}, append(append([]string{"reconcile", "plan"}, flags...), config...)...)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.Contains(t, r.stdout, "run would publish 6 splits\nrun will raise the counter of delete opstamps from 0 to 1\n")
	require.Contains(t, r.stdout, "a run creates it from the given configuration, with incarnation 01M8P1J1J1GT6BJNXDVR91X815, which the files name")
	r = execute(t, &system{}, append(append([]string{"reconcile", "run"}, flags...), config...)...)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.Contains(t, r.stdout, "index web-access (web-access:01M8P1J1J1GT6BJNXDVR91X815, created with its incarnation)")
	require.Contains(t, r.stdout, "staged 6, published 6\nraised the counter of delete opstamps from 0 to 1\n")
	r = execute(t, &system{}, append([]string{"reconcile", "run"}, flags...)...)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.Contains(t, r.stdout, "nothing was changed, 6 left alone because they have a row")
}

func TestReconcileCreatesAnIndexThroughAServerWithTheIncarnationThatIsChosen(t *testing.T) {
	t.Parallel()
	for choice, kept := range map[string]bool{"keep": true, "new": false} {
		s := serve(t, nil, "--store", "mem://")
		flags := []string{"--bucket", reconcileBucket(t), "--journal", "none", "--format", "json", "--incarnation", choice,
			"--index-config", "testdata/inputs/web-access.index-config.json"}

		first := parseReconcile(t, s.ok(t, append([]string{"reconcile", "run"}, flags...)...)).Indexes[0]
		rows := s.ok(t, "split", "list", "--index", "web-access", "--format", "json")
		second := parseReconcile(t, s.ok(t, append([]string{"reconcile", "run"}, flags...)...)).Indexes[0]

		require.Equal(t, kept, first.IndexUID == "web-access:01M8P1J1J1GT6BJNXDVR91X815", "%s: %s", choice, first.IndexUID)
		require.Equal(t, 6, first.Published)
		require.Equal(t, first.IndexUID, second.IndexUID)
		require.Zero(t, second.Staged+second.Published+second.NeedsPerson)
		require.Equal(t, rows, s.ok(t, "split", "list", "--index", "web-access", "--format", "json"))
	}
}

func TestReconcileRefusesWrongFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"exclude each other":             {"--store", "mem://", "--server", "127.0.0.1:1"},
		"--index-uri is":                 {"--index-uri", "web-access"},
		"--concurrency is 0":             {"--concurrency", "0"},
		"--horizon is":                   {"--horizon", "-1h"},
		"--young-l0 is \"perhaps\"":      {"--young-l0", "perhaps"},
		"--hidden-link is \"unchanged\"": {"--hidden-link", "unchanged"},
		"--incarnation is \"old\"":       {"--incarnation", "old"},
		"--gc-healthy-until is":          {"--gc-healthy-until", "yesterday"},
		"--live-recover needs --live":    {"--live-recover"},
		"--alias":                        {"--alias", "web-access"},
		"--bucket: the scheme \"ftp\"":   {"--bucket", "ftp://host"},
		"unknown flag: --delete-orphans": {"--delete-orphans"},
		"--timeout is":                   {"--timeout", "0s"},
		"--store: ":                      {"--store", "ftp://host"},
		"unknown command \"everything\"": {"everything"},
		"--index-uri of web-access: a location of scheme ram": {"--index-uri", "web-access=ram:///x"},
	} {
		r := execute(t, &system{}, append([]string{"reconcile", "plan"}, args...)...)
		require.Equal(t, exitUsage, r.status, "%v: %s", args, r.stderr)
		require.Contains(t, r.stderr, want)
	}
}

func TestReconcileFailsWhenTheBucketOrTheServerIsNotThere(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	r := s.run(t, "reconcile", "plan", "--bucket", filepath.Join(t.TempDir(), "nowhere"))
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "no such file or directory")
	require.Contains(t, r.stderr, "hint:  repeat the same command to go on; nothing was changed")

	r = execute(t, &system{}, "reconcile", "plan", "--server", "127.0.0.1:1", "--bucket", t.TempDir(), "--timeout", "1s")
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "list the indexes of the metastore")
}

func TestReconcileStopsAtASignalAndSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGINT
	var stderr buffer
	c := &command{system: &system{stdout: &buffer{}, stderr: &stderr, signals: signals}}
	cmd := c.reconcileCommand("run", "", func(ctx context.Context, _ reconcile.Options) (*reconcile.Summary, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	journal := filepath.Join(t.TempDir(), "journal")
	cmd.SetArgs([]string{"--bucket", t.TempDir(), "--journal", journal})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true

	err := cmd.ExecuteContext(t.Context())

	require.ErrorIs(t, err, errInterrupted)
	c.printFailure(err, false, "metastore reconcile run")
	require.Contains(t, stderr.String(), "interrupted by a signal")
	require.Contains(t, stderr.String(), "repeat the same command to go on; what was published stays")
	require.Contains(t, stderr.String(), "keep "+journal)
}

func TestHelpTextsOfReconcileAreInTheirGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"reconcile", "reconcile plan", "reconcile run"} {
		r := execute(t, &system{}, append(strings.Fields(path), "--help")...)
		require.Equal(t, exitSuccess, r.status)
		checkGolden(t, filepath.Join("testdata", "golden", "help", strings.ReplaceAll("metastore "+path, " ", "-")+".txt"), r.stdout)
	}
}

func TestReconcileSaysWhatToDoWithoutAPlaceForTheJournal(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	r := s.run(t, "reconcile", "run", "--bucket", reconcileBucket(t), "--journal", filepath.Join(t.TempDir(), "nowhere", "journal"))
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "hint:  --journal FILE names another file")
}
