package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// The checklist of what a server must do that shares a database with the peer has fourteen items, D1.1 to D1.14. The tests
// in the files interop_*_test.go are named after them; those of one item that are elsewhere name it in a comment.

// onSharedDatabases runs a test on a fresh database and on one that the real peer made, after every kind of write.
func onSharedDatabases(t *testing.T, test func(*testing.T, *interopBundle)) {
	for name, database := range map[string]func(testing.TB) string{"a fresh database": func(t testing.TB) string { return ready.Database(t) }, "the peer's database": restoreDump} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newInteropBundle(t, database(t))
			b.writeEverything()
			test(t, b)
		})
	}
}

// interopBundle is a database that a peer may share.
type interopBundle struct {
	*testing.T
	dsn   string
	store *Store
	conn  *pgx.Conn // in UTC
	uid   metastore.IndexUID

	// What the database had before it was opened.
	migrations  string
	objects     []string
	identity    string // empty if there was none
	lastOpstamp int64  // 0 if none was drawn
}

const (
	allMigrations = "SELECT string_agg(m::text, ' ' ORDER BY version) FROM _sqlx_migrations AS m"
	identityValue = "SELECT coalesce(max(value), '') FROM kv WHERE key = 'cluster_identity'"
)

func newInteropBundle(t *testing.T, dsn string) *interopBundle {
	conn := connect(t, dsn)
	// Whatever the database says, sessions of the store are in UTC.
	exec(t, conn, "ALTER DATABASE "+pgx.Identifier{databaseOf(t, dsn)}.Sanitize()+" SET timezone = 'America/New_York'")
	exec(t, conn, "SET timezone = 'UTC'")
	b := &interopBundle{
		T: t, dsn: dsn, conn: conn, migrations: queryValue[string](t, conn, allMigrations), objects: objects(t, dsn), identity: queryValue[string](t, conn, identityValue),
		lastOpstamp: queryValue[int64](t, conn, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM delete_tasks_opstamp_seq"),
	}
	b.store = reopenStore(t, Options{DSN: dsn})
	return b
}

func (b *interopBundle) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// writeEverything makes every kind of call that writes, on an index named interop.
func (b *interopBundle) writeEverything() {
	b.Helper()
	b.writeIndexes()
	b.writeSplits()
	b.writeShards()
	for kind := range parquetTables {
		b.writeParquetSplits(metastore.ParquetKind(kind))
	}
	_, err := b.store.CreateDeleteTask(b.Context(), metastore.DeleteQuery{IndexUID: b.uid, EndTimestamp: metastore.Some[int64](9), QueryAST: `{"type":"match_all"}`})
	b.must(err)
	createTemplate(b, b.store, indexTemplate(b, "interop", `["*"]`, 1))
	createTemplate(b, b.store, indexTemplate(b, "interop", `["interop-*","-interop-tmp*"]`, 7))
	createTemplate(b, b.store, indexTemplate(b, "interop-deleted", `["*"]`, 1))
	b.must(b.store.DeleteIndexTemplates(b.Context(), []string{"interop-deleted"}))
	_, err = b.store.ClusterIdentity(b.Context())
	b.must(err)
}

func (b *interopBundle) writeIndexes() {
	ctx := b.Context()
	// A field of bytes, because the peer has a migration that looks for these members in the text.
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"interop","index_uri":"s3://bucket/interop","doc_mapping":{"field_mappings":[`+
		`{"name":"id","type":"bytes","input_format":"base64","output_format":"base64"}]}}`), ulid.Make)
	b.must(err)
	shards, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"source","source_type":"ingest"}`))
	b.must(err)
	metadata, err := b.store.CreateIndex(ctx, metastore.CreateIndexRequest{Config: config, Sources: []*indexconfig.SourceConfig{shards}})
	b.must(err)
	b.uid = metadata.IndexUID
	_, err = b.store.UpdateIndex(ctx, b.uid, indexconfig.Update{
		DocMapping: config.DocMapping, IndexingSettings: config.IndexingSettings, IngestSettings: config.IngestSettings,
		SearchSettings: indexconfig.SearchSettings{DefaultSearchFields: []string{"id"}}, Retention: config.Retention,
	})
	b.must(err)
	for _, id := range []string{"void", "deleted-source"} {
		b.must(b.store.AddSource(ctx, b.uid, sourceConfig(b, id)))
	}
	updated, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"void","source_type":"void","params":{},"input_format":"plain_text"}`))
	b.must(err)
	b.must(b.store.UpdateSource(ctx, b.uid, updated))
	b.must(b.store.ToggleSource(ctx, b.uid, "void", false))
	b.must(b.store.ResetSourceCheckpoint(ctx, b.uid, "deleted-source"))
	b.must(b.store.DeleteSource(ctx, b.uid, "deleted-source"))

	deleted := createIndex(b, b.store, "interop-deleted")
	for kind := range parquetTables {
		stageParquet(b, b.store, metastore.ParquetKind(kind), deleted, parquetSplits(deleted, "interop-cascade")...)
	}
	b.must(b.store.DeleteIndex(ctx, deleted))
}

// bareSplit is mature and has no time range and no tags.
func bareSplit(t testing.TB, id string) metastore.SplitMetadata {
	t.Helper()
	split, err := metastore.ParseSplitMetadata([]byte(`{"version":"0.9","split_id":"` + id + `","index_uid":"any:00000000000000000000000000","partition_id":0,"source_id":"void","node_id":"",` +
		`"num_docs":0,"uncompressed_docs_size_in_bytes":0,"time_range":null,"create_timestamp":1700000000,"maturity":{"type":"mature"},"tags":[],` +
		`"footer_offsets":{"start":0,"end":7},"delete_opstamp":0,"num_merge_ops":0,"doc_mapping_uid":"00000000000000000000000000"}`))
	if err != nil {
		t.Fatal(err)
	}
	return split
}

func (b *interopBundle) writeSplits() {
	ctx := b.Context()
	stage(b, b.store, b.uid, "deleted", "marked", "published", "replaced", "replacing", "staged")
	stageCreateOnly(b, b.store, b.uid, "created", "staged")
	_, err := b.store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: b.uid, Splits: []metastore.SplitMetadata{bareSplit(b, "bare")}})
	b.must(err)
	request := progressOf(b.uid, "p", "", "00000000000000000007", "published", "replaced")
	request.Delta.SourceID = "void"
	b.must(b.store.PublishSplits(ctx, request))
	b.must(b.store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: b.uid, StagedSplitIDs: []string{"replacing"}, ReplacedSplitIDs: []string{"replaced"}}))
	mark(b, b.store, b.uid, "deleted", "marked")
	b.must(b.store.DeleteSplits(ctx, b.uid, []string{"deleted"}))
	b.must(b.store.UpdateSplitsDeleteOpstamp(ctx, b.uid, []string{"published"}, 77))
}

func (b *interopBundle) writeShards() {
	ctx := b.Context()
	var subrequests []metastore.OpenShardSubrequest
	for _, id := range []string{"at-its-end", "deleted", "moved", "never-written", "open"} {
		subrequests = append(subrequests, openShard(b.uid, id))
	}
	_, err := b.store.OpenShards(ctx, subrequests)
	b.must(err)
	_, err = b.store.AcquireShards(ctx, metastore.AcquireShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"at-its-end", "moved", "never-written"}, PublishToken: "token"})
	b.must(err)
	request := progressOf(b.uid, "moved", "", "00000000000000000005")
	request.Delta.Partitions["at-its-end"] = metastore.PartitionDelta{To: "~00000000000000000006"}
	request.Delta.Partitions["never-written"] = metastore.PartitionDelta{To: "~"}
	b.must(b.store.PublishSplits(ctx, request))
	_, err = b.store.DeleteShards(ctx, metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"deleted"}, Force: true})
	b.must(err)
	b.must(b.store.PruneShards(ctx, metastore.PruneShardsRequest{IndexUID: b.uid, SourceID: "source", MaxCount: metastore.Some[uint32](4)}))
}

func (b *interopBundle) writeParquetSplits(kind metastore.ParquetKind) {
	ctx := b.Context()
	stageParquet(b, b.store, kind, b.uid, parquetSplits(b.uid, "interop-deleted", "interop-marked", "interop-published", "interop-replaced", "interop-staged")...)
	publishParquet(b, b.store, kind, b.uid, "interop-replaced")
	b.must(b.store.PublishParquetSplits(ctx, kind, metastore.PublishSplitsRequest{IndexUID: b.uid, StagedSplitIDs: []string{"interop-published"}, ReplacedSplitIDs: []string{"interop-replaced"}}))
	b.must(b.store.MarkParquetSplitsForDeletion(ctx, kind, b.uid, []string{"interop-deleted", "interop-marked"}))
	b.must(b.store.DeleteParquetSplits(ctx, kind, b.uid, []string{"interop-deleted"}))
}

// rows returns all columns of the rows of the index in a table, each as name=value, sorted by their key. Timestamps of the last hour
// are "now" and the UID of the index is "UID".
func (b *interopBundle) rows(table, key string) []string {
	b.Helper()
	lines := queryValue[[]string](b.T, b.conn, `
		SELECT array_agg(line ORDER BY key COLLATE "C") FROM (
			SELECT `+key+` AS key, (
				SELECT string_agg(name || '=' || CASE
					WHEN name NOT LIKE '%\_timestamp' OR value = 'null' THEN coalesce(value #>> '{}', 'NULL')
					WHEN abs(extract(epoch FROM (now() AT TIME ZONE 'utc') - (value #>> '{}')::timestamp)) < 3600 THEN 'now'
					ELSE value #>> '{}' END, ' ' ORDER BY name COLLATE "C")
				FROM jsonb_each(to_jsonb(r)) AS columns (name, value)
			) AS line
			FROM `+table+` AS r
			WHERE r.index_uid = $1
		) AS lines`, b.uid.String())
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], b.uid.String(), "UID")
	}
	return lines
}

// violations counts rows and fails if there are any.
func (b *interopBundle) violations(what, from string) {
	b.Helper()
	if n := queryValue[int64](b.T, b.conn, "SELECT count(*) FROM "+from); n != 0 {
		b.Errorf("%s: %d rows", what, n)
	}
}

// contents is a digest of all rows that the peer reads.
func (b *interopBundle) contents() (digests string) {
	b.Helper()
	for _, table := range []string{"indexes", "splits", "shards", "delete_tasks", "index_templates", "kv", "metrics_splits", "sketch_splits"} {
		digests += queryValue[string](b.T, b.conn, fmt.Sprintf("SELECT md5(coalesce(string_agg(r::text, ' ' ORDER BY r::text), '')) FROM %s AS r", table)) + " "
	}
	return digests
}

// texts reads a column of texts.
func (b *interopBundle) texts(sql string, args ...any) []string {
	b.Helper()
	rows, err := b.conn.Query(context.Background(), sql, args...)
	b.must(err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	b.must(err)
	return texts
}
