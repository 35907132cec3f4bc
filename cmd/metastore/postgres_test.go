package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/integration/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestStagingTwiceOnPostgreSQLSkipsEverythingTheSecondTimeAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	first := serve(t, []string{"HOLDFAST_STORE=" + dsn})
	first.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	stage := []string{"split", "stage", "--index", "web-access", "--create-only", webAccessRows, "--format", "json"}
	require.Len(t, parseStaged(t, first.ok(t, stage...)).Staged, 21)
	require.Equal(t, exitSuccess, first.stop(t))

	second := serve(t, []string{"HOLDFAST_STORE=" + dsn}, "--postgres-max-conns", "4", "--postgres-prepared-statements")
	again := parseStaged(t, second.ok(t, stage...))
	require.Empty(t, again.Staged)
	require.Len(t, again.Skipped, 21)
	require.Equal(t, "Staged", again.Skipped[0].SplitState)
}

// migrate runs the command on a database.
func migrate(t *testing.T, dsn string, args ...string) (text string, report migration) {
	t.Helper()
	r := execute(t, &system{environ: []string{"HOLDFAST_STORE=" + dsn}}, append([]string{"migrate"}, args...)...)
	require.Equal(t, exitSuccess, r.status, r.stderr)
	text = r.stdout
	r = execute(t, &system{environ: []string{"HOLDFAST_STORE=" + dsn}}, "migrate", "--format", "json")
	require.Equal(t, exitSuccess, r.status, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report))
	return text, report
}

func TestMigrateCreatesTheSchemaOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	text, report := migrate(t, pgtest.Database(t))
	require.Contains(t, text, "Schema          created, version")
	require.NotContains(t, text, "--replace-hash-index", "our databases have no hash index")
	require.False(t, report.Created, "the second run finds it")
	require.Equal(t, dbIndex{"splits_node_id_idx", "btree", true}, report.NodeIndex)
}

func TestMigrateNamesTheHashIndexOfThePeerAndReplacesItWhenAsked(t *testing.T) {
	t.Parallel()
	dump, err := os.ReadFile("../../metastore/postgres/testdata/quickwit.sql")
	require.NoError(t, err)
	dsn := pgtest.Restore(t, string(dump))

	text, report := migrate(t, dsn)
	require.Contains(t, text, "splits_node_id_idx (hash)")
	require.Contains(t, text, "metastore migrate --store 'postgres://")
	require.Contains(t, text, "--replace-hash-index")
	require.NotEmpty(t, report.Notes)

	text, report = migrate(t, dsn, "--replace-hash-index")
	require.Contains(t, text, "splits_node_id_idx (btree), has replaced the hash index")
	require.Equal(t, dbIndex{"splits_node_id_idx", "btree", true}, report.NodeIndex)

	s := serve(t, []string{"HOLDFAST_STORE=" + dsn})
	require.Contains(t, s.ok(t, "index", "list"), "events")
	require.Positive(t, strings.Count(s.ok(t, "split", "list", "--index", "events", "--format", "json"), "split_id"))
}
