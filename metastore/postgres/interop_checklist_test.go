package postgres

import (
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

// D1.7 and D1.13 are in interop_sharing_test.go, D1.12 is TestTheSchemaIsThePeersButForOneIndex.
func TestADatabaseIsWhatThePeerExpectsAfterEveryKindOfWrite(t *testing.T) {
	t.Parallel()
	onSharedDatabases(t, func(t *testing.T, b *interopBundle) {
		for name, check := range map[string]func(*interopBundle){
			"D1.1 sessions are in UTC":                              (*interopBundle).checkTimestamps,
			"D1.2 columns that may not be null are given":           (*interopBundle).checkSplitColumns,
			"D1.3 maturity is the epoch or whole seconds":           (*interopBundle).checkMaturity,
			"D1.4 texts are exact":                                  (*interopBundle).checkTexts,
			"D1.5 documents are compact and of version 0.9":         (*interopBundle).checkDocuments,
			"D1.6 columns agree with documents":                     (*interopBundle).checkColumnsAgree,
			"D1.8 publishing is atomic and follows the token rule":  (*interopBundle).checkPublish,
			"D1.9 opstamps are of the sequence, followers are null": (*interopBundle).checkOpstamps,
			"D1.10 the identity is never replaced":                  (*interopBundle).checkIdentity,
			"D1.11 the peer's migrations are untouched":             (*interopBundle).checkMigrations,
			"D1.14 metrics splits go before their index":            (*interopBundle).checkDeletedIndex,
			"nothing is left to do before a way back to the peer":   (*interopBundle).checkObjects,
		} {
			t.Run(name, func(t *testing.T) {
				sub := *b
				sub.T = t
				check(&sub)
			})
		}
	})
}

// Of sessions through a pooler: TestSessionsThroughATransactionPoolerAreInUTC.
func (b *interopBundle) checkTimestamps() {
	var zone string
	err := b.store.read(b.Context(), "asking for the time zone", func() []query {
		return []query{{sql: "SELECT current_setting('timezone')", row: func(row columns) error {
			zone = row.text(0)
			return nil
		}}}
	})
	if err != nil || zone != "UTC" {
		b.Errorf("the store's session is in %q, error %v", zone, err)
	}
	for table, columns := range map[string][]string{
		"indexes": {"create_timestamp"}, "splits": {"create_timestamp", "update_timestamp", "publish_timestamp"}, "delete_tasks": {"create_timestamp"},
		"shards": {"update_timestamp"}, "metrics_splits": {"create_timestamp", "update_timestamp", "publish_timestamp"}, "sketch_splits": {"create_timestamp", "update_timestamp", "publish_timestamp"},
	} {
		for _, column := range columns {
			own := table + " WHERE index_uid = '" + b.uid.String() + "' AND "
			b.violations(table+"."+column+" is not the time in UTC", own+"abs(extract(epoch FROM now() AT TIME ZONE 'utc' - "+column+")) > 3600")
			if n := queryValue[int64](b.T, b.conn, "SELECT count(*) FROM "+own+column+" IS NOT NULL"); n == 0 {
				b.Errorf("%s.%s is never set", table, column)
			}
		}
	}
}

func (b *interopBundle) checkSplitColumns() {
	b.violations("split_size_bytes is not what the document says", "splits WHERE split_size_bytes <> (split_metadata_json::json -> 'footer_offsets' ->> 'end')::bigint")
	b.violations("a column is null", "splits WHERE node_id IS NULL OR tags IS NULL OR maturity_timestamp IS NULL OR delete_opstamp IS NULL")
	if sizes := b.texts("SELECT DISTINCT split_size_bytes::text FROM splits WHERE index_uid = $1 ORDER BY 1", b.uid.String()); !slices.Equal(sizes, []string{"7", "900"}) {
		b.Errorf("sizes are %q", sizes)
	}
	whole := split("a")
	if _, err := metastore.ParseSplitMetadata([]byte(strings.Replace(whole.Document(), `"end":900`, `"end":null`, 1))); err == nil {
		b.Error("a split without the end of its footer is no error")
	}
}

func (b *interopBundle) checkMaturity() {
	// splits: created at 1700000000, 60 s of maturation.
	want := []string{"bare 1970-01-01 00:00:00", "staged 2023-11-14 22:14:20"}
	got := b.texts("SELECT split_id || ' ' || maturity_timestamp FROM splits WHERE index_uid = $1 AND split_id IN ('bare', 'staged') ORDER BY split_id", b.uid.String())
	if !slices.Equal(got, want) {
		b.Errorf("got %q, want %q", got, want)
	}
	for _, table := range parquetTables {
		b.violations(table.name+" is not mature", table.name+" WHERE index_uid = '"+b.uid.String()+"' AND maturity_timestamp <> '1970-01-01'")
	}
}

func (b *interopBundle) checkTexts() {
	const ulidPattern = "[0-7][0-9A-HJKMNP-TV-Z]{25}"
	for _, table := range []string{"indexes", "splits", "delete_tasks", "shards", "metrics_splits", "sketch_splits"} {
		b.violations(table+".index_uid", table+" WHERE index_uid !~ '^[a-zA-Z][a-zA-Z0-9_-]{2,254}:"+ulidPattern+"$'")
	}
	for _, table := range []string{"splits", "metrics_splits", "sketch_splits"} {
		b.violations(table+".split_state", table+" WHERE split_state NOT IN ('Staged', 'Published', 'MarkedForDeletion')")
	}
	b.violations("shards.shard_state", "shards WHERE shard_state::text NOT IN ('open', 'closed')")
	b.violations("shards.publish_position_inclusive", "shards WHERE publish_position_inclusive !~ '^(~?[0-9]{20}|~)?$'")
	b.violations("shards.doc_mapping_uid", "shards WHERE doc_mapping_uid !~ '^"+ulidPattern+"$'")
	b.violations("kv", "kv WHERE key <> 'cluster_identity' OR value !~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'")
	patterns := queryValue[string](b.T, b.conn, "SELECT positive_index_id_patterns::text || ' ' || negative_index_id_patterns::text FROM index_templates WHERE template_id = 'interop'")
	if patterns != "{interop-%} {interop-tmp%}" {
		b.Errorf("patterns are %s", patterns)
	}
}

func (b *interopBundle) checkColumnsAgree() {
	b.violations("indexes", `indexes WHERE index_uid <> index_metadata_json::json ->> 'index_uid' OR index_id <> split_part(index_uid, ':', 1)
		OR index_id <> index_metadata_json::json -> 'index_config' ->> 'index_id'`)
	for table, document := range map[string]string{"splits": "split_metadata_json", "metrics_splits": "split_metadata_json", "sketch_splits": "split_metadata_json", "delete_tasks": "delete_query_json"} {
		b.violations(table, table+" WHERE index_uid <> "+document+"::json ->> 'index_uid'")
	}
}

// Also: TestProgressInShardsIsInTheirColumnsAndTheIndexRowIsNotWritten, and the conformance suite.
func (b *interopBundle) checkPublish() {
	before := b.contents()
	refused := progressOf(b.uid, "moved", "00000000000000000005", "~00000000000000000009", "staged", "unknown")
	expectKind(b, b.store.PublishSplits(b.Context(), refused), metastore.KindNotFound)
	if after := b.contents(); after != before {
		b.Error("a publish that failed changed something")
	}
	acquire := func(token string, want int) {
		b.Helper()
		acquired, err := b.store.AcquireShards(b.Context(), metastore.AcquireShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"moved"}, PublishToken: token})
		if err != nil || len(acquired) != want {
			b.Errorf("token %s acquires %d shards instead of %d, error %v", token, len(acquired), want, err)
		}
	}
	acquire("sooner", 0) // below token
	acquire("token", 1)
	acquire("a/b", 1)
	acquire("token", 1)
}

// Also: TestOpstampsBecomeVisibleInTheirOrder, TestShardsAreStoredAsThePeerReadsThem.
func (b *interopBundle) checkOpstamps() {
	if !queryValue[bool](b.T, b.conn, "SELECT opstamp = last_value FROM delete_tasks, delete_tasks_opstamp_seq WHERE index_uid = $1", b.uid.String()) {
		b.Error("the opstamp is not of the sequence")
	}
	b.violations("shards.follower_id is not null", "shards WHERE follower_id IS NOT NULL")
}

func (b *interopBundle) checkIdentity() {
	stored := queryValue[string](b.T, b.conn, identityValue)
	if b.identity != "" && stored != b.identity {
		b.Errorf("the identity was %s and is %s", b.identity, stored)
	}
	other := reopenStore(b.T, Options{DSN: b.dsn})
	if identity, err := other.ClusterIdentity(b.Context()); err != nil || identity != stored || identity == "" {
		b.Errorf("another server answers %s, error %v, want %s", identity, err, stored)
	}
}

// Opening, serving and schema holdfast, which has a history of its own, are all behind it.
func (b *interopBundle) checkMigrations() {
	if after := queryValue[string](b.T, b.conn, allMigrations); after != b.migrations || after == "" {
		b.Errorf("the peer's migrations were\n%s\nand are\n%s", b.migrations, after)
	}
	if n := queryValue[int64](b.T, b.conn, "SELECT count(*) FROM holdfast.migrations"); n == 0 {
		b.Error("schema holdfast has no history")
	}
}

// Also: TestThePublishTriggersOfParquetSplitsWork, TestAStoreServesADatabaseThatThePeerMade.
func (b *interopBundle) checkDeletedIndex() {
	b.violations("the deleted index", "indexes WHERE index_id = 'interop-deleted'")
	for _, table := range parquetTables {
		b.violations(table.name+" of the deleted index", table.name+" WHERE index_uid LIKE 'interop-deleted:%'")
	}
}

// The documents are in D1.5. Schema holdfast does not count, of which the peer takes no notice.
func (b *interopBundle) checkObjects() {
	expect(b, objects(b.T, b.dsn), b.objects...)
	if schemas := b.texts("SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1"); !slices.Equal(schemas, []string{"holdfast", "public"}) {
		b.Errorf("schemas are %q", schemas)
	}
}
