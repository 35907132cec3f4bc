package storetest

import (
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// ingestSourceID is the source of most cases about shards.
const ingestSourceID = "_ingest-source"

// The tokens of plans begin with the ULID of the plan, so a later plan's is greater. A slash marks those of
// sources that read queues, and of earlier releases.
const (
	olderToken  = "01HZZZZZZZ0000000000000001-node-1"
	planToken   = "01J00000000000000000000002-node-5"
	newerToken  = "01J00000000000000000000003-node-1"
	legacyToken = "indexer-1/logs/_ingest-source/0/01J00000000000000000000001"
	queueToken  = "node-1/01HZZZZZZZ0000000000000001"
)

// ingestIndex creates an index with the ingest source and returns its UID.
func (b *bundle) ingestIndex(suffix string) metastore.IndexUID {
	b.Helper()
	return b.indexWithSources(suffix, ingestSource)
}

func (b *bundle) indexWithSources(suffix string, sources ...string) metastore.IndexUID {
	b.Helper()
	request := metastore.CreateIndexRequest{Config: b.configOf(b.indexID(suffix))}
	for _, text := range sources {
		request.Sources = append(request.Sources, b.sourceOf(text))
	}
	metadata, err := b.store.CreateIndex(b.ctx, request)
	if err != nil {
		b.Fatalf("create index: %v", err)
	}
	return metadata.IndexUID
}

// newOpenShard asks for a shard of the ingest source, without token.
func newOpenShard(uid metastore.IndexUID, shardID string, changes ...func(*metastore.OpenShardSubrequest)) metastore.OpenShardSubrequest {
	subrequest := metastore.OpenShardSubrequest{IndexUID: uid, SourceID: ingestSourceID, ShardID: shardID, IngesterID: "ingester-1"}
	for _, change := range changes {
		change(&subrequest)
	}
	return subrequest
}

func withToken(token string) func(*metastore.OpenShardSubrequest) {
	return func(r *metastore.OpenShardSubrequest) { r.PublishToken = metastore.Some(token) }
}

func ofSource(sourceID string) func(*metastore.OpenShardSubrequest) {
	return func(r *metastore.OpenShardSubrequest) { r.SourceID = sourceID }
}

// openShards opens shards and fails the case if that fails.
func (b *bundle) openShards(subrequests ...metastore.OpenShardSubrequest) []metastore.Shard {
	b.Helper()
	shards, err := b.store.OpenShards(b.ctx, subrequests)
	if err != nil {
		b.Fatalf("open shards: %v", err)
	}
	if len(shards) != len(subrequests) {
		b.Fatalf("%d shards for %d subrequests", len(shards), len(subrequests))
	}
	return shards
}

func (b *bundle) openShard(uid metastore.IndexUID, shardID string, changes ...func(*metastore.OpenShardSubrequest)) metastore.Shard {
	b.Helper()
	return b.openShards(newOpenShard(uid, shardID, changes...))[0]
}

// shards lists the shards of the ingest source of an index.
func (b *bundle) shards(uid metastore.IndexUID) []metastore.Shard {
	b.Helper()
	return b.listShards(metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID})[0]
}

// listShards lists shards and fails the case if that fails.
func (b *bundle) listShards(subrequests ...metastore.ListShardsSubrequest) [][]metastore.Shard {
	b.Helper()
	lists, err := b.store.ListShards(b.ctx, subrequests)
	if err != nil {
		b.Fatalf("list shards: %v", err)
	}
	if len(lists) != len(subrequests) {
		b.Fatalf("%d lists of shards for %d subrequests", len(lists), len(subrequests))
	}
	return lists
}

// acquire acquires shards of the ingest source and fails the case if that fails.
func (b *bundle) acquire(uid metastore.IndexUID, token string, shardIDs ...string) []metastore.Shard {
	b.Helper()
	shards, err := b.store.AcquireShards(b.ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: ingestSourceID, ShardIDs: shardIDs, PublishToken: token})
	if err != nil {
		b.Fatalf("acquire shards %v: %v", shardIDs, err)
	}
	return shards
}

// deleteShards deletes shards of the ingest source and fails the case if that fails.
func (b *bundle) deleteShards(uid metastore.IndexUID, force bool, shardIDs ...string) metastore.DeleteShardsResult {
	b.Helper()
	result, err := b.store.DeleteShards(b.ctx, metastore.DeleteShardsRequest{IndexUID: uid, SourceID: ingestSourceID, ShardIDs: shardIDs, Force: force})
	if err != nil {
		b.Fatalf("delete shards %v: %v", shardIDs, err)
	}
	return result
}

// prune prunes the shards of the ingest source and fails the case if that fails.
func (b *bundle) prune(uid metastore.IndexUID, maxAge, maxCount metastore.Optional[uint32]) {
	b.Helper()
	err := b.store.PruneShards(b.ctx, metastore.PruneShardsRequest{IndexUID: uid, SourceID: ingestSourceID, MaxAge: maxAge, MaxCount: maxCount})
	if err != nil {
		b.Fatalf("prune shards: %v", err)
	}
}

func shardIDs(shards []metastore.Shard) []string {
	var ids []string
	for i := range shards {
		ids = append(ids, shards[i].ShardID)
	}
	return ids
}

// wantShards checks shards in order, with all their fields.
func (b *bundle) wantShards(got []metastore.Shard, want ...metastore.Shard) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Fatalf("shards are %+v, want %+v", got, want)
	}
}

// acquired returns a shard as it is after its token was recorded.
func acquired(shard metastore.Shard, token string) metastore.Shard {
	shard.PublishToken = metastore.Some(token)
	return shard
}

// someDocMappingUID is a doc mapping UID that is not nil.
var someDocMappingUID = ulid.ULID{1, 2, 3, 15: 9}

// longText has as many characters as a text in a shard may have, of two bytes each.
func longText() string { return strings.Repeat("é", metastore.MaxShardTextLength) }
