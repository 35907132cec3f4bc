package rpc_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func method(name string) string { return "/quickwit.metastore.MetastoreService/" + name }

func TestAMissingOrMalformedIndexUIDIsNamed(t *testing.T) {
	t.Parallel()
	short := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 15)}
	long := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 17)}
	const missing = "index_uid is missing"
	const is15, is17 = "index_uid.incarnation_id has 15 bytes, must have 16", "index_uid.incarnation_id has 17 bytes, must have 16"
	badJSON := "{"
	cases := []struct {
		name    string
		rpc     string
		request proto.Message
		want    string
	}{
		{"missing", "UpdateIndex", &metastorepb.UpdateIndexRequest{}, missing},
		{"missing, before the JSON is read", "UpdateIndex", &metastorepb.UpdateIndexRequest{DocMappingJson: badJSON}, missing},
		{"missing", "DeleteIndex", &metastorepb.DeleteIndexRequest{}, missing},
		{"missing", "StageSplits", &metastorepb.StageSplitsRequest{SplitMetadataListSerializedJson: "[]"}, missing},
		{"missing, before the JSON is read", "StageSplits", &metastorepb.StageSplitsRequest{SplitMetadataListSerializedJson: badJSON}, missing},
		{"missing, before the list is chosen", "StageSplits", &metastorepb.StageSplitsRequest{CreateOnlySplitMetadataListSerializedJson: "[]"}, missing},
		{"missing", "PublishSplits", &metastorepb.PublishSplitsRequest{}, missing},
		{"missing", "MarkSplitsForDeletion", &metastorepb.MarkSplitsForDeletionRequest{}, missing},
		{"missing", "DeleteSplits", &metastorepb.DeleteSplitsRequest{}, missing},
		{"short", "IndexMetadata", &metastorepb.IndexMetadataRequest{IndexUid: short}, is15},
		{"long", "IndexesMetadata", &metastorepb.IndexesMetadataRequest{Subrequests: []*metastorepb.IndexMetadataSubrequest{{}, {IndexUid: long}}}, "subrequests[1]." + is17},
		{"short", "UpdateIndex", &metastorepb.UpdateIndexRequest{IndexUid: short}, is15},
		{"long", "DeleteIndex", &metastorepb.DeleteIndexRequest{IndexUid: long}, is17},
		{"short", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: short, SplitMetadataListSerializedJson: "[]"}, is15},
		{"long", "PublishSplits", &metastorepb.PublishSplitsRequest{IndexUid: long}, is17},
		{"short", "MarkSplitsForDeletion", &metastorepb.MarkSplitsForDeletionRequest{IndexUid: short}, is15},
		{"long", "DeleteSplits", &metastorepb.DeleteSplitsRequest{IndexUid: long}, is17},
	}
	b := serve(t, &scripted{}, rpc.ServerOptions{}) // a call that reached the store would panic
	for _, c := range cases {
		t.Run(c.rpc+" "+c.name, func(t *testing.T) {
			got := b.invoke(t, method(c.rpc), c.request)
			if want := `{"InvalidArgument":{"message":"` + c.want + `"}}`; got.Code() != codes.InvalidArgument || got.detail() != want {
				t.Errorf("code %s, detail %s, want InvalidArgument with %s", got.Code(), got.detail(), want)
			}
		})
	}
}

func TestADocumentThatDoesNotParseIsNamedAsThePeerNamesIt(t *testing.T) {
	t.Parallel()
	uid := uidMessage(anyUID)
	const config = `{"version":"0.9","index_id":"logs-a","index_uri":"s3://b/logs-a","doc_mapping":{}}`
	empty := ""
	update := func(change func(*metastorepb.UpdateIndexRequest)) *metastorepb.UpdateIndexRequest {
		request := &metastorepb.UpdateIndexRequest{IndexUid: uid, DocMappingJson: "{}", IndexingSettingsJson: "{}", IngestSettingsJson: "{}", SearchSettingsJson: "{}"}
		change(request)
		return request
	}
	cases := []struct {
		name       string
		rpc        string
		request    proto.Message
		structName string
	}{
		{"empty list", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: uid}, "alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>"},
		{"empty list, create-only", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: uid, CreateOnly: true}, "alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>"},
		{"null list", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: uid, SplitMetadataListSerializedJson: "null"}, "alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>"},
		{"trailing text", "StageSplits", &metastorepb.StageSplitsRequest{IndexUid: uid, SplitMetadataListSerializedJson: "[] x"}, "alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>"},
		{"empty config", "CreateIndex", &metastorepb.CreateIndexRequest{}, "quickwit_config::index_config::IndexConfig"},
		{"empty source config", "CreateIndex", &metastorepb.CreateIndexRequest{IndexConfigJson: config, SourceConfigsJson: []string{""}}, "quickwit_config::source_config::SourceConfig"},
		{"empty doc mapping", "UpdateIndex", update(func(r *metastorepb.UpdateIndexRequest) { r.DocMappingJson = "" }), "quickwit_doc_mapper::doc_mapping::DocMapping"},
		{"empty indexing settings", "UpdateIndex", update(func(r *metastorepb.UpdateIndexRequest) { r.IndexingSettingsJson = "" }), "quickwit_config::index_config::IndexingSettings"},
		{"empty ingest settings", "UpdateIndex", update(func(r *metastorepb.UpdateIndexRequest) { r.IngestSettingsJson = "" }), "quickwit_config::index_config::IngestSettings"},
		{"empty search settings", "UpdateIndex", update(func(r *metastorepb.UpdateIndexRequest) { r.SearchSettingsJson = "" }), "quickwit_config::index_config::SearchSettings"},
		{"present but empty retention", "UpdateIndex", update(func(r *metastorepb.UpdateIndexRequest) { r.RetentionPolicyJsonOpt = &empty }), "quickwit_config::index_config::RetentionPolicy"},
		{"doc mapping before search settings", "UpdateIndex", update(func(r *metastorepb.UpdateIndexRequest) { r.DocMappingJson, r.SearchSettingsJson = "", "" }), "quickwit_doc_mapper::doc_mapping::DocMapping"},
	}
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	for _, c := range cases {
		t.Run(c.rpc+" "+c.name, func(t *testing.T) {
			got := b.invoke(t, method(c.rpc), c.request)
			if prefix := `{"JsonDeserializeError":{"struct_name":"` + c.structName + `"`; got.Code() != codes.Internal || !strings.HasPrefix(got.detail(), prefix) {
				t.Errorf("code %s, detail %s, want Internal with %s...", got.Code(), got.detail(), prefix)
			}
		})
	}
}

func TestAListQueryThatDoesNotParseFailsTheStream(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	stream, err := b.metastore.ListSplits(b.ctx, &metastorepb.ListSplitsRequest{})
	if err != nil {
		t.Fatalf("open stream: %v", err)
	}
	_, err = stream.Recv()
	got := answer{Status: status.Convert(err), trailer: stream.Trailer()}
	if got.Code() != codes.Internal || !strings.Contains(got.detail(), "quickwit_metastore::metastore::ListSplitsQuery") {
		t.Errorf("code %s, detail %s, want JsonDeserializeError of ListSplitsQuery", got.Code(), got.detail())
	}
}

func TestBadPatternsAreInvalidArguments(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	for _, patterns := range [][]string{nil, {"-web-*"}, {"we"}, {"a**"}, {"*", "--web"}} {
		list := failing(b, b.metastore.ListIndexesMetadata, &metastorepb.ListIndexesMetadataRequest{IndexIdPatterns: patterns})
		stats := failing(b, b.metastore.ListIndexStats, &metastorepb.ListIndexStatsRequest{IndexIdPatterns: patterns})
		for _, got := range []answer{list, stats} {
			if got.Code() != codes.InvalidArgument || !strings.Contains(got.detail(), "index_id_patterns") {
				t.Errorf("patterns %q: code %s, detail %s, want InvalidArgument about index_id_patterns", patterns, got.Code(), got.detail())
			}
		}
	}
}

func TestACheckpointDeltaThatDoesNotParseIsRefused(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	for _, delta := range []string{"", "{", `{"source_id":"s","source_delta":{}}`} {
		got := failing(b, b.metastore.PublishSplits, &metastorepb.PublishSplitsRequest{
			IndexUid: uidMessage(anyUID), StagedSplitIds: []string{"s"}, IndexCheckpointDeltaJsonOpt: &delta,
		})
		if got.Code() != codes.Internal || !strings.Contains(got.detail(), "quickwit_metastore::checkpoint::IndexCheckpointDelta") {
			t.Errorf("delta %q: code %s, detail %s, want JsonDeserializeError of IndexCheckpointDelta", delta, got.Code(), got.detail())
		}
	}
}

func TestEveryRPCOfThePeerIsServed(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	methods := metastorepb.MetastoreService_ServiceDesc.Methods
	for _, m := range methods {
		err := b.raw.Invoke(b.ctx, method(m.MethodName), &metastorepb.EmptyResponse{}, &metastorepb.EmptyResponse{})
		if status.Code(err) == codes.Unimplemented {
			t.Errorf("%s: %v", m.MethodName, err)
		}
	}
	if len(methods) != 42 {
		t.Errorf("the service has %d RPCs beside the stream, want 42", len(methods))
	}
}

// invoke runs a raw call that must fail.
func (b *bundle) invoke(t *testing.T, method string, request proto.Message) answer {
	t.Helper()
	var trailer metadata.MD
	err := b.raw.Invoke(b.ctx, method, request, &metastorepb.EmptyResponse{}, grpc.Trailer(&trailer))
	if err == nil {
		t.Fatalf("%s succeeded, it must fail", method)
	}
	return answer{Status: status.Convert(err), trailer: trailer}
}
