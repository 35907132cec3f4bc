package storetest

import (
	"fmt"
	"strings"

	"holdfast/metastore"
)

// publishShardsCases are about checkpoint deltas of sources that keep their progress in shards.
func publishShardsCases() []testCase {
	return []testCase{
		{"V1 I-96 a delta of an unknown shard gives NotFound of the shard", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.wantNotFoundShard(b.tryPublishShards(uid, "t", step("0", "", at(0))), uid, "0")
		}},
		{"V2 I-97 another token than the recorded one gives InvalidPublishToken of the shard", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0", withToken("bar"))
			before := b.shards(uid)
			for _, token := range []string{"foo", "", "bar2", "Bar", "a/b", newerToken} {
				b.wantInvalidToken(b.tryPublishShards(uid, token, step("0", "", at(0))), uid, "0")
			}
			b.wantShards(b.shards(uid), before...)
		}},
		{"V3 V4 I-98 I-99 the recorded token moves the shard, and the same delta again gives InvalidArgument about the checkpoint", func(b *bundle) {
			uid := b.ingestIndex("a")
			want := b.openShard(uid, "0", withToken("bar"))
			want.UpdateTimestamp = b.nextSecond()
			b.publishShards(uid, "bar", step("0", "", at(0)))
			want.Position = at(0)
			b.wantPublishedShards(uid, want)
			err := b.tryPublishShards(uid, "bar", step("0", "", at(0)))
			b.wantKind(err, metastore.KindInvalidArgument)
			for _, part := range []string{"checkpoint", metastore.QueueID(uid, ingestSourceID, "0"), string(at(0))} {
				if !strings.Contains(err.Error(), part) {
					b.Errorf("the error does not name %s: %v", part, err)
				}
			}
			b.wantPublishedShards(uid, want)
		}},
		{"V5 I-100 a delta up to the end closes the shard, and nothing follows", func(b *bundle) {
			uid := b.ingestIndex("a")
			want := b.openShard(uid, "0", withToken("bar"))
			b.publishShards(uid, "bar", step("0", "", "~"+at(1)))
			want.Position, want.State = "~"+at(1), metastore.ShardClosed
			b.wantPublishedShards(uid, want)
			b.wantKind(b.tryPublishShards(uid, "bar", step("0", at(1), at(2))), metastore.KindInvalidArgument)
			b.wantPublishedShards(uid, want)
		}},
		{"V6 I-101 to I-104 one delta moves several shards, and no other", func(b *bundle) {
			uid := b.ingestIndex("a")
			var want []metastore.Shard
			for i := range 4 {
				token := "foo"
				if i == 3 {
					token = "bar"
				}
				want = append(want, b.openShard(uid, fmt.Sprint(i), withToken(token)))
				b.publishShards(uid, token, step(fmt.Sprint(i), "", at(i)))
			}
			untouched := b.shards(uid)[3]
			now := b.nextSecond()
			b.publishShards(uid, "foo", step("2", at(2), "~"+at(12)), step("0", at(0), at(10)), step("1", at(1), at(11)))
			for i := range want[:3] {
				want[i].Position, want[i].UpdateTimestamp = at(10+i), now
			}
			want[2].Position, want[2].State = "~"+at(12), metastore.ShardClosed
			want[3] = untouched
			b.wantPublishedShards(uid, want...)
			if got := b.shards(uid)[3]; got != untouched {
				b.Errorf("the shard that the delta does not name is %+v, was %+v", got, untouched)
			}
		}},
		{"a shard at its end without a record is at its end all the same", func(b *bundle) {
			uid := b.ingestIndex("a")
			want := b.openShard(uid, "0", withToken("t"))
			b.publishShards(uid, "t", step("0", "", "~"))
			want.Position, want.State = "~", metastore.ShardClosed
			b.wantPublishedShards(uid, want)
		}},
		{"canon H11 a shard without token takes no token, not even the empty one", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0")
			b.wantInvalidToken(b.tryPublishShards(uid, "", step("0", "", at(0))), uid, "0")
			b.wantInvalidToken(b.tryPublishShards(uid, "t", step("0", "", at(0))), uid, "0")
			b.openShard(uid, "1", withToken(""))
			b.publishShards(uid, "", step("1", "", at(0)))
		}},
		{"canon H11 unknown shards are reported before tokens, tokens before positions, each for the first shard", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "1", withToken("t"))
			b.openShard(uid, "2", withToken("other"))
			b.publishShards(uid, "t", step("1", "", at(5)))
			b.wantNotFoundShard(b.tryPublishShards(uid, "t", step("1", "", at(9)), step("2", "", at(9)), step("9", "", at(9)), step("8", "", at(9))), uid, "8")
			b.wantInvalidToken(b.tryPublishShards(uid, "t", step("1", at(5), at(9)), step("2", "", at(9))), uid, "2")
			b.wantInvalidToken(b.tryPublishShards(uid, "x", step("1", "", at(9)), step("2", "", at(9))), uid, "1")
		}},
		{"a delta without a token gives InvalidArgument that names the field, also if no partition moves", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0", withToken("t"))
			for _, d := range []*metastore.CheckpointDelta{delta(ingestSourceID, step("0", "", at(0))), delta(ingestSourceID)} {
				err := b.tryPublishDelta(uid, d)
				b.wantKind(err, metastore.KindInvalidArgument)
				if !strings.Contains(err.Error(), "publish_token") {
					b.Errorf("the error does not name the field: %v", err)
				}
			}
		}},
		{"a delta without partitions succeeds with any token, and publishes", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.stage(uid, newSplit("s1"))
			err := b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{
				IndexUID: uid, StagedSplitIDs: []string{"s1"}, Delta: delta(ingestSourceID), PublishToken: metastore.Some("any"),
			})
			if err != nil {
				b.Fatal(err)
			}
			b.wantIDs(b.inState(uid, metastore.Published), "s1")
		}},
		{"a gap is accepted, a part that begins before what is published is not, and then no shard moves", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "0", withToken("t")), newOpenShard(uid, "1", withToken("t")))
			b.publishShards(uid, "t", step("0", at(7), at(9)), step("1", "", at(3)))
			before := b.shards(uid)
			b.wantKind(b.tryPublishShards(uid, "t", step("0", at(9), at(12)), step("1", at(2), at(12))), metastore.KindInvalidArgument)
			b.wantShards(b.shards(uid), before...)
		}},
		{"splits and shards change together or not at all", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0", withToken("t"))
			b.stage(uid, newSplit("s1"))
			publish := func(token string, from, to metastore.Position, ids ...string) error {
				return b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{
					IndexUID: uid, StagedSplitIDs: ids, Delta: delta(ingestSourceID, step("0", from, to)), PublishToken: metastore.Some(token),
				})
			}
			before := b.shards(uid)
			b.wantNotFoundSplits(publish("t", "", at(5), "s1", "x"), "x")
			b.wantInvalidToken(publish("u", "", at(5), "s1"), uid, "0")
			b.wantShards(b.shards(uid), before...)
			b.wantIDs(b.inState(uid, metastore.Staged), "s1")
			if err := publish("t", "", at(5), "s1"); err != nil {
				b.Fatal(err)
			}
			b.wantFailedPreconditionSplits(publish("t", at(5), at(6), "s1"), "s1")
			if got := b.shards(uid)[0].Position; got != at(5) {
				b.Errorf("the shard is at %q, want %q", got, at(5))
			}
		}},
		{"the progress of shards is not in the metadata of the index", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0", withToken("t"))
			before := b.metadata(uid)
			b.publishShards(uid, "t", step("0", "", at(5)))
			b.wantSameMetadata(b.metadata(uid), before)
			b.resetCheckpoint(uid, ingestSourceID)
			b.wantKind(b.tryPublishShards(uid, "t", step("0", "", at(6))), metastore.KindInvalidArgument)
		}},
		{"shards of a deleted source are gone, also when the source is added again", func(b *bundle) {
			uid := b.indexWithSources("a", ingestSource, shardSource)
			b.openShards(newOpenShard(uid, "0", withToken("t")), newOpenShard(uid, "1", withToken("t")), newOpenShard(uid, "0", ofSource("src")))
			b.deleteSource(uid, ingestSourceID)
			b.wantNotFoundSource(b.tryPublishShards(uid, "t", step("0", "", at(5))), uid, ingestSourceID)
			b.wantShards(b.shards(uid))
			b.addSource(uid, ingestSource)
			b.wantShards(b.shards(uid))
			b.wantNotFoundShard(b.tryPublishShards(uid, "t", step("0", "", at(5))), uid, "0")
			if got := b.listShards(metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "src"})[0]; len(got) != 1 {
				b.Errorf("the other source has %d shards, want 1", len(got))
			}
		}},
		{"positions that no store can hold, and shard ids that none can have", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0", withToken("t"))
			longest := metastore.Position(strings.Repeat("é", metastore.MaxShardPositionLength))
			for _, position := range []metastore.Position{longest + "é", "a\x00b"} {
				b.wantKind(b.tryPublishShards(uid, "t", step("0", "", position)), metastore.KindInvalidArgument)
			}
			for _, id := range []string{"a\x00b", strings.Repeat("x", 300)} {
				b.wantNotFoundShard(b.tryPublishShards(uid, "t", step(id, "", at(1))), uid, id)
			}
			b.publishShards(uid, "t", step("0", "", longest))
			if got := b.shards(uid)[0].Position; got != longest {
				b.Errorf("the shard is at %q", got)
			}
		}},
		{"shards of other indexes and sources with the same id do not move", func(b *bundle) {
			uid, other := b.indexWithSources("a", ingestSource, shardSource), b.ingestIndex("b")
			b.openShards(newOpenShard(uid, "0", withToken("t")), newOpenShard(uid, "0", ofSource("src"), withToken("t")), newOpenShard(other, "0", withToken("t")))
			b.publishShards(uid, "t", step("0", "", at(5)))
			lists := b.listShards(metastore.ListShardsSubrequest{IndexUID: uid, SourceID: "src"}, metastore.ListShardsSubrequest{IndexUID: other, SourceID: ingestSourceID})
			for _, shards := range lists {
				if len(shards) != 1 || shards[0].Position != metastore.Beginning {
					b.Errorf("shards are %+v", shards)
				}
			}
		}},
		{"sixteen clients with the same delta and token: one succeeds", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "0", withToken("t"))
			succeeded := 0
			for _, err := range b.concurrently(clients, func(int) error { return b.tryPublishShards(uid, "t", step("0", "", at(5))) }) {
				if err == nil {
					succeeded++
				} else {
					b.wantKind(err, metastore.KindInvalidArgument)
				}
			}
			if succeeded != 1 {
				b.Errorf("%d clients moved the shard, want 1", succeeded)
			}
		}},
		{"indexers that crash, lose replies, retry and take over from each other publish every record exactly once", func(b *bundle) {
			CheckExactlyOnce(b.ctx, b.T, b.store, b.indexID("a"), 15, nil)
		}},
	}
}

func (b *bundle) publishShards(uid metastore.IndexUID, token string, steps ...func(*metastore.CheckpointDelta)) {
	b.Helper()
	if err := b.tryPublishShards(uid, token, steps...); err != nil {
		b.Fatalf("publish to shards: %v", err)
	}
}

func (b *bundle) tryPublishShards(uid metastore.IndexUID, token string, steps ...func(*metastore.CheckpointDelta)) error {
	return b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{
		IndexUID: uid, Delta: delta(ingestSourceID, steps...), PublishToken: metastore.Some(token),
	})
}

// wantPublishedShards checks the shards of the ingest source. An update timestamp may be later than that of want.
func (b *bundle) wantPublishedShards(uid metastore.IndexUID, want ...metastore.Shard) {
	b.Helper()
	got := b.shards(uid)
	for i := range min(len(got), len(want)) {
		if got[i].UpdateTimestamp > want[i].UpdateTimestamp {
			want[i].UpdateTimestamp = got[i].UpdateTimestamp
		}
	}
	b.wantShards(got, want...)
}

// wantNotFoundShard checks that a call failed because the shard of the ingest source does not exist.
func (b *bundle) wantNotFoundShard(err error, uid metastore.IndexUID, shardID string) {
	b.Helper()
	b.wantError(err, metastore.KindNotFound, metastore.ShardEntity(uid, ingestSourceID, shardID))
}

// wantInvalidToken checks that a call failed because the token is not that of the shard of the ingest source.
func (b *bundle) wantInvalidToken(err error, uid metastore.IndexUID, shardID string) {
	b.Helper()
	b.wantKind(err, metastore.KindInvalidPublishToken)
	if got, want := metastore.AsError(err).QueueID, metastore.QueueID(uid, ingestSourceID, shardID); got != want {
		b.Fatalf("the error is about shard %q, want %q", got, want)
	}
}
