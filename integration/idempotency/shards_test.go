package idempotency

import (
	"slices"

	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc/codes"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/proto/commonpb"
	"holdfast/proto/ingestpb"
	"holdfast/proto/metastorepb"
)

const ingestSource = "_ingest-source"

func shardCases() []kase {
	return []kase{
		{name: "K-39 a repeated OpenShards answers the shards that are left and opens none again", run: func(b *bundle) {
			uid, key := b.index(ingestSource), b.newKey()
			first := must(b, b.client.OpenShards, openShards(uid, "s1", "s2"), key)
			if len(first.GetSubresponses()) != 2 {
				b.Fatalf("opened %v", first)
			}
			must(b, b.client.DeleteShards, deleteShards(uid, true, "s1"))
			again := replay(b, b.client.OpenShards, openShards(uid, "s1", "s2"), "gone", key)
			if len(again.GetSubresponses()) != 1 || again.GetSubresponses()[0].GetSubrequestId() != 1 {
				b.Fatalf("answered %v, want the second shard", again)
			}
			b.wantShards(uid, "s2")
		}},
		{name: "a repeated OpenShards of two indexes answers the shards of the one that is left", run: func(b *bundle) {
			uid, key := b.index(ingestSource), b.newKey()
			create := createIndex("other")
			create.SourceConfigsJson = []string{sourceConfig(ingestSource)}
			other := must(b, b.client.CreateIndex, create).GetIndexUid()
			request := openShards(uid, "s1", "s2")
			request.Subrequests[1].IndexUid = other
			must(b, b.client.OpenShards, request, key)
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: other})
			again := replay(b, b.client.OpenShards, request, "gone", key)
			if len(again.GetSubresponses()) != 1 || again.GetSubresponses()[0].GetSubrequestId() != 0 {
				b.Fatalf("answered %v, want the first shard", again)
			}
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uid})
			_, _, err := call(b, b.client.OpenShards, request, key)
			wantRefused(b, err, idempotency.ResultGone, codes.NotFound, "originalStatus", "resource")
		}},
		{name: "K-40 a repeated AcquireShards does not take shards back", run: func(b *bundle) {
			uid, key := b.index(ingestSource), b.newKey()
			must(b, b.client.OpenShards, openShards(uid, "s1"))
			must(b, b.client.AcquireShards, acquireShards(uid, "t1", "s1"), key)
			must(b, b.client.AcquireShards, acquireShards(uid, "t2", "s1"))
			again := replay(b, b.client.AcquireShards, acquireShards(uid, "t1", "s1"), "current", key)
			if n := len(again.GetAcquiredShards()); n != 0 {
				b.Fatalf("answered %d shards that another token has", n)
			}
			if token := b.shards(uid)[0].PublishToken; token != metastore.Some("t2") {
				b.Fatalf("the token is %v", token)
			}
		}},
		{name: "K-36 K-41 a repeated AcquireShards answers current positions, and a publish with an old token stands", run: func(b *bundle) {
			uid, acquire, publish := b.index(ingestSource), b.newKey(), b.newKey()
			must(b, b.client.OpenShards, openShards(uid, "s1"))
			must(b, b.client.AcquireShards, acquireShards(uid, "t1", "s1"), acquire)
			request := shardProgress(uid, "t1", "s1", "", "5")
			must(b, b.client.PublishSplits, request, publish)
			again := replay(b, b.client.AcquireShards, acquireShards(uid, "t1", "s1"), "current", acquire)
			if len(again.GetAcquiredShards()) != 1 || string(again.GetAcquiredShards()[0].GetPublishPositionInclusive().GetPosition()) != "5" {
				b.Fatalf("answered %v, want position 5", again)
			}
			must(b, b.client.AcquireShards, acquireShards(uid, "t2", "s1"))
			replay(b, b.client.PublishSplits, request, "current", publish)
		}},
		{name: "K-42 a repeated DeleteShards refuses the same shard", run: func(b *bundle) {
			uid, key := b.index(ingestSource), b.newKey()
			must(b, b.client.OpenShards, openShards(uid, "s1", "s2"))
			must(b, b.client.AcquireShards, acquireShards(uid, "t1", "s1", "s2"))
			must(b, b.client.PublishSplits, shardProgress(uid, "t1", "s2", "", "~5"))
			first := must(b, b.client.DeleteShards, deleteShards(uid, false, "s1", "s2", "s3"), key)
			again := replay(b, b.client.DeleteShards, deleteShards(uid, false, "s1", "s2", "s3"), "current", key)
			wantEqual(b, again, first)
			b.wantShards(uid, "s1")
		}},
		{name: "a repeated PruneShards leaves later shards alone", run: func(b *bundle) {
			uid, key := b.index(ingestSource), b.newKey()
			none := uint32(0)
			prune := &metastorepb.PruneShardsRequest{IndexUid: uid, SourceId: ingestSource, MaxCount: &none}
			must(b, b.client.OpenShards, openShards(uid, "s1"))
			must(b, b.client.PruneShards, prune, key)
			must(b, b.client.OpenShards, openShards(uid, "s2"))
			replay(b, b.client.PruneShards, prune, "current", key)
			b.wantShards(uid, "s2")
		}},
	}
}

func openShards(uid *commonpb.IndexUid, ids ...string) *metastorepb.OpenShardsRequest {
	request := &metastorepb.OpenShardsRequest{}
	for i, id := range ids {
		request.Subrequests = append(request.Subrequests, &metastorepb.OpenShardSubrequest{
			SubrequestId: uint32(i), IndexUid: uid, SourceId: ingestSource, ShardId: shardID(id), IngesterId: "node",
			DocMappingUid: &commonpb.DocMappingUid{DocMappingUid: make([]byte, 16)},
		})
	}
	return request
}

func shardID(id string) *ingestpb.ShardId { return &ingestpb.ShardId{ShardId: []byte(id)} }

func shardIDs(ids []string) (messages []*ingestpb.ShardId) {
	for _, id := range ids {
		messages = append(messages, shardID(id))
	}
	return messages
}

func acquireShards(uid *commonpb.IndexUid, token string, ids ...string) *metastorepb.AcquireShardsRequest {
	return &metastorepb.AcquireShardsRequest{IndexUid: uid, SourceId: ingestSource, ShardIds: shardIDs(ids), PublishToken: token}
}

func deleteShards(uid *commonpb.IndexUid, force bool, ids ...string) *metastorepb.DeleteShardsRequest {
	return &metastorepb.DeleteShardsRequest{IndexUid: uid, SourceId: ingestSource, ShardIds: shardIDs(ids), Force: force}
}

func shardProgress(uid *commonpb.IndexUid, token, id, from, to string) *metastorepb.PublishSplitsRequest {
	delta := `{"source_id":"` + ingestSource + `","source_delta":{"per_partition":{"` + id + `":{"from":"` + from + `","to":"` + to + `"}}}}`
	return &metastorepb.PublishSplitsRequest{IndexUid: uid, IndexCheckpointDeltaJsonOpt: &delta, PublishTokenOpt: &token}
}

func (b *bundle) shards(uid *commonpb.IndexUid) []metastore.Shard {
	b.Helper()
	lists, err := b.store.ListShards(b.Context(), []metastore.ListShardsSubrequest{{IndexUID: uidOf(uid), SourceID: ingestSource}})
	if err != nil {
		b.Fatal(err)
	}
	return lists[0]
}

func (b *bundle) wantShards(uid *commonpb.IndexUid, want ...string) {
	b.Helper()
	var got []string
	for _, shard := range b.shards(uid) {
		got = append(got, shard.ShardID)
	}
	if !slices.Equal(got, want) {
		b.Fatalf("shards %v, want %v", got, want)
	}
}

func uidOf(uid *commonpb.IndexUid) metastore.IndexUID {
	return metastore.IndexUID{IndexID: uid.GetIndexId(), Incarnation: ulid.ULID(uid.GetIncarnationId())}
}

func uidText(uid *commonpb.IndexUid) string { return uidOf(uid).String() }
