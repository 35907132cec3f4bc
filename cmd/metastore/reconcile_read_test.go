package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// legacyFlags name a bucket with files of release 0.9 and a fresh store.
func legacyFlags(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "indexes")
	require.NoError(t, os.CopyFS(filepath.Join(root, "web-access"), os.DirFS("../../reconcile/splitfile/testdata/legacy/web-access")))
	return []string{"--store", filepath.Join(dir, "data"), "--bucket", root, "--journal", "none",
		"--index-config", "../../reconcile/testdata/legacy-web-access.index-config.json"}
}

func TestReconcileRebuildsFilesOfRelease09AndSaysWhatItReads(t *testing.T) {
	t.Parallel()
	flags := legacyFlags(t)
	r := execute(t, &system{}, append([]string{"reconcile", "run"}, flags...)...)
	require.Equal(t, 0, r.status, "%s%s", r.stdout, r.stderr)
	require.Contains(t, r.stderr, "web-access: comparing documents: ")
	require.Contains(t, r.stdout, "compared the contents of 13 files: read ")
	require.Contains(t, r.stdout, "staged 4, published 4")
}

func TestReconcileAsksAPersonBeforeItReadsMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	for answer, status := range map[string]int{"y\n": 0, "n\n": exitNeedsPerson, "": exitNeedsPerson} {
		flags := append(legacyFlags(t), "--max-read", "10kB")
		r := execute(t, &system{stdin: strings.NewReader(answer), stdinTerminal: true}, append([]string{"reconcile", "plan"}, flags...)...)
		require.Equal(t, status, r.status, "%q: %s%s", answer, r.stdout, r.stderr)
		require.Contains(t, r.stderr, "more than --max-read 10kB. Read all the same? [y/N]")
	}
	flags := append(legacyFlags(t), "--max-read", "0")
	r := execute(t, &system{}, append([]string{"reconcile", "plan"}, flags...)...)
	require.Equal(t, exitNeedsPerson, r.status)
	require.Contains(t, r.stderr, "more than --max-read 0; the rest is not read")
	require.Contains(t, r.stdout, "needs a person: content-unchecked")
}

func TestReadLimitsAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "500MB": 500e6, "2 GB": 2e9, "1GiB": 1 << 30, "7": 7, "unlimited": math.MaxInt64} {
		got, err := parseReadLimit(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "1.5GB", "GB", "1XB", "99999999999TB"} {
		_, err := parseReadLimit(text)
		require.ErrorContains(t, err, "--max-read", text)
	}
}
