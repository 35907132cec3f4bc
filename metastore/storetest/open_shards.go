package storetest

import (
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// defaultShardTime is the update timestamp of shards that were stored without one.
const defaultShardTime = 1704067200

// openShardsCases are about opening shards.
func openShardsCases() []testCase {
	return []testCase{
		{"I-71 no subrequests give no shards", func(b *bundle) {
			b.openShards()
		}},
		{"I-72 and I-73 an absent shard is created: open, at the beginning, with what the subrequest says, now", func(b *bundle) {
			uid := b.ingestIndex("a")
			start := b.storeTimeNow()
			got := b.openShard(uid, "shard-1")
			want := metastore.Shard{IndexUID: uid, SourceID: ingestSourceID, ShardID: "shard-1", IngesterID: "ingester-1", State: metastore.ShardOpen, UpdateTimestamp: got.UpdateTimestamp}
			b.wantShards([]metastore.Shard{got}, want)
			b.wantShards(b.shards(uid), want)
			if now := b.storeTimeNow(); got.UpdateTimestamp < start || got.UpdateTimestamp > now || got.UpdateTimestamp == defaultShardTime {
				b.Errorf("update timestamp is %d, want one from %d to %d", got.UpdateTimestamp, start, now)
			}
		}},
		{"I-74 an existing shard is returned as it is; token, ingester and doc mapping of the request are ignored", func(b *bundle) {
			uid := b.ingestIndex("a")
			first := b.openShard(uid, "shard-1")
			b.nextSecond()
			again := b.openShard(uid, "shard-1", withToken(planToken), func(r *metastore.OpenShardSubrequest) {
				r.IngesterID, r.DocMappingUID = "ingester-2", someDocMappingUID
			})
			b.wantShards([]metastore.Shard{again}, first)
			b.wantShards(b.shards(uid), first)
		}},
		{"I-75 and I-145 a shard that is opened with a token has it", func(b *bundle) {
			uid := b.ingestIndex("a")
			got := b.openShard(uid, "shard-1", withToken(planToken), func(r *metastore.OpenShardSubrequest) { r.DocMappingUID = someDocMappingUID })
			if got.PublishToken != metastore.Some(planToken) || got.DocMappingUID != someDocMappingUID {
				b.Errorf("token is %v and doc mapping %s, want %q and %s", got.PublishToken, got.DocMappingUID, planToken, someDocMappingUID)
			}
			b.wantShards(b.shards(uid), got)
			b.wantShards(b.openShards(newOpenShard(uid, "shard-1")), got)
		}},
		{"an empty token is kept as such", func(b *bundle) {
			uid := b.ingestIndex("a")
			got := b.openShard(uid, "shard-1", withToken(""))
			if got.PublishToken != metastore.Some("") {
				b.Errorf("token is %+v, want an empty one", got.PublishToken)
			}
			b.wantShards(b.shards(uid), got)
		}},
		{"the empty shard id and the empty ingester id are ids like others", func(b *bundle) {
			uid := b.ingestIndex("a")
			got := b.openShard(uid, "", func(r *metastore.OpenShardSubrequest) { r.IngesterID = "" })
			b.wantShards(b.shards(uid), got)
			if got.ShardID != "" || got.IngesterID != "" {
				b.Errorf("shard %q of ingester %q, want empty ids", got.ShardID, got.IngesterID)
			}
		}},
		{"a shard that is asked for twice is created once, as the first subrequest says", func(b *bundle) {
			uid := b.ingestIndex("a")
			shards := b.openShards(newOpenShard(uid, "shard-1", withToken(planToken)), newOpenShard(uid, "shard-2"), newOpenShard(uid, "shard-1", withToken(newerToken)))
			b.wantShards(shards[2:], shards[0])
			if shards[0].PublishToken != metastore.Some(planToken) {
				b.Errorf("token is %v, want that of the first subrequest", shards[0].PublishToken)
			}
			b.wantShards(b.shards(uid), shards[0], shards[1])
		}},
		{"the same shard id in two sources and two indexes names different shards", func(b *bundle) {
			uid, other := b.indexWithSources("a", ingestSource, cliSource), b.ingestIndex("b")
			shards := b.openShards(newOpenShard(uid, "1"), newOpenShard(uid, "1", ofSource("_ingest-cli-source"), withToken("t")), newOpenShard(other, "1"))
			lists := b.listShards(
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID},
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "_ingest-cli-source"},
				metastore.ListShardsSubrequest{IndexUID: other, SourceID: ingestSourceID})
			for i := range shards {
				b.wantShards(lists[i], shards[i])
			}
		}},
		{"many shards of many indexes are opened in one call and returned in its order", func(b *bundle) {
			var subrequests []metastore.OpenShardSubrequest
			for i := range 5 {
				uid := b.ingestIndex(fmt.Sprint("i", i))
				for j := range 40 {
					subrequests = append(subrequests, newOpenShard(uid, fmt.Sprintf("%03d", 999-j*7-i)))
				}
			}
			slices.Reverse(subrequests)
			b.openShards(subrequests[:len(subrequests)/2]...) // the second half is new, the first exists
			for i, shard := range b.openShards(subrequests...) {
				if shard.IndexUID != subrequests[i].IndexUID || shard.ShardID != subrequests[i].ShardID {
					b.Fatalf("shard %d is %s/%s, want %s/%s", i, shard.IndexUID, shard.ShardID, subrequests[i].IndexUID, subrequests[i].ShardID)
				}
			}
		}},
		{"H5 an unknown index gives NotFound of it, and nothing is created in others", func(b *bundle) {
			uid, unknown := b.ingestIndex("a"), b.unknownIndex()
			_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(unknown, "1")})
			b.wantNotFoundIndex(err, unknown)
			_, err = b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(uid, "1"), newOpenShard(unknown, "1")})
			b.wantNotFoundIndex(err, unknown)
			b.wantShards(b.shards(uid))
		}},
		{"H5 another incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.ingestIndex("a")
			other := otherIncarnation(uid)
			_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(uid, "1"), newOpenShard(other, "2")})
			b.wantNotFoundIndex(err, other)
			b.wantShards(b.shards(uid))
		}},
		{"H20 an unknown source gives NotFound of it, and nothing is created", func(b *bundle) {
			uid, other := b.ingestIndex("a"), b.ingestIndex("b")
			for _, sourceID := range []string{"", "nope", "_ingest-cli-source", longText() + "x", "a\x00b"} {
				_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(other, "1"), newOpenShard(uid, "1"), newOpenShard(uid, "2", ofSource(sourceID))})
				b.wantError(err, metastore.KindNotFound, metastore.SourceEntity(uid.IndexID, sourceID))
			}
			b.wantShards(b.shards(uid))
			b.wantShards(b.shards(other))
		}},
		{"of several subrequests that fail the first decides", func(b *bundle) {
			uid, unknown := b.ingestIndex("a"), b.unknownIndex()
			noIndex, noSource := newOpenShard(unknown, "1"), newOpenShard(uid, "1", ofSource("nope"))
			_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{noSource, noIndex})
			b.wantError(err, metastore.KindNotFound, metastore.SourceEntity(uid.IndexID, "nope"))
			_, err = b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{noIndex, noSource})
			b.wantNotFoundIndex(err, unknown)
		}},
		{"an index id that cannot be one gives NotFound of the index", func(b *bundle) {
			for _, id := range []string{"", "../up", "a b", "x"} {
				uid := metastore.IndexUID{IndexID: id, Incarnation: ulid.Make()}
				_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(uid, "1")})
				b.wantNotFoundIndex(err, uid)
			}
		}},
		{"a source of any type takes shards, also one that is disabled", func(b *bundle) {
			uid := b.indexWithSources("a", `{"version":"0.9","source_id":"void-source","source_type":"void","enabled":false,"params":{}}`)
			shard := b.openShard(uid, "1", ofSource("void-source"))
			b.wantShards(b.listShards(metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "void-source"})[0], shard)
		}},
		{"ids and tokens of 255 characters are kept, longer ones are refused, and so is what a store cannot hold", func(b *bundle) {
			uid := b.ingestIndex("a")
			set := []func(r *metastore.OpenShardSubrequest, text string){
				func(r *metastore.OpenShardSubrequest, text string) { r.ShardID = text },
				func(r *metastore.OpenShardSubrequest, text string) { r.IngesterID = text },
				func(r *metastore.OpenShardSubrequest, text string) { r.PublishToken = metastore.Some(text) },
			}
			for i := range set {
				for _, text := range []string{longText() + "x", "a\x00b"} {
					bad := newOpenShard(uid, "1")
					set[i](&bad, text)
					_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(uid, "2"), bad})
					b.wantKind(err, metastore.KindInvalidArgument)
				}
			}
			b.wantShards(b.shards(uid))
			longest := newOpenShard(uid, "1")
			for i := range set {
				set[i](&longest, longText())
			}
			shard := b.openShards(longest)[0]
			if shard.ShardID != longText() || shard.IngesterID != longText() || shard.PublishToken != metastore.Some(longText()) {
				b.Errorf("texts of 255 characters are not kept: %+v", shard)
			}
			b.wantShards(b.shards(uid), shard)
		}},
		{"shards go with their index, and a new incarnation has none", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "1")
			b.deleteIndex(uid)
			b.wantShards(b.shards(uid))
			_, err := b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(uid, "1")})
			b.wantNotFoundIndex(err, uid)
			again := b.ingestIndex("a")
			b.wantShards(b.shards(again))
			b.wantShards(b.shards(uid))
		}},
		{"clients that open the same shard at once all get the one that one of them created", func(b *bundle) {
			uid := b.ingestIndex("a")
			opened := make([][]metastore.Shard, clients)
			for i, err := range b.concurrently(clients, func(i int) (err error) {
				subrequests := []metastore.OpenShardSubrequest{
					newOpenShard(uid, fmt.Sprint(i%3), withToken(fmt.Sprint("t", i))), newOpenShard(uid, fmt.Sprint((i+1)%3), withToken(fmt.Sprint("t", i))),
				}
				opened[i], err = b.store.OpenShards(b.ctx, subrequests)
				return err
			}) {
				if err != nil {
					b.Fatalf("client %d failed: %v", i, err)
				}
			}
			stored := b.shards(uid)
			b.wantIDs(shardIDs(stored), "0", "1", "2")
			for _, shards := range opened {
				for _, shard := range shards {
					if !slices.Contains(stored, shard) {
						b.Errorf("a client got %+v, stored are %+v", shard, stored)
					}
				}
			}
		}},
	}
}
