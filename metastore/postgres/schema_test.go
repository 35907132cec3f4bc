package postgres

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"holdfast/integration/pgtest"
)

// restoreDump makes a database of what the real peer created and filled.
func restoreDump(t testing.TB) string {
	t.Helper()
	dump, err := os.ReadFile("testdata/quickwit.sql")
	if err != nil {
		t.Fatal(err)
	}
	dsn := pgtest.Database(t)
	conn := connect(t, dsn)
	if _, err := conn.PgConn().Exec(context.Background(), string(dump)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// objects describes what a database holds, one line for each object, and what is said of it.
func objects(t testing.TB, dsn string) []string {
	t.Helper()
	rows, err := connect(t, dsn).Query(context.Background(), `
		SELECT format('column %s.%s %s, null %s, default %s, generated %s, identity %s',
			table_name, column_name, format_type(atttypid, atttypmod), is_nullable, column_default, generation_expression, is_identity)
		FROM information_schema.columns
		INNER JOIN pg_attribute ON attrelid = (quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass AND attname = column_name
		WHERE table_schema = 'public'
		UNION ALL
		SELECT format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION ALL
		SELECT format('index %s', indexdef) FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL
		SELECT format('trigger %s', pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL
		SELECT format('function %s(%s) returns %s in %s', proname, pg_get_function_identity_arguments(pg_proc.oid), pg_get_function_result(pg_proc.oid), lanname)
		FROM pg_proc INNER JOIN pg_language ON prolang = pg_language.oid WHERE pronamespace = 'public'::regnamespace
		UNION ALL
		SELECT format('sequence %s %s from %s by %s to %s, cycle %s, cache %s, of %s', sequencename, data_type, start_value, increment_by, max_value, cycle, cache_size,
			(SELECT refobjid::regclass || '.' || attname FROM pg_depend INNER JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
			 WHERE pg_depend.objid = quote_ident(sequencename)::regclass AND deptype = 'a'))
		FROM pg_sequences WHERE schemaname = 'public'
		UNION ALL
		SELECT format('enum %s: %s', typname, string_agg(enumlabel, ' ' ORDER BY enumsortorder))
		FROM pg_enum INNER JOIN pg_type ON enumtypid = pg_type.oid GROUP BY typname
		UNION ALL
		SELECT format('relation %s of kind %s, persistence %s, options %s', relname, relkind, relpersistence, reloptions)
		FROM pg_class WHERE relnamespace = 'public'::regnamespace
		UNION ALL
		SELECT format('schema %s', nspname) FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|holdfast)'
		UNION ALL
		SELECT format('extension %s', extname) FROM pg_extension
		UNION ALL
		SELECT format('migration %s %s %s %s', version, description, success, checksum) FROM _sqlx_migrations`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// D1.12 of the checklist in interop_test.go.
func TestTheSchemaIsThePeersButForOneIndex(t *testing.T) {
	t.Parallel()
	_, dsn := openStore(t, Options{})
	ours, peers := objects(t, dsn), objects(t, restoreDump(t))
	if len(peers) < 200 {
		t.Fatalf("only %d objects found in the peer's database", len(peers))
	}
	deviation := "index CREATE INDEX splits_node_id_idx ON public.splits USING btree (node_id)"
	for _, line := range ours {
		if !slices.Contains(peers, line) && line != deviation {
			t.Errorf("only ours: %s", line)
		}
	}
	if !slices.Contains(ours, deviation) {
		t.Errorf("missing: %s", deviation)
	}
	for _, line := range peers {
		if !slices.Contains(ours, line) && line != strings.Replace(deviation, "btree", "hash", 1) {
			t.Errorf("only the peer's: %s", line)
		}
	}
}

// Also D1.14 of the checklist in interop_test.go.
func TestThePublishTriggersOfParquetSplitsWork(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	createIndex(t, store, "logs")
	conn := connect(t, dsn)
	for _, table := range []string{"metrics_splits", "sketch_splits"} {
		exec(t, conn, `INSERT INTO `+table+` (split_id, split_state, index_uid, time_range_start, time_range_end, metric_names, num_rows, size_bytes, split_metadata_json)
			SELECT 'a', 'Staged', index_uid, 0, 1, '{}', 1, 1, '{}' FROM indexes`)
		exec(t, conn, "UPDATE "+table+" SET num_rows = 2")
		if queryValue[bool](t, conn, "SELECT publish_timestamp IS NOT NULL FROM "+table) {
			t.Errorf("%s: a staged split has a publish time", table)
		}
		exec(t, conn, "UPDATE "+table+" SET split_state = 'Published'")
		if !queryValue[bool](t, conn, "SELECT publish_timestamp IS NOT NULL FROM "+table) {
			t.Errorf("%s: a published split has no publish time", table)
		}
	}
	uid := queryValue[string](t, conn, "SELECT index_uid FROM indexes")
	if err := store.DeleteIndex(context.Background(), mustUID(t, uid)); err != nil {
		t.Errorf("an index with metrics splits cannot be deleted: %v", err)
	}
}

func TestManyStoresMayOpenOneEmptyDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	results := make(chan error)
	const openers = 8
	for range openers {
		go func() {
			store, err := Open(context.Background(), Options{DSN: dsn, MaxConns: 1})
			if err == nil {
				err = store.Close()
			}
			results <- err
		}()
	}
	for range openers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
