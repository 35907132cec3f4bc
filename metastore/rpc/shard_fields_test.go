package rpc_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/ingestpb"
	"holdfast/proto/metastorepb"
)

// openShardMessage asks for a shard with all the fields that must be there.
func openShardMessage(change func(*metastorepb.OpenShardSubrequest)) *metastorepb.OpenShardSubrequest {
	message := &metastorepb.OpenShardSubrequest{
		IndexUid: uidMessage(anyUID), SourceId: "source", ShardId: &ingestpb.ShardId{ShardId: []byte("1")}, DocMappingUid: &commonpb.DocMappingUid{},
	}
	if change != nil {
		change(message)
	}
	return message
}

func TestAMissingOrMalformedFieldOfACallAboutShardsIsNamed(t *testing.T) {
	t.Parallel()
	open := func(change func(*metastorepb.OpenShardSubrequest)) proto.Message {
		return &metastorepb.OpenShardsRequest{Subrequests: []*metastorepb.OpenShardSubrequest{openShardMessage(nil), openShardMessage(change)}}
	}
	notUTF8 := []*ingestpb.ShardId{{ShardId: []byte("1")}, {ShardId: []byte{0xff}}}
	short := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 15)}
	cases := []struct {
		rpc     string
		request proto.Message
		want    string
	}{
		{"OpenShards", open(func(r *metastorepb.OpenShardSubrequest) { r.IndexUid = nil }), "subrequests[1].index_uid is missing"},
		{"OpenShards", open(func(r *metastorepb.OpenShardSubrequest) { r.IndexUid = short }), "subrequests[1].index_uid.incarnation_id has 15 bytes, must have 16"},
		{"OpenShards", open(func(r *metastorepb.OpenShardSubrequest) { r.ShardId = nil }), "subrequests[1].shard_id is missing"},
		{"OpenShards", open(func(r *metastorepb.OpenShardSubrequest) { r.ShardId = notUTF8[1] }), "subrequests[1].shard_id.shard_id is not valid UTF-8"},
		{"OpenShards", open(func(r *metastorepb.OpenShardSubrequest) { r.DocMappingUid = nil }), "subrequests[1].doc_mapping_uid is missing"},
		{"OpenShards", open(func(r *metastorepb.OpenShardSubrequest) {
			r.DocMappingUid = &commonpb.DocMappingUid{DocMappingUid: make([]byte, 3)}
		}), "subrequests[1].doc_mapping_uid.doc_mapping_uid has 3 bytes, must have 16"},
		{"OpenShards", &metastorepb.OpenShardsRequest{Subrequests: []*metastorepb.OpenShardSubrequest{{}}}, "subrequests[0].index_uid is missing"},
		{"AcquireShards", &metastorepb.AcquireShardsRequest{SourceId: "source"}, "index_uid is missing"},
		{"AcquireShards", &metastorepb.AcquireShardsRequest{IndexUid: short}, "index_uid.incarnation_id has 15 bytes, must have 16"},
		{"AcquireShards", &metastorepb.AcquireShardsRequest{IndexUid: uidMessage(anyUID), ShardIds: notUTF8}, "shard_ids[1].shard_id is not valid UTF-8"},
		{"DeleteShards", &metastorepb.DeleteShardsRequest{SourceId: "source"}, "index_uid is missing"},
		{"DeleteShards", &metastorepb.DeleteShardsRequest{IndexUid: short}, "index_uid.incarnation_id has 15 bytes, must have 16"},
		{"DeleteShards", &metastorepb.DeleteShardsRequest{IndexUid: uidMessage(anyUID), ShardIds: notUTF8}, "shard_ids[1].shard_id is not valid UTF-8"},
		{"PruneShards", &metastorepb.PruneShardsRequest{SourceId: "source"}, "index_uid is missing"},
		{"PruneShards", &metastorepb.PruneShardsRequest{IndexUid: short}, "index_uid.incarnation_id has 15 bytes, must have 16"},
		{"ListShards", &metastorepb.ListShardsRequest{Subrequests: []*metastorepb.ListShardsSubrequest{{IndexUid: uidMessage(anyUID)}, {}}}, "subrequests[1].index_uid is missing"},
		{"ListShards", &metastorepb.ListShardsRequest{Subrequests: []*metastorepb.ListShardsSubrequest{{IndexUid: short}}}, "subrequests[0].index_uid.incarnation_id has 15 bytes, must have 16"},
	}
	b := serve(t, &scripted{}, rpc.ServerOptions{}) // a call that reached the store would panic
	for _, c := range cases {
		t.Run(c.rpc+" "+c.want, func(t *testing.T) {
			got := b.invoke(t, method(c.rpc), c.request)
			if want := `{"InvalidArgument":{"message":"` + c.want + `"}}`; got.Code() != codes.InvalidArgument || got.detail() != want {
				t.Errorf("code %s, detail %s, want InvalidArgument with %s", got.Code(), got.detail(), want)
			}
		})
	}
}

// indexWithSource creates an index with a source "source".
func indexWithSource(t *testing.T, store metastore.Store) metastore.IndexUID {
	t.Helper()
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"source","source_type":"ingest"}`))
	if err != nil {
		t.Fatal(err)
	}
	index, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, "logs"), Sources: []*indexconfig.SourceConfig{source}})
	if err != nil {
		t.Fatal(err)
	}
	return index.IndexUID
}

func TestAnAnswerWithAShardSetsEveryMessageThatClientsCannotDoWithout(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	uid := indexWithSource(t, store)
	b := serve(t, store, rpc.ServerOptions{})
	check := func(shard *ingestpb.Shard, withToken bool) {
		t.Helper()
		if shard.GetIndexUid() == nil || shard.GetShardId() == nil || shard.GetPublishPositionInclusive() == nil || shard.GetDocMappingUid() == nil {
			t.Fatalf("a message is absent: %v", shard)
		}
		if len(shard.GetIndexUid().GetIncarnationId()) != 16 || len(shard.GetDocMappingUid().GetDocMappingUid()) != 16 || len(shard.GetPublishPositionInclusive().GetPosition()) != 0 {
			t.Errorf("index uid, doc mapping uid or position is wrong: %v", shard)
		}
		if (shard.PublishToken != nil) != withToken {
			t.Errorf("publish token is %v, want one %v", shard.PublishToken, withToken)
		}
	}
	opened, err := b.metastore.OpenShards(b.ctx, &metastorepb.OpenShardsRequest{Subrequests: []*metastorepb.OpenShardSubrequest{
		openShardMessage(func(r *metastorepb.OpenShardSubrequest) {
			r.SubrequestId, r.IndexUid, r.ShardId = 7, uidMessage(uid), &ingestpb.ShardId{}
		}),
		openShardMessage(func(r *metastorepb.OpenShardSubrequest) { r.SubrequestId, r.IndexUid = 7, uidMessage(uid) }),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.GetSubresponses()) != 2 {
		t.Fatalf("%d subresponses, want 2", len(opened.GetSubresponses()))
	}
	for _, subresponse := range opened.GetSubresponses() {
		check(subresponse.GetOpenShard(), false)
		if subresponse.GetSubrequestId() != 7 {
			t.Errorf("subrequest id is %d, want 7", subresponse.GetSubrequestId())
		}
	}
	acquired, err := b.metastore.AcquireShards(b.ctx, &metastorepb.AcquireShardsRequest{IndexUid: uidMessage(uid), SourceId: "source", ShardIds: []*ingestpb.ShardId{{}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(acquired.GetAcquiredShards()) != 1 {
		t.Fatalf("%d shards acquired, want 1", len(acquired.GetAcquiredShards()))
	}
	check(acquired.GetAcquiredShards()[0], true)
	unspecified := ingestpb.ShardState(99) // the peer takes numbers that it does not know for 0
	listed, err := b.metastore.ListShards(b.ctx, &metastorepb.ListShardsRequest{Subrequests: []*metastorepb.ListShardsSubrequest{
		{IndexUid: uidMessage(uid), SourceId: "source"}, {IndexUid: uidMessage(uid), SourceId: "source", ShardState: &unspecified},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, subresponse := range listed.GetSubresponses() {
		if subresponse.GetIndexUid() == nil || subresponse.GetSourceId() != "source" || len(subresponse.GetShards()) != 2 {
			t.Fatalf("subresponse %d is %v, want index uid, source and two shards", i, subresponse)
		}
		check(subresponse.GetShards()[0], true)
		check(subresponse.GetShards()[1], false)
	}
	deleted, err := b.metastore.DeleteShards(b.ctx, &metastorepb.DeleteShardsRequest{IndexUid: uidMessage(uid), SourceId: "source"})
	if err != nil || deleted.GetIndexUid() == nil || deleted.GetSourceId() != "source" {
		t.Errorf("deleting nothing answers %v, error %v, want index uid and source of the request", deleted, err)
	}
}
