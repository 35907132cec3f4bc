package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

// The columns of all tables, for each kind of write on a fresh and on the peer's database. What other values become is in
// TestAStagedRowIsWhatThePeerWrites, TestEveryColumnOfAParquetSplitIsWritten, TestShardsAreStoredAsThePeerReadsThem and
// TestTheColumnsOfATemplateAreWhatThePeerMatchesBy.
func TestEveryColumnIsWhatThePeerReadsAfterEveryKindOfWrite(t *testing.T) {
	t.Parallel()
	onSharedDatabases(t, func(t *testing.T, b *interopBundle) {
		b.expectRows("indexes", "index_id", b.expectedIndexRow())
		b.expectRows("splits", "split_id",
			bareSplitRow,
			splitRow("created", "Staged", 3, "NULL"),
			splitRow("marked", "MarkedForDeletion", 3, "NULL"),
			splitRow("published", "Published", 77, "now"),
			// As the peer does: a split that is replaced gets the time of that as its publish timestamp, which it had already.
			splitRow("replaced", "MarkedForDeletion", 3, "now"),
			splitRow("replacing", "Published", 3, "now"),
			splitRow("staged", "Staged", 3, "NULL"))
		b.expectRows("shards", "shard_id",
			shardRow("at-its-end", "closed", "~00000000000000000006", "token"),
			shardRow("moved", "open", "00000000000000000005", "token"),
			shardRow("never-written", "closed", "~", "token"),
			shardRow("open", "open", "", "NULL"))
		b.expectRows("delete_tasks", "opstamp::text", fmt.Sprintf(
			`create_timestamp=now delete_query_json={"index_uid":"UID","end_timestamp":9,"query_ast":"{\"type\":\"match_all\"}"} index_uid=UID opstamp=%d`, b.lastOpstamp+1))
		for _, table := range parquetTables {
			b.expectRows(table.name, "split_id",
				parquetRow("interop-marked", "MarkedForDeletion", "NULL"),
				parquetRow("interop-published", "Published", "now"),
				parquetRow("interop-replaced", "MarkedForDeletion", "now"),
				parquetRow("interop-staged", "Staged", "NULL"))
		}
		template, err := b.store.IndexTemplate(t.Context(), "interop")
		b.must(err)
		expect(t, b.texts("SELECT concat_ws('|', template_id, positive_index_id_patterns, negative_index_id_patterns, priority, index_template_json) FROM index_templates WHERE template_id LIKE 'interop%'"),
			"interop|{interop-%}|{interop-tmp%}|7|"+string(template.AppendJSON(nil)))
		expect(t, b.texts("SELECT key FROM kv"), "cluster_identity")
	})
}

func (b *interopBundle) expectRows(table, key string, want ...string) {
	b.Helper()
	if got := b.rows(table, key); !slices.Equal(got, want) {
		b.Errorf("%s has\n%s\nwant\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// expectedIndexRow is the row of the index. What is drawn and the time are taken from what a client is answered.
func (b *interopBundle) expectedIndexRow() string {
	b.Helper()
	metadata, err := b.store.IndexMetadata(b.Context(), metastore.IndexLookup{IndexID: metastore.Some("interop")})
	b.must(err)
	document := fmt.Sprintf(`{"version":"0.9","index_uid":"UID","index_config":{"version":"0.9","index_id":"interop","index_uri":"s3://bucket/interop",`+
		`"doc_mapping":{"doc_mapping_uid":"%s","mode":"dynamic","dynamic_mapping":{"indexed":true,"tokenizer":"raw","record":"basic","stored":true,"expand_dots":true,"fast":{"normalizer":"raw"}},`+
		`"field_mappings":[{"name":"id","type":"bytes","fast":false,"indexed":true,"input_format":"base64","output_format":"base64","stored":true}],"timestamp_field":null,"tag_fields":[],`+
		`"max_num_partitions":200,"index_field_presence":false,"store_document_size":false,"store_source":false,"tokenizers":[]},`+
		`"indexing_settings":{"commit_timeout_secs":60,"docstore_compression_level":8,"docstore_blocksize":1000000,"split_num_docs_target":10000000,`+
		`"merge_policy":{"type":"stable_log","min_level_num_docs":100000,"merge_factor":10,"max_merge_factor":12,"maturation_period":"2days"},"resources":{"heap_size":2000000000}},`+
		`"ingest_settings":{"min_shards":1},"search_settings":{"default_search_fields":["id"]},"retention":null},"checkpoint":{"source":{},"void":{"p":"00000000000000000007"}},`+
		`"create_timestamp":%d,"sources":[{"version":"0.9","source_id":"source","num_pipelines":1,"enabled":true,"source_type":"ingest","input_format":"json"},`+
		`{"version":"0.9","source_id":"void","num_pipelines":1,"enabled":false,"source_type":"void","params":null,"input_format":"plain_text"}]}`,
		metadata.Config.DocMapping.UID, metadata.CreateTimestamp)
	return "create_timestamp=now index_id=interop index_metadata_json=" + document + " index_uid=UID"
}

const bareSplitRow = `create_timestamp=now delete_opstamp=0 index_uid=UID maturity_timestamp=1970-01-01T00:00:00 node_id= publish_timestamp=NULL split_id=bare ` +
	`split_metadata_json={"version":"0.9","split_id":"bare","index_uid":"UID","partition_id":0,"source_id":"void","node_id":"","num_docs":0,"uncompressed_docs_size_in_bytes":0,` +
	`"time_range":null,"create_timestamp":1700000000,"maturity":{"type":"mature"},"tags":[],"footer_offsets":{"start":0,"end":7},"delete_opstamp":0,"num_merge_ops":0,` +
	`"doc_mapping_uid":"00000000000000000000000000"} split_size_bytes=7 split_state=Staged tags=[] time_range_end=NULL time_range_start=NULL update_timestamp=now`

func splitRow(id, state string, opstamp int, publishTimestamp string) string {
	return fmt.Sprintf(`create_timestamp=now delete_opstamp=%[3]d index_uid=UID maturity_timestamp=2023-11-14T22:14:20 node_id=node-1 publish_timestamp=%[4]s split_id=%[1]s `+
		`split_metadata_json={"version":"0.9","split_id":"%[1]s","index_uid":"UID","partition_id":7,"source_id":"kafka","node_id":"node-1","num_docs":10,`+
		`"uncompressed_docs_size_in_bytes":1000,"time_range":{"start":100,"end":200},"create_timestamp":1700000000,"maturity":{"type":"immature","maturation_period_millis":60000},`+
		`"tags":["tenant!","tenant:1"],"footer_offsets":{"start":500,"end":900},"delete_opstamp":3,"num_merge_ops":1,"doc_mapping_uid":"00000000000000000000000000"} `+
		`split_size_bytes=900 split_state=%[2]s tags=["tenant!", "tenant:1"] time_range_end=200 time_range_start=100 update_timestamp=now`, id, state, opstamp, publishTimestamp)
}

func shardRow(id, state, position, token string) string {
	return fmt.Sprintf("doc_mapping_uid=00000000000000000000000000 follower_id=NULL index_uid=UID leader_id=ingester-1 publish_position_inclusive=%s publish_token=%s "+
		"shard_id=%s shard_state=%s source_id=source update_timestamp=now", position, token, id, state)
}

func parquetRow(id, state, publishTimestamp string) string {
	return fmt.Sprintf(`create_timestamp=now delete_opstamp=0 high_cardinality_tag_keys=[] index_uid=UID maturity_timestamp=1970-01-01T00:00:00 metric_names=["cpu"] node_id=NULL `+
		`num_merge_ops=0 num_rows=3 publish_timestamp=%[3]s row_keys=NULL size_bytes=4 sort_fields= split_id=%[1]s split_metadata_json={"kind":"Metrics","partition_id":0,"split_id":"%[1]s",`+
		`"index_uid":"UID","time_range":{"start_secs":100,"end_secs":200},"num_rows":3,"size_bytes":4,"metric_names":["cpu"],"low_cardinality_tags":{"service":["web"]},`+
		`"high_cardinality_tag_keys":[],"created_at":{"secs_since_epoch":1700000000,"nanos_since_epoch":0},"maturity":{"type":"mature"},"parquet_file":"","window_duration_secs":0,`+
		`"sort_fields":"","num_merge_ops":0} split_state=%[2]s tag_datacenter=NULL tag_env=NULL tag_host=NULL tag_region=NULL tag_service=["web"] time_range_end=200 time_range_start=100 `+
		`update_timestamp=now window_duration_secs=0 window_start=NULL zonemap_regexes={}`, id, state, publishTimestamp)
}
