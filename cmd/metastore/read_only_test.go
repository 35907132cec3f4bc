package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAReadOnlyServerAnswersReadsAndForbidsChanges(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data")
	writer := serve(t, nil, "--store", directory)
	const config = "testdata/inputs/web-access.index-config.json"
	writer.ok(t, "index", "create", "--config", config)

	for name, reader := range map[string]*server{
		"flag":        serve(t, nil, "--store", directory, "--read-only"),
		"environment": serve(t, []string{"HOLDFAST_READ_ONLY=true"}, "--store", directory),
	} {
		require.Contains(t, reader.ok(t, "index", "list"), "web-access", name)
		for _, change := range [][]string{
			{"index", "create", "--config", config},
			{"index", "delete", "web-access", "--yes"},
			{"split", "mark-for-deletion", "--index", "web-access", "x"},
		} {
			r := reader.run(t, change...)
			require.Equal(t, exitFailure, r.status)
			require.Contains(t, r.stderr, "read-only")
			require.NotContains(t, r.stderr, "unknown", "nothing was changed, and that is known")
		}
	}
	require.Contains(t, writer.ok(t, "index", "list"), "web-access")
}

func TestAReadOnlyServerMakesNoDirectory(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "absent")
	r := execute(t, &system{}, "serve", "--store", directory, "--listen", "127.0.0.1:0", "--http", "", "--read-only")
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, directory)
	require.NoDirExists(t, directory)
}
