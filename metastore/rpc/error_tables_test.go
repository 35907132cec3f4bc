package rpc_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/readonly"
	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/ingestpb"
	"holdfast/proto/metastorepb"
)

// TestEveryKindOfErrorIsClassifiedAsByThePeer has a row for each kind: the code that it travels with, and whether a call that
// failed with it surely had no effect, which are the calls that clients do not repeat.
func TestEveryKindOfErrorIsClassifiedAsByThePeer(t *testing.T) {
	t.Parallel()
	index := metastore.IndexEntity("logs-a")
	for _, row := range []struct {
		err     *metastore.Error
		code    codes.Code
		aborted bool
	}{
		{metastore.AlreadyExists(index), 6, true},
		{&metastore.Error{Kind: metastore.KindConnection, Message: "m"}, 13, false},
		{&metastore.Error{Kind: metastore.KindDb, Message: "m"}, 13, false},
		{metastore.FailedPrecondition(index, "m"), 3, true},
		{metastore.Forbidden(nil, "m"), 7, true},
		{metastore.Internal(nil, "m"), 13, false},
		{metastore.InvalidArgument("m"), 3, true},
		{&metastore.Error{Kind: metastore.KindInvalidPublishToken, QueueID: "q"}, 3, true},
		{&metastore.Error{Kind: metastore.KindIo, Message: "m"}, 13, false},
		{&metastore.Error{Kind: metastore.KindJSONDeserializeError, StructName: "s", Message: "m"}, 13, true},
		{&metastore.Error{Kind: metastore.KindJSONSerializeError, StructName: "s", Message: "m"}, 13, true},
		{metastore.NotFound(index), 5, true},
		{metastore.Timeout(nil, "m"), 4, false},
		{metastore.ErrTooManyRequests, 8, true},
		{metastore.Unavailable(nil, "m"), 14, false},
	} {
		t.Run(string(row.err.Kind), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			b := serve(t, &scripted{indexMetadata: func(context.Context, metastore.IndexLookup) (*metastore.IndexMetadata, error) {
				calls.Add(1)
				return nil, row.err
			}}, rpc.ServerOptions{})
			if got := failing(b, b.metastore.IndexMetadata, &metastorepb.IndexMetadataRequest{}); got.Code() != row.code {
				t.Errorf("code %d, want %d", got.Code(), row.code)
			}
			if got := row.err.Kind.CertainlyAborted(); got != row.aborted {
				t.Errorf("certainly aborted: %v, want %v", got, row.aborted)
			}
			calls.Store(0)
			const attempts = 3
			if _, err := b.client(rpc.ClientOptions{RetryAttempts: attempts}).IndexMetadata(b.ctx, metastore.IndexLookup{}); err == nil {
				t.Error("the call succeeded")
			}
			want := int32(attempts)
			if row.aborted {
				want = 1
			}
			if got := calls.Load(); got != want {
				t.Errorf("the client made %d attempts, want %d", got, want)
			}
		})
	}
}

const (
	plainSource  = `{"version":"0.9","source_id":"plain","source_type":"void","params":{}}`
	shardSource  = `{"version":"0.9","source_id":"_ingest-source","source_type":"ingest"}`
	failingIndex = `{"version":"0.9","index_id":"logs-a","index_uri":"s3://bucket/logs-a","doc_mapping":{}}`
	somePatterns = `{"version":"0.9","template_id":"logs","index_id_patterns":["logs-*"],"doc_mapping":{}}`
)

// deltaOf is a checkpoint delta of one partition.
func deltaOf(source, partition, from, to string) *string {
	text := `{"source_id":"` + source + `","source_delta":{"per_partition":{"` + partition + `":{"from":"` + from + `","to":"` + to + `"}}}}`
	return &text
}

// TestEveryFailureAnswersWithItsKindItsCodeAndItsEntity has a row for each failure that a client can bring about by itself, from the
// request to the trailer, on a real store. The wording of messages is free.
func TestEveryFailureAnswersWithItsKindItsCodeAndItsEntity(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	b := serve(t, store, rpc.ServerOptions{})
	created, err := b.metastore.CreateIndex(b.ctx, &metastorepb.CreateIndexRequest{IndexConfigJson: failingIndex, SourceConfigsJson: []string{plainSource, shardSource}})
	if err != nil {
		t.Fatal(err)
	}
	uid := created.GetIndexUid()
	typedUID := metastore.IndexUID{IndexID: uid.GetIndexId(), Incarnation: [16]byte(uid.GetIncarnationId())}
	stage(t, store, typedUID, byNode("n", "staged"), byNode("n", "published"))
	if err := store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{IndexUID: typedUID, StagedSplitIDs: []string{"published"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.metastore.CreateIndexTemplate(b.ctx, &metastorepb.CreateIndexTemplateRequest{IndexTemplateJson: somePatterns}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.metastore.PublishSplits(b.ctx, &metastorepb.PublishSplitsRequest{IndexUid: uid, IndexCheckpointDeltaJsonOpt: deltaOf("plain", "p", "", "00000000000000000009")}); err != nil {
		t.Fatal(err)
	}
	owner, stranger := "01J9ZJX0A1B2C3D4E5F6G7H8K0-node-2", "01J9ZJX0A1B2C3D4E5F6G7H8J9-node-1"
	_, err = b.metastore.OpenShards(b.ctx, &metastorepb.OpenShardsRequest{Subrequests: []*metastorepb.OpenShardSubrequest{{
		IndexUid: uid, SourceId: "_ingest-source", ShardId: &ingestpb.ShardId{ShardId: []byte("shard-1")}, IngesterId: "ingester",
		DocMappingUid: &commonpb.DocMappingUid{DocMappingUid: make([]byte, 16)}, PublishToken: &owner,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	unknown := &commonpb.IndexUid{IndexId: "unknown", IncarnationId: make([]byte, 16)}
	other := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 16)}
	publish := func(request *metastorepb.PublishSplitsRequest) *metastorepb.PublishSplitsRequest {
		request.IndexUid = uid
		return request
	}
	const text, m = `"?"`, `"message":"?"`
	for _, row := range []struct {
		name    string
		rpc     string
		request proto.Message
		code    codes.Code
		detail  string
	}{
		{"an index exists", "CreateIndex", &metastorepb.CreateIndexRequest{IndexConfigJson: failingIndex}, 6, `{"AlreadyExists":{"index":{"index_id":"logs-a"}}}`},
		{"a source is given twice", "CreateIndex", &metastorepb.CreateIndexRequest{IndexConfigJson: failingIndex, SourceConfigsJson: []string{plainSource, plainSource}}, 6,
			`{"AlreadyExists":{"source":{"index_id":"logs-a","source_id":"plain"}}}`},
		{"a source exists", "AddSource", &metastorepb.AddSourceRequest{IndexUid: uid, SourceConfigJson: plainSource}, 6, `{"AlreadyExists":{"source":{"index_id":"logs-a","source_id":"plain"}}}`},
		{"a template exists", "CreateIndexTemplate", &metastorepb.CreateIndexTemplateRequest{IndexTemplateJson: somePatterns}, 6, `{"AlreadyExists":{"index_template":{"template_id":"logs"}}}`},

		{"an unknown index", "DeleteIndex", &metastorepb.DeleteIndexRequest{IndexUid: unknown}, 5, `{"NotFound":{"index":{"index_id":"unknown"}}}`},
		{"another incarnation", "DeleteIndex", &metastorepb.DeleteIndexRequest{IndexUid: other}, 5, `{"NotFound":{"index":{"index_id":"logs-a"}}}`},
		{"an unknown index of shards", "OpenShards", &metastorepb.OpenShardsRequest{Subrequests: []*metastorepb.OpenShardSubrequest{{
			IndexUid: unknown, SourceId: "s", ShardId: &ingestpb.ShardId{ShardId: []byte("x")}, DocMappingUid: &commonpb.DocMappingUid{DocMappingUid: make([]byte, 16)},
		}}}, 5, `{"NotFound":{"index":{"index_id":"unknown"}}}`},
		{"an unknown index of a delete task", "CreateDeleteTask", &metastorepb.DeleteQuery{IndexUid: unknown, QueryAst: "{}"}, 5, `{"NotFound":{"index":{"index_id":"unknown"}}}`},
		{"an unknown source", "DeleteSource", &metastorepb.DeleteSourceRequest{IndexUid: uid, SourceId: "unknown"}, 5, `{"NotFound":{"source":{"index_id":"logs-a","source_id":"unknown"}}}`},
		{"an unknown source of a delta", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{IndexCheckpointDeltaJsonOpt: deltaOf("unknown", "p", "", "1")}), 5,
			`{"NotFound":{"source":{"index_id":"logs-a","source_id":"unknown"}}}`},
		{"unknown splits", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{StagedSplitIds: []string{"x", "staged", "a"}}), 5, `{"NotFound":{"splits":{"split_ids":["x","a"]}}}`},
		{"an unknown shard", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{IndexCheckpointDeltaJsonOpt: deltaOf("_ingest-source", "unknown", "", "00000000000000000001"), PublishTokenOpt: &owner}), 5,
			`{"NotFound":{"shard":{"queue_id":"` + typedUID.String() + `/_ingest-source/unknown"}}}`},
		{"an unknown template", "GetIndexTemplate", &metastorepb.GetIndexTemplateRequest{TemplateId: "unknown"}, 5, `{"NotFound":{"index_template":{"template_id":"unknown"}}}`},

		{"a split that is not staged", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{StagedSplitIds: []string{"published"}}), 3,
			`{"FailedPrecondition":{"entity":{"splits":{"split_ids":["published"]}},` + m + `}}`},
		{"a replaced split that is not published", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{ReplacedSplitIds: []string{"staged"}}), 3,
			`{"FailedPrecondition":{"entity":{"splits":{"split_ids":["staged"]}},` + m + `}}`},
		{"a split that is not marked", "DeleteSplits", &metastorepb.DeleteSplitsRequest{IndexUid: uid, SplitIds: []string{"staged"}}, 3,
			`{"FailedPrecondition":{"entity":{"splits":{"split_ids":["staged"]}},` + m + `}}`},
		{"staging a published split", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: uid, SplitMetadataListSerializedJson: listOf(byNode("n", "published"))}, 3,
			`{"FailedPrecondition":{"entity":{"splits":{"split_ids":["published"]}},` + m + `}}`},
		{"a delta that goes back", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{IndexCheckpointDeltaJsonOpt: deltaOf("plain", "p", "", "00000000000000000010")}), 3,
			`{"FailedPrecondition":{"entity":{"checkpoint_delta":{"index_id":"logs-a","source_id":"plain"}},` + m + `}}`},

		{"a field is missing", "DeleteIndex", &metastorepb.DeleteIndexRequest{}, 3, `{"InvalidArgument":{` + m + `}}`},
		{"a bad pattern", "ListIndexesMetadata", &metastorepb.ListIndexesMetadataRequest{IndexIdPatterns: []string{"-x"}}, 3, `{"InvalidArgument":{` + m + `}}`},
		{"a template without positive patterns", "CreateIndexTemplate", &metastorepb.CreateIndexTemplateRequest{IndexTemplateJson: strings.Replace(somePatterns, `"logs-*"`, `"-logs-*"`, 1)}, 3,
			`{"InvalidArgument":{` + m + `}}`},
		{"no publish token", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{IndexCheckpointDeltaJsonOpt: deltaOf("_ingest-source", "shard-1", "", "00000000000000000001")}), 3, `{"InvalidArgument":{` + m + `}}`},
		{"another's publish token", "PublishSplits", publish(&metastorepb.PublishSplitsRequest{IndexCheckpointDeltaJsonOpt: deltaOf("_ingest-source", "shard-1", "", "00000000000000000001"), PublishTokenOpt: &stranger}), 3,
			`{"InvalidPublishToken":{"queue_id":"` + typedUID.String() + `/_ingest-source/shard-1"}}`},

		{"an index config that does not parse", "CreateIndex", &metastorepb.CreateIndexRequest{IndexConfigJson: "{"}, 13,
			`{"JsonDeserializeError":{"struct_name":"quickwit_config::index_config::IndexConfig",` + m + `}}`},
		{"a source config that does not parse", "AddSource", &metastorepb.AddSourceRequest{IndexUid: unknown, SourceConfigJson: "{"}, 13,
			`{"JsonDeserializeError":{"struct_name":"quickwit_config::source_config::SourceConfig",` + m + `}}`},
		{"splits that do not parse", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: unknown, SplitMetadataListSerializedJson: "{"}, 13,
			`{"JsonDeserializeError":{"struct_name":"alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>",` + m + `}}`},
		{"a delta that does not parse", "PublishSplits", &metastorepb.PublishSplitsRequest{IndexUid: unknown, IndexCheckpointDeltaJsonOpt: proto.String("{")}, 13,
			`{"JsonDeserializeError":{"struct_name":"quickwit_metastore::checkpoint::IndexCheckpointDelta",` + m + `}}`},
		{"a template that does not parse", "CreateIndexTemplate", &metastorepb.CreateIndexTemplateRequest{IndexTemplateJson: "{"}, 13,
			`{"JsonDeserializeError":{"struct_name":"quickwit_config::index_template::IndexTemplate",` + m + `}}`},

		{"a lookup of nothing", "IndexMetadata", &metastorepb.IndexMetadataRequest{}, 13, `{"Internal":{` + m + `,"cause":` + text + `}}`},
	} {
		t.Run(row.rpc+": "+row.name, func(t *testing.T) {
			got := b.invoke(t, method(row.rpc), row.request)
			if got.Code() != row.code {
				t.Errorf("code %d, want %d", got.Code(), row.code)
			}
			if shown, want := withoutWording(t, got.detail()), withoutWording(t, row.detail); !reflect.DeepEqual(shown, want) {
				t.Errorf("detail %s, want %s", got.detail(), row.detail)
			}
			if got.Message() == "" {
				t.Error("the status has no message")
			}
		})
	}

	readOnly := serve(t, readonly.New(memStore(t)), rpc.ServerOptions{})
	t.Run("a read-only store", func(t *testing.T) {
		got := readOnly.invoke(t, method("DeleteIndex"), &metastorepb.DeleteIndexRequest{IndexUid: uid})
		if shown, want := withoutWording(t, got.detail()), withoutWording(t, `{"Forbidden":{`+m+`}}`); got.Code() != 7 || !reflect.DeepEqual(shown, want) {
			t.Errorf("code %d, detail %s, want Forbidden", got.Code(), got.detail())
		}
	})
}

// withoutWording reads an error detail and blanks its texts that are free.
func withoutWording(t *testing.T, detail string) any {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(detail), &tree); err != nil {
		t.Fatalf("detail %q: %v", detail, err)
	}
	var blank func(any)
	blank = func(node any) {
		object, _ := node.(map[string]any)
		for key, value := range object {
			if _, isText := value.(string); isText && (key == "message" || key == "cause") {
				object[key] = "?"
			}
			blank(value)
		}
	}
	blank(tree)
	return tree
}
