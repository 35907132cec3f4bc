package storetest

import (
	"slices"

	"holdfast/metastore"
)

// deleteShardsCases are about deleting and pruning shards.
func deleteShardsCases() []testCase {
	no := metastore.Optional[uint32]{}
	return []testCase{
		{"I-87 and I-88 a shard that is not at its end is refused and stays, an absent one counts as deleted", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(planToken))
			b.wantDeleted(b.deleteShards(uid, false, "4", "1"), []string{"4"}, []string{"1"})
			b.wantShards(b.shards(uid), shard)
		}},
		{"I-89 and I-90 forced, every shard is deleted", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "1"), newOpenShard(uid, "2", withToken(planToken)), newOpenShard(uid, "3"))
			b.wantDeleted(b.deleteShards(uid, true, "1", "2", "3", "4"), []string{"1", "2", "3", "4"}, nil)
			b.wantShards(b.shards(uid))
			b.wantDeleted(b.deleteShards(uid, true, "1", "2", "3", "4"), []string{"1", "2", "3", "4"}, nil)
		}},
		{"I-148 no shard ids delete nothing", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			b.wantDeleted(b.deleteShards(uid, false), nil, nil)
			b.wantDeleted(b.deleteShards(uid, true), nil, nil)
			b.wantShards(b.shards(uid), shard)
		}},
		{"each shard is named once, in the order of the request", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "1"), newOpenShard(uid, "2"))
			b.wantDeleted(b.deleteShards(uid, false, "x", "2", "a\x00b", "1", "2", "", "x"), []string{"x", "a\x00b", ""}, []string{"2", "1"})
			b.wantDeleted(b.deleteShards(uid, true, "2", "x", "2", "1", "1"), []string{"2", "x", "1"}, nil)
		}},
		{"what an unknown index, another incarnation or an unknown source does not have counts as deleted", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			for _, force := range []bool{false, true} {
				b.wantDeleted(b.deleteShards(b.unknownIndex(), force, "1"), []string{"1"}, nil)
				b.wantDeleted(b.deleteShards(otherIncarnation(uid), force, "1"), []string{"1"}, nil)
				for _, sourceID := range []string{"", "nope", "a\x00b"} {
					result, err := b.store.DeleteShards(b.ctx, metastore.DeleteShardsRequest{IndexUID: uid, SourceID: sourceID, ShardIDs: []string{"1"}, Force: force})
					if err != nil {
						b.Fatalf("delete shards of source %q: %v", sourceID, err)
					}
					b.wantDeleted(result, []string{"1"}, nil)
				}
			}
			b.wantShards(b.shards(uid), shard)
		}},
		{"a deleted shard that is opened again starts over, an older token is as good as any", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "1", withToken(newerToken))
			b.deleteShards(uid, true, "1")
			shard := b.openShard(uid, "1", withToken(olderToken))
			if shard.PublishToken != metastore.Some(olderToken) {
				b.Errorf("token is %v, want %q", shard.PublishToken, olderToken)
			}
			b.wantShards(b.shards(uid), shard)
		}},
		{"I-91 and I-149 pruning without a limit removes nothing, nor does it in a source without shards", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.prune(uid, metastore.Some[uint32](0), metastore.Some[uint32](0))
			b.openShards(newOpenShard(uid, "1"), newOpenShard(uid, "2"))
			b.prune(uid, no, no)
			b.wantIDs(shardIDs(b.shards(uid)), "1", "2")
		}},
		{"pruning keeps as many as it is told, of equal age those with the greatest ids, whatever their position", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "1"), newOpenShard(uid, "B"), newOpenShard(uid, "a"), newOpenShard(uid, "b"))
			for _, c := range []struct {
				keep uint32
				left []string
			}{{5, []string{"1", "B", "a", "b"}}, {4, []string{"1", "B", "a", "b"}}, {3, []string{"B", "a", "b"}}, {1<<32 - 1, []string{"B", "a", "b"}}, {1, []string{"b"}}, {0, nil}} {
				b.prune(uid, no, metastore.Some(c.keep))
				b.wantIDs(shardIDs(b.shards(uid)), c.left...)
			}
		}},
		{"I-149 pruning by age removes what is older, and nothing when it is repeated", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "1"), newOpenShard(uid, "2"))
			b.prune(uid, metastore.Some[uint32](1<<32-1), no)
			b.wantIDs(shardIDs(b.shards(uid)), "1", "2")
			b.nextSecond()
			for range 2 {
				b.prune(uid, metastore.Some[uint32](0), no)
				b.wantShards(b.shards(uid))
			}
		}},
		{"pruning leaves other sources and indexes alone, and an unknown one has nothing to prune", func(b *bundle) {
			uid, other := b.indexWithSources("a", ingestSource, cliSource), b.ingestIndex("b")
			shards := b.openShards(newOpenShard(uid, "1", ofSource("_ingest-cli-source")), newOpenShard(other, "1"), newOpenShard(uid, "1"))
			zero := metastore.Some[uint32](0)
			for _, request := range []metastore.PruneShardsRequest{
				{IndexUID: b.unknownIndex(), SourceID: ingestSourceID, MaxCount: zero},
				{IndexUID: otherIncarnation(uid), SourceID: ingestSourceID, MaxCount: zero},
				{IndexUID: uid, SourceID: "nope", MaxCount: zero},
				{IndexUID: uid, SourceID: "a\x00b", MaxCount: zero},
				{IndexUID: uid, SourceID: ingestSourceID, MaxCount: zero},
			} {
				if err := b.store.PruneShards(b.ctx, request); err != nil {
					b.Fatalf("prune %+v: %v", request, err)
				}
			}
			lists := b.listShards(
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "_ingest-cli-source"},
				metastore.ListShardsSubrequest{IndexUID: other, SourceID: ingestSourceID},
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID})
			b.wantShards(lists[0], shards[0])
			b.wantShards(lists[1], shards[1])
			b.wantShards(lists[2])
		}},
	}
}

// wantDeleted checks which shards were deleted and which were refused, in order.
func (b *bundle) wantDeleted(got metastore.DeleteShardsResult, deleted, refused []string) {
	b.Helper()
	if !slices.Equal(got.Deleted, deleted) || !slices.Equal(got.Refused, refused) {
		b.Fatalf("deleted %q and refused %q, want %q and %q", got.Deleted, got.Refused, deleted, refused)
	}
}
