package postgres

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// shardBundle is a store with an index that has a source "source".
type shardBundle struct {
	*testing.T
	store *Store
	conn  *pgx.Conn
	uid   metastore.IndexUID
}

func newShardBundle(t *testing.T) *shardBundle {
	t.Helper()
	store, dsn := openStore(t, Options{})
	return &shardBundle{t, store, connect(t, dsn), createIndexWithSource(t, store, "logs")}
}

func createIndexWithSource(t testing.TB, store metastore.Store, indexID string) metastore.IndexUID {
	t.Helper()
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"source","source_type":"ingest"}`))
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := store.CreateIndex(context.Background(), metastore.CreateIndexRequest{Config: indexConfig(t, indexID), Sources: []*indexconfig.SourceConfig{source}})
	if err != nil {
		t.Fatal(err)
	}
	return metadata.IndexUID
}

func openShard(uid metastore.IndexUID, shardID string) metastore.OpenShardSubrequest {
	return metastore.OpenShardSubrequest{IndexUID: uid, SourceID: "source", ShardID: shardID, IngesterID: "ingester-1"}
}

func (b *shardBundle) open(ids ...string) {
	b.Helper()
	var subrequests []metastore.OpenShardSubrequest
	for _, id := range ids {
		subrequests = append(subrequests, openShard(b.uid, id))
	}
	if _, err := b.store.OpenShards(b.Context(), subrequests); err != nil {
		b.Fatal(err)
	}
}

func (b *shardBundle) list(state metastore.ShardState) (ids []string) {
	b.Helper()
	lists, err := b.store.ListShards(b.Context(), []metastore.ListShardsSubrequest{{IndexUID: b.uid, SourceID: "source", State: state}})
	if err != nil {
		b.Fatal(err)
	}
	for _, shard := range lists[0] {
		ids = append(ids, shard.ShardID)
	}
	return ids
}

func (b *shardBundle) want(what string, got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Fatalf("%s: %q, want %q", what, got, want)
	}
}

func TestShardsAreStoredAsThePeerReadsThem(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	token := openShard(b.uid, "2")
	token.PublishToken, token.DocMappingUID, token.IngesterID = metastore.Some("01J0-node/1"), ulid.ULID{15: 7}, ""
	if _, err := b.store.OpenShards(t.Context(), []metastore.OpenShardSubrequest{openShard(b.uid, "1"), token}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.AcquireShards(t.Context(), metastore.AcquireShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1"}, PublishToken: ""}); err != nil {
		t.Fatal(err)
	}
	rows, err := b.conn.Query(t.Context(), `SELECT concat_ws('|', index_uid, source_id, shard_id, leader_id, coalesce(follower_id, 'NULL'), shard_state,
		publish_position_inclusive, coalesce(publish_token, 'NULL'), doc_mapping_uid,
		update_timestamp = date_trunc('second', update_timestamp), abs(extract(epoch FROM (now() AT TIME ZONE 'utc') - update_timestamp)) < 600)
		FROM shards ORDER BY shard_id`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	b.want("rows", got,
		b.uid.String()+"|source|1|ingester-1|NULL|open|||00000000000000000000000000|t|t",
		b.uid.String()+"|source|2||NULL|open||01J0-node/1|00000000000000000000000007|t|t")
}

func TestShardsThatThePeerStoredAreRead(t *testing.T) {
	t.Parallel()
	store := reopenStore(t, Options{DSN: restoreDump(t)})
	uid, err := metastore.ParseIndexUID("events:01M8P1VHMQPQE73MXRNCR9J5GB")
	if err != nil {
		t.Fatal(err)
	}
	docMapping, err := metastore.ParseULID("01J9ZKWX000000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	var want []metastore.Shard
	for i := range 3 {
		want = append(want, metastore.Shard{
			IndexUID: uid, SourceID: "_ingest-source", ShardID: fmt.Sprintf("0%d", i), IngesterID: "indexer-1", State: metastore.ShardOpen,
			PublishToken: metastore.Some(fmt.Sprintf("token-%d", i)), DocMappingUID: docMapping, UpdateTimestamp: 1796036478,
		})
	}
	got, err := store.ListShards(t.Context(), []metastore.ListShardsSubrequest{{IndexUID: uid, SourceID: "_ingest-source"}})
	if err != nil || !reflect.DeepEqual(got, [][]metastore.Shard{want}) {
		t.Errorf("listed %+v, error %v, want %+v", got, err, want)
	}
	got0, err := store.OpenShards(t.Context(), []metastore.OpenShardSubrequest{{IndexUID: uid, SourceID: "_ingest-source", ShardID: "00"}})
	if err != nil || !slices.Equal(got0, want[:1]) {
		t.Errorf("opened %+v, error %v, want %+v", got0, err, want[:1])
	}
}

func TestI91ToI95PruningGoesByAgeAndCountInAnyNumberOfTransactions(t *testing.T) {
	t.Parallel()
	for _, batch := range []int64{7, pruneBatch} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) {
			t.Parallel()
			b := newShardBundle(t)
			var all []string
			for i := range 100 {
				all = append(all, fmt.Sprintf("%02d", i))
			}
			b.open(all...)
			// With fractions of seconds, as the peer writes them; 50 s to spare on either side of each limit.
			exec(t, b.conn, `UPDATE shards SET shard_state = 'closed',
				update_timestamp = (now() AT TIME ZONE 'utc') - make_interval(secs => 10000.25 - 100 * shard_id::integer)`)
			no := metastore.Optional[uint32]{}
			for _, c := range []struct {
				maxAge, maxCount metastore.Optional[uint32]
				oldest           int
			}{
				{no, no, 0},
				{metastore.Some[uint32](9650), no, 4},
				{no, metastore.Some[uint32](90), 10},
				{metastore.Some[uint32](7050), metastore.Some[uint32](80), 30},
				{metastore.Some[uint32](6050), metastore.Some[uint32](50), 50},
				{metastore.Some[uint32](1<<32 - 1), metastore.Some[uint32](1<<32 - 1), 50},
			} {
				request := metastore.PruneShardsRequest{IndexUID: b.uid, SourceID: "source", MaxAge: c.maxAge, MaxCount: c.maxCount}
				if err := b.store.pruneShards(t.Context(), request, batch); err != nil {
					t.Fatal(err)
				}
				b.want("shards", b.list(metastore.ShardUnspecified), all[c.oldest:]...)
			}
		})
	}
}

func TestAKeyedPruningInSeveralTransactionsIsRecordedWithTheLast(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	all := []string{"0", "1", "2", "3", "4", "5"}
	b.open(all...)
	request := metastore.PruneShardsRequest{IndexUID: b.uid, SourceID: "source", MaxCount: metastore.Some[uint32](1)}
	record := newRecord(t, "PruneShards")
	keyed := b.store.WithRecord(record).(*Store)
	if err := keyed.pruneShards(t.Context(), request, 2); err != nil {
		t.Fatal(err)
	}
	b.want("shards", b.list(metastore.ShardUnspecified), all[5:]...)
	b.open(all...)
	wantReplayed(t, keyed.pruneShards(t.Context(), request, 2), record)
	b.want("shards when the call was repeated", b.list(metastore.ShardUnspecified), all...)
}

func TestPruningByAgeSparesAShardExactlyAtTheLimit(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	b.open("1")
	tx, err := b.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // it only reads
	exec(t, tx, "UPDATE shards SET update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc') - interval '100 s' + interval '0.9 s'")
	for _, c := range []struct{ age, found int64 }{{100, 0}, {99, 1}} {
		// now() is that of the transaction.
		statement := strings.NewReplacer("$1::text", "'"+b.uid.String()+"'", "$2::text", "'source'", "$3::bigint", fmt.Sprint(c.age), "$4::bigint", "NULL::bigint", "$5::bigint", "10").Replace(pruneShardsSQL)
		if got := queryValue[int64](t, tx, statement, pgx.QueryExecModeSimpleProtocol); got != c.found {
			t.Errorf("age %d: %d shards pruned, want %d", c.age, got, c.found)
		}
	}
}

func TestI85ToI90AClosedShardIsDeletedOnlyAtItsEndOrByForce(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	b.open("1", "2", "3", "5")
	exec(t, b.conn, "UPDATE shards SET shard_state = 'closed' WHERE shard_id IN ('2', '3')")
	exec(t, b.conn, "UPDATE shards SET publish_position_inclusive = '~' WHERE shard_id IN ('3', '5')")
	b.want("open", b.list(metastore.ShardOpen), "1", "5")
	b.want("closed", b.list(metastore.ShardClosed), "2", "3")
	remove := func(force bool) metastore.DeleteShardsResult {
		result, err := b.store.DeleteShards(t.Context(), metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1", "2", "3", "4", "5"}, Force: force})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := remove(false)
	b.want("deleted", result.Deleted, "3", "4", "5")
	b.want("refused", result.Refused, "1", "2")
	b.want("left", b.list(metastore.ShardUnspecified), "1", "2")
	result = remove(true)
	b.want("deleted by force", result.Deleted, "1", "2", "3", "4", "5")
	b.want("left", b.list(metastore.ShardUnspecified))
}

func TestAShardWithABadColumnGivesAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	b.open("1")
	exec(t, b.conn, "UPDATE shards SET doc_mapping_uid = 'x'")
	_, err := b.store.ListShards(t.Context(), []metastore.ListShardsSubrequest{{IndexUID: b.uid, SourceID: "source"}})
	if err == nil || !strings.Contains(err.Error(), "doc_mapping_uid of "+b.uid.String()+"/source/1") {
		t.Errorf("error %v, want one that names the column and the shard", err)
	}
}

// shardScans returns the nodes that read table shards otherwise than by its primary key.
func (n *planNode) shardScans() []string {
	var found []string
	if n.NodeType == "Seq Scan" && n.RelationName == "shards" {
		found = append(found, n.NodeType)
	}
	for i := range n.Plans {
		found = append(found, n.Plans[i].shardScans()...)
	}
	return found
}

func TestStatementsFindTheirShardsByThePrimaryKey(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	exec(t, b.conn, "ALTER TABLE shards SET (autovacuum_enabled = false)") // it would analyze
	exec(t, b.conn, `INSERT INTO shards (index_uid, source_id, shard_id, leader_id, doc_mapping_uid)
		SELECT $1, 'source-' || i % 5000, i::text, 'ingester-1', '00000000000000000000000000' FROM generate_series(1, 50000) AS i`, b.uid.String())
	index, source, ids := "'"+b.uid.String()+"'", "'source-7'", "'{5007,10007,15007}'"
	three := fmt.Sprintf("'{%[1]s,%[1]s,%[1]s}', '{source-7,source-8,source-9}'", b.uid)
	for _, statistics := range []string{"no statistics", "statistics"} {
		if statistics == "statistics" {
			exec(t, b.conn, "ANALYZE shards")
		}
		for _, c := range []struct{ name, sql, args string }{
			{"find_shards", findShardsSQL, three + ", " + ids},
			{"acquire_shards", acquireShardsSQL, index + "," + source + "," + ids + ",'t'"},
			{"delete_shards", deleteShardsSQL, index + "," + source + "," + ids + ",true"},
			{"prune_shards", pruneShardsSQL, index + "," + source + ",1,1,1000"},
			{"list_shards", listShardsSQL, three + ", '{NULL,open,closed}'"},
		} {
			exec(t, b.conn, "PREPARE statement AS "+c.sql, pgx.QueryExecModeSimpleProtocol)
			plan := explain(t, b.conn, "EXECUTE statement ("+c.args+")")
			exec(t, b.conn, "DEALLOCATE statement")
			if scans := plan.shardScans(); len(scans) > 0 {
				t.Errorf("%s with %s: %s", c.name, statistics, strings.Join(scans, ", "))
			}
		}
	}
}
