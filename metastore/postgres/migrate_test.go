package postgres

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/metastore"
)

func migrate(t testing.TB, dsn string, options MigrateOptions) MigrateReport {
	t.Helper()
	report, err := Migrate(context.Background(), dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestMigrateReportsTheHashIndexOfThePeer(t *testing.T) {
	t.Parallel()
	dsn := restoreDump(t)
	report := migrate(t, dsn, MigrateOptions{})
	if report.NodeIndex.Method != "hash" || !report.NodeIndex.Valid || report.Created || report.Replaced || report.SchemaVersion != 29 {
		t.Errorf("got %+v", report)
	}
	if !strings.Contains(strings.Join(report.Notes, "\n"), "hash index") {
		t.Errorf("no note about it: %q", report.Notes)
	}
}

func TestMigrateReplacesTheHashIndexWhileWritersRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dsn := restoreDump(t)
	store := reopenStore(t, Options{DSN: dsn, PreparedStatements: true})
	uid := createIndex(t, store, "logs")
	var writers sync.WaitGroup
	var stop atomic.Bool
	var written atomic.Int64
	for writer := range 4 {
		writers.Go(func() {
			for i := range 1_000_000 {
				if stop.Load() {
					return
				}
				id := numberedIDs(string(rune('a'+writer)), i+1)[i]
				if _, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(id)}); err != nil {
					t.Error(err)
					return
				}
				if err := store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{id}}); err != nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	waitUntil(t, "the writers are at work", func() bool { return written.Load() > 4 })
	report := migrate(t, dsn, MigrateOptions{ReplaceHashIndex: true})
	stop.Store(true)
	writers.Wait()

	if !report.Replaced || report.NodeIndex.Method != "btree" || !report.NodeIndex.Valid {
		t.Errorf("got %+v", report)
	}
	byNode := listIDs(t, store, &metastore.ListSplitsQuery{IndexUIDs: []metastore.IndexUID{uid}, NodeID: metastore.Some("node-1")})
	if int64(len(byNode)) != written.Load() {
		t.Errorf("found %d splits by their node, %d were written", len(byNode), written.Load())
	}
	if again := migrate(t, dsn, MigrateOptions{ReplaceHashIndex: true}); again.Replaced {
		t.Error("a second run replaced the index again")
	}
}

func TestMigrateCompletesAReplacementThatWasInterrupted(t *testing.T) {
	t.Parallel()
	for name, leftover := range map[string]string{
		"while it built the new index": "CREATE INDEX " + newNodeIndexName + " ON splits (node_id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = '" + newNodeIndexName + "'::regclass",
		"before the exchange":          "CREATE INDEX " + newNodeIndexName + " ON splits (node_id)",
		"before it dropped the old":    "ALTER INDEX splits_node_id_idx RENAME TO " + oldNodeIndexName + "; CREATE INDEX splits_node_id_idx ON splits (node_id)",
		"with no index at all":         "DROP INDEX splits_node_id_idx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := restoreDump(t)
			conn := connect(t, dsn)
			if _, err := conn.PgConn().Exec(context.Background(), leftover).ReadAll(); err != nil {
				t.Fatal(err)
			}
			if name != "with no index at all" {
				if notes := strings.Join(migrate(t, dsn, MigrateOptions{}).Notes, "\n"); !strings.Contains(notes, "interrupted") {
					t.Errorf("the report does not mention the leftover: %s", notes)
				}
			}
			report := migrate(t, dsn, MigrateOptions{ReplaceHashIndex: true})
			if report.NodeIndex.Method != "btree" || !report.NodeIndex.Valid {
				t.Errorf("got %+v", report.NodeIndex)
			}
			if n := queryValue[int64](t, conn, "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%(node_id)' AND tablename = 'splits'"); n != 1 {
				t.Errorf("%d indexes on node_id are left", n)
			}
		})
	}
}

func TestMigrateReportsAMissingAndAnInvalidMaturityIndex(t *testing.T) {
	t.Parallel()
	_, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	if report := migrate(t, dsn, MigrateOptions{}); report.MaturityIndex.Method != "btree" || !report.MaturityIndex.Valid {
		t.Errorf("got %+v", report.MaturityIndex)
	}
	exec(t, conn, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'splits_maturity_timestamp_idx'::regclass")
	report := migrate(t, dsn, MigrateOptions{})
	if report.MaturityIndex.Valid || !strings.Contains(strings.Join(report.Notes, "\n"), "REINDEX") {
		t.Errorf("got %+v, notes %q", report.MaturityIndex, report.Notes)
	}
	exec(t, conn, "DROP INDEX splits_maturity_timestamp_idx")
	report = migrate(t, dsn, MigrateOptions{})
	if report.MaturityIndex.Method != "" || !strings.Contains(strings.Join(report.Notes, "\n"), "missing") {
		t.Errorf("got %+v, notes %q", report.MaturityIndex, report.Notes)
	}
}

func TestMigrateDoesNotWaitForAnotherProcessThatBuildsIndexes(t *testing.T) {
	t.Parallel()
	dsn := restoreDump(t)
	exec(t, connect(t, dsn), "SELECT pg_advisory_lock(424242, 1789)")
	_, err := Migrate(context.Background(), dsn, MigrateOptions{ReplaceHashIndex: true})
	expectKind(t, err, metastore.KindFailedPrecondition)
}
