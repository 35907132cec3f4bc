package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const webAccessRows = "testdata/inputs/web-access.json"

// staged is what split stage prints as JSON.
type staged struct {
	IndexUID   string   `json:"index_uid"`
	CreateOnly bool     `json:"create_only"`
	Staged     []string `json:"staged"`
	Skipped    []struct {
		SplitID    string `json:"split_id"`
		SplitState string `json:"split_state"`
	} `json:"skipped"`
}

func parseStaged(t *testing.T, text string) staged {
	t.Helper()
	var s staged
	require.NoError(t, json.Unmarshal([]byte(text), &s), text)
	return s
}

// fixtureRows are the rows of the fixture, as compact JSON.
func fixtureRows(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(webAccessRows)
	require.NoError(t, err)
	var raw []json.RawMessage
	require.NoError(t, json.Unmarshal(text, &raw))
	rows := make([]string, len(raw))
	for i, row := range raw {
		compact, err := json.Marshal(row)
		require.NoError(t, err)
		rows[i] = string(compact)
	}
	return rows
}

func writeInput(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestEveryFormOfInputStagesTheSameSplitsAndASecondTimeNone(t *testing.T) {
	t.Parallel()
	rows := fixtureRows(t)
	for name, test := range map[string]struct {
		path string
		want int
	}{
		"a JSON array":                    {webAccessRows, len(rows)},
		"JSON lines":                      {writeInput(t, strings.Join(rows, "\n")+"\n"), len(rows)},
		"a single object":                 {writeInput(t, rows[0]), 1},
		"a metastore.json":                {"testdata/inputs/web-access.metastore.json", len(rows)},
		"a metastore.json of another one": {"testdata/inputs/events.metastore.json", 31},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withWebAccess(t)
			stage := []string{"split", "stage", "--index", "web-access", "--create-only", test.path, "--format", "json"}

			first := parseStaged(t, s.ok(t, stage...))
			require.True(t, first.CreateOnly)
			require.Len(t, first.Staged, test.want)
			require.Empty(t, first.Skipped)

			second := parseStaged(t, s.ok(t, stage...))
			require.Empty(t, second.Staged)
			require.Len(t, second.Skipped, test.want)
			for i, skipped := range second.Skipped {
				require.Equal(t, first.Staged[i], skipped.SplitID)
				require.Equal(t, "Staged", skipped.SplitState)
			}
		})
	}
}

func TestWhatWasStagedIsListedAsItCame(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	s.ok(t, "split", "stage", "--index", "web-access", webAccessRows)
	uid := parseStaged(t, s.ok(t, "split", "stage", "--index", "web-access", "--create-only", webAccessRows, "--format", "json")).IndexUID

	listed := make(map[string]map[string]any)
	var documents []map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "split", "list", "--index", "web-access", "--format", "json")), &documents))
	for _, document := range documents {
		require.Equal(t, "Staged", document["split_state"])
		listed[document["split_id"].(string)] = document
	}
	for _, row := range fixtureRows(t) {
		var want map[string]any
		require.NoError(t, json.Unmarshal([]byte(row), &want))
		want["index_uid"] = uid // the index here is another incarnation
		got := listed[want["split_id"].(string)]
		for key, value := range want {
			require.Equal(t, value, got[key], key)
		}
	}
}

func TestAListingCanBeStagedElsewhere(t *testing.T) {
	t.Parallel()
	from, to := withWebAccess(t), withWebAccess(t)
	from.ok(t, "split", "stage", "--index", "web-access", webAccessRows)
	from.ok(t, "split", "publish", "--index", "web-access", "01M8P1J7E98JP8BEK9KRMR6X7Q")
	listing := from.ok(t, "split", "list", "--index", "web-access", "--format", "json")

	r := execute(t, &system{environ: []string{"HOLDFAST_SERVER=" + to.grpc}, stdin: strings.NewReader(listing)},
		"split", "stage", "--index", "web-access", "--create-only", "-", "--format", "json")
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.Len(t, parseStaged(t, r.stdout).Staged, 21)
	require.Contains(t, r.stderr, "1 of 21 splits are not Staged in the input")
	require.Contains(t, to.ok(t, "split", "list", "--index", "web-access", "--state", "published"), "0 splits")
}

func TestALargeInputIsStagedInBatchesAndTheSummarySaysSo(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	r := s.run(t, "split", "stage", "--index", "web-access", "--batch-size", "10", webAccessRows)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.Equal(t, "index web-access: 21 splits staged, in 3 batches, each all or nothing\n", r.stdout)
}

func TestAFileWithAWrongSplitStagesNothing(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	rows := fixtureRows(t)
	rows[15] = strings.Replace(rows[15], `"num_docs":`, `"num_docs":-`, 1)
	path := writeInput(t, strings.Join(rows, "\n"))

	r := s.run(t, "split", "stage", "--index", "web-access", "--batch-size", "5", "--create-only", path)
	require.Equal(t, exitFailure, r.status)
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, "split 16")
	require.Contains(t, r.stderr, "num_docs")
	require.Contains(t, r.stderr, "hint:  nothing was staged")
	require.Contains(t, s.ok(t, "split", "list", "--index", "web-access"), "0 splits")
}

func TestStdinWithAWrongSplitSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	rows := fixtureRows(t)
	rows[15] = "{}"
	r := execute(t, &system{environ: []string{"HOLDFAST_SERVER=" + s.grpc}, stdin: strings.NewReader(strings.Join(rows, "\n"))},
		"split", "stage", "--index", "web-access", "--batch-size", "5", "--create-only", "--format", "json", "-")
	require.Equal(t, exitFailure, r.status)
	require.Len(t, parseStaged(t, r.stdout).Staged, 15, "what is done is reported all the same")
	require.Contains(t, r.stderr, "stdin: split 16")
	require.Contains(t, r.stderr, "the 3 batches before it are done")
	require.Contains(t, s.ok(t, "split", "list", "--index", "web-access"), "15 splits")
}

func TestInputThatIsNoSplitsIsAnErrorAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	for name, test := range map[string]struct{ input, want string }{
		"nothing":           {"", "the input is empty"},
		"text":              {"splits", "is no JSON"},
		"a cut-off array":   {"[" + fixtureRows(t)[0], "cut off"},
		"a number":          {"[1]", "split 1 is a JSON number"},
		"an incomplete one": {`[{"version":"0.9"}]`, "split 1"},
	} {
		r := s.run(t, "split", "stage", "--index", "web-access", writeInput(t, test.input))
		require.Equal(t, exitFailure, r.status, name)
		require.Empty(t, r.stdout, name)
		require.Contains(t, r.stderr, test.want, name)
	}
	r := s.run(t, "split", "stage", "--index", "web-access", t.TempDir())
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "is a directory")
	require.Contains(t, s.ok(t, "split", "list", "--index", "web-access"), "0 splits")
}
