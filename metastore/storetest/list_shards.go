package storetest

import (
	"fmt"

	"holdfast/metastore"
)

// listShardsCases are about listing shards.
func listShardsCases() []testCase {
	return []testCase{
		{"I-83 and I-84 the shards of two sources are listed as they are, for each subrequest in its order", func(b *bundle) {
			one, two := b.ingestIndex("a"), b.ingestIndex("b")
			want := [][]metastore.Shard{
				b.openShards(newOpenShard(one, "1", withToken(planToken)), newOpenShard(one, "2")),
				b.openShards(newOpenShard(two, "1"), newOpenShard(two, "2", withToken(newerToken))),
			}
			for i, list := range b.listShards(
				metastore.ListShardsSubrequest{IndexUID: two, SourceID: ingestSourceID},
				metastore.ListShardsSubrequest{IndexUID: one, SourceID: ingestSourceID}) {
				b.wantShards(list, want[1-i]...)
			}
		}},
		{"I-86 a filter on a state that no shard has selects none, and no state selects all", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			in := func(state metastore.ShardState) metastore.ListShardsSubrequest {
				return metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID, State: state}
			}
			lists := b.listShards(in(metastore.ShardUnavailable), in(metastore.ShardClosed), in(metastore.ShardOpen), in(metastore.ShardUnspecified))
			b.wantShards(lists[0])
			b.wantShards(lists[1])
			b.wantShards(lists[2], shard)
			b.wantShards(lists[3], shard)
		}},
		{"I-150 a source without shards has an empty list", func(b *bundle) {
			b.wantShards(b.shards(b.ingestIndex("a")))
		}},
		{"shards are sorted by the bytes of their ids", func(b *bundle) {
			uid := b.ingestIndex("a")
			for _, id := range []string{"b", "é", "B", "", "a", "10", "9", "a-b", "aB"} {
				b.openShard(uid, id)
			}
			b.wantIDs(shardIDs(b.shards(uid)), "", "10", "9", "B", "a", "a-b", "aB", "b", "é")
		}},
		{"H24 a source that is asked for twice is answered twice", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			same := metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID}
			closed := same
			closed.State = metastore.ShardClosed
			lists := b.listShards(same, closed, same)
			b.wantShards(lists[0], shard)
			b.wantShards(lists[1])
			b.wantShards(lists[2], shard)
		}},
		{"an unknown index, another incarnation and an unknown source have no shards", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			lists := b.listShards(
				metastore.ListShardsSubrequest{IndexUID: b.unknownIndex(), SourceID: ingestSourceID},
				metastore.ListShardsSubrequest{IndexUID: otherIncarnation(uid), SourceID: ingestSourceID},
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "nope"},
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "a\x00b"},
				metastore.ListShardsSubrequest{IndexUID: metastore.IndexUID{IndexID: "../x"}, SourceID: ingestSourceID},
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID})
			for _, list := range lists[:5] {
				b.wantShards(list)
			}
			b.wantShards(lists[5], shard)
		}},
		{"no subrequests give no lists", func(b *bundle) { b.listShards() }},
		{"a thousand subrequests are answered in their order", func(b *bundle) {
			sources := []string{ingestSource}
			for i := range 9 {
				sources = append(sources, fmt.Sprintf(`{"version":"0.9","source_id":"source-%d","source_type":"void","params":{}}`, i))
			}
			uid := b.indexWithSources("a", sources...)
			var subrequests []metastore.ListShardsSubrequest
			for i := range 9 {
				b.openShards(newOpenShard(uid, fmt.Sprint("s", i), ofSource(fmt.Sprint("source-", i))))
			}
			for i := range 1000 {
				subrequests = append(subrequests, metastore.ListShardsSubrequest{IndexUID: uid, SourceID: fmt.Sprint("source-", i%11)})
			}
			for i, list := range b.listShards(subrequests...) {
				if i%11 > 8 {
					b.wantShards(list)
					continue
				}
				b.wantIDs(shardIDs(list), fmt.Sprint("s", i%11))
			}
		}},
	}
}
