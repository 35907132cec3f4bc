package storetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"holdfast/metastore"
)

// acquireShardsCases are about taking shards over.
func acquireShardsCases() []testCase {
	return []testCase{
		{"I-76 an older token acquires nothing, absent shards are left out, and the recorded token stays", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(planToken))
			b.wantShards(b.acquire(uid, olderToken, "1", "absent"))
			b.wantShards(b.shards(uid), shard)
		}},
		{"I-77 the recorded token acquires, and the shard is returned complete", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(planToken), func(r *metastore.OpenShardSubrequest) { r.DocMappingUID = someDocMappingUID })
			b.wantShards(b.acquire(uid, planToken, "1"), shard)
		}},
		{"I-78 a newer token acquires and is recorded, and the update timestamp stays", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(planToken))
			b.nextSecond()
			b.wantShards(b.acquire(uid, newerToken, "1"), acquired(shard, newerToken))
			b.wantShards(b.shards(uid), acquired(shard, newerToken))
		}},
		{"I-79 and I-146 a shard without token is acquired", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			b.wantShards(b.acquire(uid, planToken, "1"), acquired(shard, planToken))
			b.wantShards(b.shards(uid), acquired(shard, planToken))
		}},
		{"I-80 a shard with a legacy token is acquired", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(legacyToken))
			b.wantShards(b.acquire(uid, planToken, "1"), acquired(shard, planToken))
		}},
		{"I-81 a legacy token acquires", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(planToken))
			b.wantShards(b.acquire(uid, legacyToken, "1"), acquired(shard, legacyToken))
		}},
		{"I-82 the token of a source that reads a queue acquires", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1", withToken(newerToken))
			b.wantShards(b.acquire(uid, queueToken, "1"), acquired(shard, queueToken))
		}},
		{"I-146 no shard ids, and unknown ones, acquire nothing", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			b.wantShards(b.acquire(uid, planToken))
			b.wantShards(b.acquire(uid, planToken, "x", "", "a\x00b", "11"))
			b.wantShards(b.shards(uid), shard)
		}},
		{"I-147 each line of the rule decides", func(b *bundle) {
			none := metastore.Optional[string]{}
			for i, c := range []struct {
				recorded  metastore.Optional[string]
				presented string
				acquired  bool
			}{
				{none, "01HZZZZZZZ0000000000000001-n1", true},
				{metastore.Some("01HZZZZZZZ0000000000000001-n1"), "01J00000000000000000000002-n9", true},
				{metastore.Some("01J00000000000000000000002-n9"), "01HZZZZZZZ0000000000000001-n1", false},
				{metastore.Some("01J00000000000000000000002-n9"), "01J00000000000000000000002-n9", true},
				{metastore.Some("01J00000000000000000000002-n9"), "01J00000000000000000000002-n1", false},
				{metastore.Some("01J00000000000000000000002-n1"), "01J00000000000000000000002-n9", true},
				{metastore.Some("n1/01J00000000000000000000002"), "01HZZZZZZZ0000000000000001-n1", true},
				{metastore.Some("01J00000000000000000000002-n9"), "n1/01HZZZZZZZ0000000000000001", true},
				{metastore.Some("01J00000000000000000000002-n6"), "01J00000000000000000000002-n50", false},
				{none, "", true},
				{metastore.Some(""), "", true},
				{metastore.Some("01J00000000000000000000002-n9"), "", false},
				// By bytes: a collation of English would have these the other way round.
				{metastore.Some("01J00000000000000000000002-B"), "01J00000000000000000000002-a", true},
				{metastore.Some("01J00000000000000000000002-a"), "01J00000000000000000000002-B", false},
				{metastore.Some("01J00000000000000000000002-n1"), "01J00000000000000000000002_n1", true},
				{metastore.Some("01J00000000000000000000002_n1"), "01J00000000000000000000002-n1", false},
				{metastore.Some("0"), "/", true},
			} {
				uid := b.ingestIndex(fmt.Sprint("i", i))
				shard := b.openShards(newOpenShard(uid, "1", func(r *metastore.OpenShardSubrequest) { r.PublishToken = c.recorded }))[0]
				got, after := b.acquire(uid, c.presented, "1"), shard
				if c.acquired {
					after = acquired(shard, c.presented)
				}
				if len(got) == 1 != c.acquired || !slices.Equal(b.shards(uid), []metastore.Shard{after}) {
					b.Errorf("%q presented to %v: acquired %+v, shards are %+v; want acquired %v", c.presented, c.recorded, got, b.shards(uid), c.acquired)
				}
			}
		}},
		{"H19 a token acquires exactly the shards that Shard.MayAcquire says", func(b *bundle) {
			// Letters that collations order otherwise than their bytes, and the slash.
			token := rapid.StringMatching(`[-_./aAbBzZ09 é~]{0,4}`)
			round := 0
			rapid.Check(b, func(t *rapid.T) {
				round++
				uid := b.ingestIndex(fmt.Sprint("r", round))
				recorded := rapid.SliceOfN(rapid.Ptr(token, true), 1, 12).Draw(t, "recorded")
				presented := token.Draw(t, "presented")
				var subrequests []metastore.OpenShardSubrequest
				for i, text := range recorded {
					subrequests = append(subrequests, newOpenShard(uid, fmt.Sprintf("%02d", i), func(r *metastore.OpenShardSubrequest) {
						if text != nil {
							r.PublishToken = metastore.Some(*text)
						}
					}))
				}
				var want []metastore.Shard
				var ids []string
				for _, shard := range b.openShards(subrequests...) {
					ids = append(ids, shard.ShardID)
					if shard.MayAcquire(presented) {
						want = append(want, acquired(shard, presented))
					}
				}
				if got := b.acquire(uid, presented, ids...); !slices.Equal(got, want) {
					t.Fatalf("%q acquired %+v, want %+v", presented, got, want)
				}
				b.deleteIndex(uid)
			})
		}},
		{"shards are returned once each, sorted by id, in whatever order and however often they are asked for", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "b"), newOpenShard(uid, "a"), newOpenShard(uid, "B"), newOpenShard(uid, "c", withToken(newerToken)), newOpenShard(uid, "é"))
			b.wantIDs(shardIDs(b.acquire(uid, planToken, "é", "b", "c", "a", "b", "B", "é")), "B", "a", "b", "é")
		}},
		{"an unknown index, another incarnation and an unknown source have no shards to acquire", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			b.wantShards(b.acquire(b.unknownIndex(), planToken, "1"))
			b.wantShards(b.acquire(otherIncarnation(uid), planToken, "1"))
			for _, sourceID := range []string{"", "nope", "a\x00b"} {
				shards, err := b.store.AcquireShards(b.ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: sourceID, ShardIDs: []string{"1"}, PublishToken: planToken})
				if err != nil || len(shards) != 0 {
					b.Errorf("source %q: shards %+v, error %v, want none", sourceID, shards, err)
				}
			}
			b.wantShards(b.shards(uid), shard)
		}},
		{"a token of more than 255 characters, or that a store cannot hold, is refused", func(b *bundle) {
			uid := b.ingestIndex("a")
			shard := b.openShard(uid, "1")
			for _, token := range []string{longText() + "x", "a\x00b"} {
				_, err := b.store.AcquireShards(b.ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: ingestSourceID, ShardIDs: []string{"1"}, PublishToken: token})
				b.wantKind(err, metastore.KindInvalidArgument)
			}
			b.wantShards(b.shards(uid), shard)
			b.wantShards(b.acquire(uid, longText(), "1"), acquired(shard, longText()))
		}},
		{"clients that acquire overlapping shards at once leave the newest token in each", func(b *bundle) {
			uid := b.ingestIndex("a")
			ids := numbered("s", 20)
			for _, id := range ids {
				b.openShard(uid, id)
			}
			for _, err := range b.concurrently(clients, func(client int) error {
				for round := range 10 {
					_, err := b.store.AcquireShards(b.ctx, metastore.AcquireShardsRequest{
						IndexUID: uid, SourceID: ingestSourceID, ShardIDs: shuffledSample(client*10+round, ids, len(ids)), PublishToken: fmt.Sprintf("%02d-%02d", round, client),
					})
					if err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			for _, shard := range b.shards(uid) {
				if want := fmt.Sprintf("09-%02d", clients-1); shard.PublishToken != metastore.Some(want) {
					b.Errorf("shard %s has token %v, want %s", shard.ShardID, shard.PublishToken, want)
				}
			}
		}},
	}
}
