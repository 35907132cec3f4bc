package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// quickwitStores holds real stores of Quickwit's.
const quickwitStores = "../../metastore/file/testdata/quickwit"

func TestImportAndExportWriteWhatTheirGoldenFilesHold(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for name, text := range map[string]string{
		"odd/manifest.json":          `{"version":"0.9","indexes":{"half":"creating","lost":"active","torn":"active"},"templates":[],"colour":1}`,
		"odd/torn/metastore.json":    `{"version":"0.9","index":{}}`,
		"odd/unnamed/metastore.json": `{}`,
	} {
		path := filepath.Join(directory, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for _, name := range []string{"shop", "events"} {
		require.NoError(t, os.CopyFS(filepath.Join(directory, name), os.DirFS(filepath.Join(quickwitStores, name))))
	}
	for name, change := range map[string][2]string{
		"newer":   {`"leader_id"`, `"colour": "red", "leader_id"`},
		"unusual": {`"delete_query": {`, `"delete_query": null, "query": {`},
	} {
		require.NoError(t, os.CopyFS(filepath.Join(directory, name), os.DirFS(filepath.Join(quickwitStores, "events"))))
		path := filepath.Join(directory, name, "events", "metastore.json")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), change[0])
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o644))
	}
	for i, line := range []string{
		"import --from DIR/events --store DIR/new --dry-run",
		"import --from DIR/events#polling_interval=30s --store DIR/new",
		"import --from DIR/events --store DIR/new",
		"import --from DIR/events --store DIR/new --force --format json",
		"import --from DIR/shop --store DIR/new --force",
		"import --from DIR/odd --store DIR/odd-holdfast",
		"import --from DIR/nothing --store DIR/other",
		"import --from DIR/shop --store DIR/events",
		"import --from DIR/shop",
		"import --from ftp://x/y --store DIR/new",
		"import --from DIR/shop --store postgres://x/y",
		"import --store DIR/new",
		"export --store DIR/new --to DIR/back",
		"export --store DIR/new --to DIR/back",
		"export --store DIR/new --to DIR/odd --force --format json",
		"export --store DIR/shop --to DIR/x",
		"serve --store DIR/shop",
		"import --from DIR/newer --store DIR/from-newer",
		"import --from DIR/newer --store DIR/from-newer --force --format json",
		"import --from DIR/unusual --store DIR/from-unusual --dry-run",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "DIR", directory))
		r := execute(t, &system{}, args...)
		got := fmt.Sprintf("$ metastore %s\n%sexit status %d\n", line, r.stdout+r.stderr, r.status)
		got = strings.ReplaceAll(got, directory, "DIR")
		got = regexp.MustCompile(`(?m)^time=\S+`).ReplaceAllString(got, "time=NOW")
		got = regexp.MustCompile(`, [0-9.]+ k?B/s`).ReplaceAllString(got, "") // of what takes more than a second
		checkGolden(t, filepath.Join("testdata", "golden", "transfer", fmt.Sprintf("%02d-%s.txt", i+1, args[0])), got)
	}
}

func TestAnImportedStoreIsServed(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	r := execute(t, &system{}, "import", "--from", filepath.Join(quickwitStores, "shop"), "--store", store)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	s := serve(t, nil, "--store", store)
	require.Contains(t, s.ok(t, "index", "list"), "web-access")
	require.Contains(t, s.ok(t, "index", "describe", "audit"), "01M8P1")
}
