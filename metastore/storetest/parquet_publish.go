package storetest

import (
	"errors"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func parquetPublishCases() []parquetCase {
	return []parquetCase{
		{"S-103 S-104 S-105 a published split is Published, the other stays Staged", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			b.publish(uid, "s1")
			b.wantListed(b.inStates(uid, metastore.Published), "s1")
			b.wantListed(b.inStates(uid, metastore.Staged), "s2")
			b.wantListed(b.inStates(uid, metastore.Published, metastore.Staged), "s1", "s2")
		}},
		{"S-112 two splits published by one call are Published, and none is Staged", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			b.publish(uid, "s2", "s1")
			b.wantListed(b.inStates(uid, metastore.Published), "s1", "s2")
			b.wantListed(b.inStates(uid, metastore.Staged))
		}},
		{"S-113 publishing an unknown split gives NotFound of it", func(b *parquetBundle) {
			b.wantNotFoundSplits(b.tryPublish(b.index("a"), "x"), b.id("x"))
		}},
		{"publishing in an unknown index or incarnation gives NotFound of the index", func(b *parquetBundle) {
			uid, unknown := b.index("a"), b.unknownIndex()
			b.stage(uid, b.newSplit(uid, "s1"))
			b.wantNotFoundIndex(b.tryPublish(unknown, "s1"), unknown)
			b.wantNotFoundIndex(b.tryPublish(unknown), unknown)
			b.wantNotFoundIndex(b.tryPublish(otherIncarnation(uid), "s1"), uid)
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"publishing nothing succeeds and changes nothing", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.publish(uid)
			check()
		}},
		{"splits of another index are unknown", func(b *parquetBundle) {
			uid, other := b.index("a"), b.index("b")
			b.stage(other, b.newSplit(other, "s1"))
			b.wantNotFoundSplits(b.tryPublish(uid, "s1"), b.id("s1"))
			b.wantStates(other, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"canon H33 an unknown split beats one in a wrong state, and all unknown ones are named once", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.wantNotFoundSplits(b.tryReplace(uid, []string{"z", "published", "staged", "a", "z"}, []string{"m", "marked"}), b.fullIDs("z", "a", "m")...)
			check()
		}},
		{"canon H33 splits to publish in a wrong state are named, and nothing changes", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "published", "staged", "marked", "published"), b.fullIDs("published", "marked")...)
			check()
		}},
		{"canon H33 splits to replace in a wrong state are named, and nothing changes", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.stage(uid, b.newSplit(uid, "new"))
			check := b.unchanged(uid)
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"new"}, []string{"staged", "published", "marked"}), b.fullIDs("staged", "marked")...)
			check()
		}},
		{"canon H33 a split in both lists is refused", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"staged"}, []string{"staged"}), b.id("staged"))
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"published"}, []string{"published"}), b.id("published"))
			check()
		}},
		{"canon H33 a split named twice counts once", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			if err := b.tryReplace(uid, []string{"staged", "staged"}, []string{"published", "published"}); err != nil {
				b.Fatal(err)
			}
			b.wantStates(uid, map[string]metastore.SplitState{"staged": metastore.Published, "published": metastore.MarkedForDeletion, "marked": metastore.MarkedForDeletion})
		}},
		{"a merge publishes its result and marks what it replaces", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2", "merged")...)
			b.publish(uid, "s1", "s2")
			if err := b.tryReplace(uid, []string{"merged"}, []string{"s2", "s1"}); err != nil {
				b.Fatal(err)
			}
			b.wantStates(uid, map[string]metastore.SplitState{"merged": metastore.Published, "s1": metastore.MarkedForDeletion, "s2": metastore.MarkedForDeletion})
		}},
		{"replacing without publishing marks", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			if err := b.tryReplace(uid, nil, []string{"published"}); err != nil {
				b.Fatal(err)
			}
			b.wantListed(b.inStates(uid, metastore.MarkedForDeletion), "marked", "published")
		}},
		{"publishing and replacing move the update timestamp", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			now := b.nextSecond()
			if err := b.tryReplace(uid, []string{"staged"}, []string{"published"}); err != nil {
				b.Fatal(err)
			}
			query := b.all(uid)
			query.UpdateTimestamp.Start = metastore.Bound[int64]{Kind: metastore.Included, Value: now}
			b.wantListed(query, "published", "staged")
		}},
		{"a checkpoint delta makes progress together with the publish", func(b *parquetBundle) {
			uid := b.indexWithVoidSource()
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			b.publishWith(uid, voidDelta("", "5"), "s1")
			b.publishWith(uid, voidDelta("5", "7"), "s2")
			b.wantListed(b.inStates(uid, metastore.Published), "s1", "s2")
			b.wantVoidPosition(uid, "7")
		}},
		{"a checkpoint delta makes progress without splits", func(b *parquetBundle) {
			uid := b.indexWithVoidSource()
			b.publishWith(uid, voidDelta("", "5"))
			b.wantVoidPosition(uid, "5")
		}},
		{"a delta without partitions publishes", func(b *parquetBundle) {
			uid := b.indexWithVoidSource()
			b.stage(uid, b.newSplit(uid, "s1"))
			b.publishWith(uid, &metastore.CheckpointDelta{SourceID: "void"}, "s1")
			b.wantListed(b.inStates(uid, metastore.Published), "s1")
		}},
		{"a delta that does not fit is refused before the splits are looked at, and nothing is published", func(b *parquetBundle) {
			uid := b.indexWithVoidSource()
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			b.publishWith(uid, voidDelta("", "5"), "s1")
			check := b.unchanged(uid)
			entity := metastore.Entity{Kind: metastore.EntityCheckpointDelta, IndexID: uid.IndexID, SourceID: "void"}
			for _, name := range []string{"s2", "unknown"} {
				b.wantError(b.tryPublishWith(uid, voidDelta("", "7"), name), metastore.KindFailedPrecondition, entity)
			}
			unknown := &metastore.CheckpointDelta{SourceID: "nosuch"}
			b.wantError(b.tryPublishWith(uid, unknown, "unknown"), metastore.KindNotFound, metastore.SourceEntity(uid.IndexID, "nosuch"))
			check()
			b.wantVoidPosition(uid, "5")
		}},
		{"a split that cannot be published leaves the checkpoint alone", func(b *parquetBundle) {
			uid := b.indexWithVoidSource()
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.wantNotFoundSplits(b.tryPublishWith(uid, voidDelta("", "7"), "staged", "unknown"), b.id("unknown"))
			b.wantFailedPreconditionSplits(b.tryPublishWith(uid, voidDelta("", "7"), "staged", "published"), b.id("published"))
			check()
			if _, known := b.metadata(uid).Checkpoint["void"][""]; known {
				b.Fatal("the checkpoint moved")
			}
		}},
		{"a source that uses shards needs a publish token", func(b *parquetBundle) {
			metadata, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{
				Config: b.configOf(b.indexID("a")), Sources: []*indexconfig.SourceConfig{b.sourceOf(ingestSource)},
			})
			if err != nil {
				b.Fatal(err)
			}
			b.stage(metadata.IndexUID, b.newSplit(metadata.IndexUID, "s1"))
			delta := &metastore.CheckpointDelta{SourceID: "_ingest-source", Partitions: map[string]metastore.PartitionDelta{"0": {To: "1"}}}
			b.wantKind(b.tryPublishWith(metadata.IndexUID, delta, "s1"), metastore.KindInvalidArgument)
			b.wantListed(b.inStates(metadata.IndexUID, metastore.Staged), "s1")
		}},
		{"a checkpoint delta of shards moves them together with the publish, for who holds the token", func(b *parquetBundle) {
			uid := b.ingestIndex("a")
			b.openShards(newOpenShard(uid, "0", withToken("t")), newOpenShard(uid, "1", withToken("other")))
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			publish := func(token string, names []string, steps ...func(*metastore.CheckpointDelta)) error {
				return b.tryPublishRequest(metastore.PublishSplitsRequest{
					IndexUID: uid, StagedSplitIDs: b.fullIDs(names...), Delta: delta(ingestSourceID, steps...), PublishToken: metastore.Some(token),
				})
			}
			shards, check := b.shards(uid), b.unchanged(uid)
			b.wantNotFoundShard(publish("t", []string{"s1"}, step("0", "", at(5)), step("9", "", at(5))), uid, "9")
			b.wantInvalidToken(publish("t", []string{"s1"}, step("0", "", at(5)), step("1", "", at(5))), uid, "1")
			b.wantNotFoundSplits(publish("t", []string{"s1", "x"}, step("0", "", at(5))), b.id("x"))
			b.wantShards(b.shards(uid), shards...)
			check()
			for _, err := range []error{publish("t", []string{"s1"}, step("0", "", at(5))), publish("other", []string{"s2"}, step("1", "", "~"+at(7)))} {
				if err != nil {
					b.Fatal(err)
				}
			}
			shards[0].Position, shards[1].Position, shards[1].State = at(5), "~"+at(7), metastore.ShardClosed
			b.wantPublishedShards(uid, shards...)
			b.wantListed(b.inStates(uid, metastore.Published), "s1", "s2")
			b.wantKind(publish("t", nil, step("0", "", at(6))), metastore.KindInvalidArgument)
		}},
		{"sixteen clients that publish the same split: one succeeds, the others get FailedPrecondition", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			succeeded := 0
			for _, err := range b.concurrently(clients, func(int) error { return b.tryPublish(uid, "s1") }) {
				if err == nil {
					succeeded++
				} else if !errors.Is(err, metastore.ErrFailedPrecondition) {
					b.Errorf("a client got %v, want FailedPrecondition", err)
				}
			}
			if succeeded != 1 {
				b.Errorf("%d clients succeeded, want one", succeeded)
			}
		}},
	}
}

// indexWithVoidSource creates an index with a source of the id "void".
func (b *parquetBundle) indexWithVoidSource() metastore.IndexUID {
	b.Helper()
	const source = `{"version":"0.9","source_id":"void","source_type":"void","params":null,"num_pipelines":1,"enabled":true,"input_format":"json"}`
	metadata, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: b.configOf(b.indexID("a")), Sources: []*indexconfig.SourceConfig{b.sourceOf(source)}})
	if err != nil {
		b.Fatalf("create index: %v", err)
	}
	return metadata.IndexUID
}

func voidDelta(from, to metastore.Position) *metastore.CheckpointDelta {
	return &metastore.CheckpointDelta{SourceID: "void", Partitions: map[string]metastore.PartitionDelta{"": {From: from, To: to}}}
}

func (b *parquetBundle) tryPublishWith(uid metastore.IndexUID, delta *metastore.CheckpointDelta, names ...string) error {
	return b.tryPublishRequest(metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: b.fullIDs(names...), Delta: delta})
}

func (b *parquetBundle) publishWith(uid metastore.IndexUID, delta *metastore.CheckpointDelta, names ...string) {
	b.Helper()
	if err := b.tryPublishWith(uid, delta, names...); err != nil {
		b.Fatalf("publish %v: %v", names, err)
	}
}

func (b *parquetBundle) wantVoidPosition(uid metastore.IndexUID, want metastore.Position) {
	b.Helper()
	if got := b.metadata(uid).Checkpoint["void"][""]; got != want {
		b.Fatalf("the checkpoint is at %q, want %q", got, want)
	}
}
