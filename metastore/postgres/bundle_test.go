package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/oklog/ulid/v2"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// ready is a database with the schema, of which tests get copies: to create the schema takes longer than most tests.
var ready = pgtest.Template{Fill: func(ctx context.Context, dsn string) error {
	_, err := Migrate(ctx, dsn, MigrateOptions{})
	return err
}}

// openStore opens a store on a fresh database with the schema, whose DSN it returns too.
func openStore(t testing.TB, options Options) (*Store, string) {
	t.Helper()
	options.DSN = ready.Database(t)
	return reopenStore(t, options), options.DSN
}

// reopenStore opens a store on the database of the options.
func reopenStore(t testing.TB, options Options) *Store {
	t.Helper()
	store, err := Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// connect opens a session beside the store.
func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may be gone by then
	return conn
}

// exec runs one statement.
func exec(t testing.TB, conn execer, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// queryValue reads one value.
func queryValue[T any](t testing.TB, conn queryRower, sql string, args ...any) T {
	t.Helper()
	var value T
	if err := conn.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// createIndex creates an index with a small configuration.
func createIndex(t testing.TB, store metastore.Store, indexID string) metastore.IndexUID {
	t.Helper()
	metadata, err := store.CreateIndex(context.Background(), metastore.CreateIndexRequest{Config: indexConfig(t, indexID)})
	if err != nil {
		t.Fatal(err)
	}
	return metadata.IndexUID
}

func indexConfig(t testing.TB, indexID string) *indexconfig.IndexConfig {
	t.Helper()
	text := fmt.Sprintf(`{"version":"0.9","index_id":%q,"index_uri":"s3://bucket/%s","doc_mapping":{"field_mappings":[]}}`, indexID, indexID)
	config, err := indexconfig.ParseIndexConfig([]byte(text), func() ulid.ULID { return ulid.Make() })
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// split returns a split like those of an indexer.
func split(id string) metastore.SplitMetadata {
	return splitOfNode(id, "node-1")
}

func splitOfNode(id, node string) metastore.SplitMetadata {
	document := fmt.Sprintf(`{"version":"0.9","split_id":%q,"index_uid":"any:00000000000000000000000000","partition_id":7,"source_id":"kafka","node_id":%q,`+
		`"num_docs":10,"uncompressed_docs_size_in_bytes":1000,"time_range":{"start":100,"end":200},"create_timestamp":1700000000,`+
		`"maturity":{"type":"immature","maturation_period_millis":60000},"tags":["tenant!","tenant:1"],"footer_offsets":{"start":500,"end":900},`+
		`"delete_opstamp":3,"num_merge_ops":1,"doc_mapping_uid":"00000000000000000000000000"}`, id, node)
	metadata, err := metastore.ParseSplitMetadata([]byte(document))
	if err != nil {
		panic(err) // the text above is wrong
	}
	return metadata
}

func splits(ids ...string) []metastore.SplitMetadata {
	list := make([]metastore.SplitMetadata, len(ids))
	for i, id := range ids {
		list[i] = split(id)
	}
	return list
}

// numberedIDs returns prefix000000, prefix000001 and so on.
func numberedIDs(prefix string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%06d", prefix, i)
	}
	return ids
}

func stage(t testing.TB, store metastore.Store, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	if _, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(ids...)}); err != nil {
		t.Fatal(err)
	}
}

func stageCreateOnly(t testing.TB, store metastore.Store, uid metastore.IndexUID, ids ...string) metastore.StageSplitsResult {
	t.Helper()
	result, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(ids...), CreateOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func publish(t testing.TB, store metastore.Store, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	if err := store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids}); err != nil {
		t.Fatal(err)
	}
}

func mark(t testing.TB, store metastore.Store, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	if err := store.MarkSplitsForDeletion(context.Background(), uid, ids); err != nil {
		t.Fatal(err)
	}
}

// list returns "id state" of each split that the query selects, in order.
func list(t testing.TB, store metastore.Store, query *metastore.ListSplitsQuery) []string {
	t.Helper()
	var listed []string
	err := store.ListSplits(context.Background(), query, func(row *metastore.SplitRow) error {
		split, err := row.Split()
		listed = append(listed, split.Metadata.SplitID+" "+row.State.String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return listed
}

func listIDs(t testing.TB, store metastore.Store, query *metastore.ListSplitsQuery) []string {
	t.Helper()
	ids := list(t, store, query)
	for i := range ids {
		ids[i], _, _ = strings.Cut(ids[i], " ")
	}
	return ids
}

// execer is a connection or a transaction.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}
