package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// inspectable is the row of the split file that the tests look at.
func inspectable() metastore.SplitMetadata {
	return metastore.SplitMetadata{
		SplitID:              "01M8P1J7E98JP8BEK9KRMR6X7Q",
		IndexUID:             metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{1}},
		SourceID:             "\x1b[2Jsource",
		NodeID:               "node-1",
		NumDocs:              12_000,
		UncompressedDocsSize: 2_054_600,
		TimeRange:            metastore.Some(metastore.TimeRange{Start: 1787410807, End: 1787411402}),
		CreateTimestamp:      1787411500,
		Maturity:             metastore.Maturity{Immature: true, PeriodMillis: 90_000},
		Tags:                 []string{"tenant!", "tenant:42"},
		DeleteOpstamp:        3,
		NumMergeOps:          1,
	}
}

// writeSplit writes a split file and returns its path.
func writeSplit(t *testing.T, file *splitfiletest.File, id string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), id+".split")
	require.NoError(t, os.WriteFile(path, file.Encode(), 0o600))
	return path
}

func TestInspectShowsTheLayoutTheRowAndTheParentsOfASplitFile(t *testing.T) {
	t.Parallel()
	m := inspectable()
	file := splitfiletest.New(&m, []string{"P1", "P2"})
	file.Trailer = true
	r := execute(t, &system{}, "split", "inspect", writeSplit(t, file, m.SplitID))
	require.Empty(t, r.stderr)
	require.Equal(t, exitSuccess, r.status)
	checkGolden(t, filepath.Join("testdata", "golden", "split-inspect.txt"), r.stdout)
}

func TestInspectWritesJSON(t *testing.T) {
	t.Parallel()
	m := inspectable()
	path := writeSplit(t, splitfiletest.New(&m, []string{"P1", "P2"}), m.SplitID)
	for _, target := range []string{path, "file://" + filepath.ToSlash(path)} {
		r := execute(t, &system{}, "split", "inspect", target, "--format", "json")
		require.Empty(t, r.stderr)
		require.Equal(t, exitSuccess, r.status)
		var got struct {
			SplitID  string          `json:"split_id"`
			Metadata json.RawMessage `json:"metadata"`
			Parents  []string        `json:"parent_split_ids"`
			Reads    int             `json:"range_reads"`
		}
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
		require.Equal(t, m.SplitID, got.SplitID)
		require.Equal(t, []string{"P1", "P2"}, got.Parents)
		require.Equal(t, 1, got.Reads)
		read, err := metastore.ParseSplitMetadata(got.Metadata)
		require.NoError(t, err)
		require.Equal(t, m.NumDocs, read.NumDocs)
	}
}

func TestInspectSaysThatALegacyFileHasNoRow(t *testing.T) {
	t.Parallel()
	path := writeSplit(t, splitfiletest.NewLegacy(), "01M8P2FG82DNMP28A2NX327ZPG")
	r := execute(t, &system{}, "split", "inspect", path)
	require.Equal(t, exitSuccess, r.status)
	require.Contains(t, r.stdout, "legacy   yes: there is no recovery entry")

	r = execute(t, &system{}, "split", "inspect", path, "--format", "json")
	require.Equal(t, exitSuccess, r.status)
	require.Contains(t, r.stdout, `"legacy":true,"metadata":null,"parent_split_ids":null`)
}

func TestInspectShowsWhatItCanOfAMalformedFileAndFails(t *testing.T) {
	t.Parallel()
	m := inspectable()
	r := execute(t, &system{}, "split", "inspect", writeSplit(t, splitfiletest.New(&m, nil), "renamed"))
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stdout, "(bundle metadata)")
	require.Contains(t, r.stderr, `split_id "01M8P1J7E98JP8BEK9KRMR6X7Q" at offset`)
	require.Contains(t, r.stderr, "hint:  no row can be recovered")

	path := filepath.Join(t.TempDir(), "text.split")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no split ", 10)), 0o600))
	r = execute(t, &system{}, "split", "inspect", path)
	require.Equal(t, exitFailure, r.status)
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, "hotcache length 544500076 at offset 86 leaves no room")
}

func TestInspectRefusesWhatIsNoSplitFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args   []string
		status int
		stderr string
	}{
		{nil, exitUsage, "the argument FILE|URL is missing: which split file?"},
		{[]string{"a", "b"}, exitUsage, `unexpected argument "b"`},
		{[]string{dir + "/"}, exitUsage, "names no split file"},
		{[]string{dir + "/.split"}, exitUsage, "names no split file"},
		{[]string{"s3://bucket"}, exitUsage, "names no split file"},
		{[]string{"ftp://host/a.split"}, exitUsage, `the scheme "ftp" of the location is not known`},
		{[]string{dir + "/absent.split"}, exitFailure, "is not there"},
		{[]string{dir}, exitFailure, "is not a regular file"},
	} {
		r := execute(t, &system{}, append([]string{"split", "inspect"}, c.args...)...)
		require.Equal(t, c.status, r.status, "%v: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.stderr)
		require.Empty(t, r.stdout)
	}
}
