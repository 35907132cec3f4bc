package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"holdfast/metastore"
)

// shardLifeCases are about shards that are published to, from their opening to their end.
func shardLifeCases() []testCase {
	return []testCase{
		{"I-77 and I-78 a shard at its end is acquired complete, and stays closed", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "1", withToken(planToken))
			b.publishShard(uid, "1", planToken, "", "~"+at(7))
			shard := b.shards(uid)[0]
			if shard.State != metastore.ShardClosed || shard.Position != "~"+at(7) {
				b.Fatalf("the shard is %s at %q, want it closed at its end", shard.State, shard.Position)
			}
			b.wantShards(b.acquire(uid, olderToken, "1"))
			b.wantShards(b.acquire(uid, planToken, "1"), shard)
			b.wantShards(b.acquire(uid, newerToken, "1"), acquired(shard, newerToken))
			b.wantShards(b.shards(uid), acquired(shard, newerToken))
		}},
		{"I-85 a filter on the state selects the shards in it", func(b *bundle) {
			uid, other := b.ingestIndex("a"), b.ingestIndex("b")
			for _, index := range []metastore.IndexUID{uid, other} {
				b.openShards(newOpenShard(index, "1", withToken(planToken)), newOpenShard(index, "2", withToken(planToken)))
				b.publishShard(index, "2", planToken, "", "~")
			}
			lists := b.listShards(
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID, State: metastore.ShardOpen},
				metastore.ListShardsSubrequest{IndexUID: other, SourceID: ingestSourceID, State: metastore.ShardClosed},
				metastore.ListShardsSubrequest{IndexUID: uid, SourceID: ingestSourceID})
			b.wantIDs(shardIDs(lists[0]), "1")
			b.wantIDs(shardIDs(lists[1]), "2")
			b.wantIDs(shardIDs(lists[2]), "1", "2")
		}},
		{"I-87 and I-148 shards at their end are deleted, others at an offset are refused", func(b *bundle) {
			uid := b.ingestIndex("a")
			for _, id := range []string{"begin", "offset", "end", "end-at"} {
				b.openShard(uid, id, withToken(planToken))
			}
			b.publishShard(uid, "offset", planToken, "", at(3))
			b.publishShard(uid, "end", planToken, "", "~")
			b.publishShard(uid, "end-at", planToken, "", "~"+at(3))
			b.wantDeleted(b.deleteShards(uid, false, "offset", "end", "absent", "begin", "end-at"), []string{"end", "absent", "end-at"}, []string{"offset", "begin"})
			b.wantIDs(shardIDs(b.shards(uid)), "begin", "offset")
		}},
		{"a closed shard that is opened again is returned as it is", func(b *bundle) {
			uid := b.ingestIndex("a")
			b.openShard(uid, "1", withToken(planToken))
			b.publishShard(uid, "1", planToken, "", "~"+at(9))
			shard := b.shards(uid)[0]
			b.wantShards([]metastore.Shard{b.openShard(uid, "1", withToken(newerToken))}, shard)
			b.wantShards(b.shards(uid), shard)
		}},
		{"H26 a shard that was deleted or pruned and is opened again is published to from the beginning", func(b *bundle) {
			uid := b.ingestIndex("a")
			remove := []func(){
				func() { b.deleteShards(uid, false, "1") },
				func() { b.deleteShards(uid, true, "1") },
				func() { b.prune(uid, metastore.Optional[uint32]{}, metastore.Some[uint32](0)) },
				func() {},
			}
			for _, remove := range remove {
				shard := b.openShard(uid, "1", withToken(planToken))
				if shard.Position != metastore.Beginning || shard.State != metastore.ShardOpen {
					b.Fatalf("the shard is %s at %q, want it to start over", shard.State, shard.Position)
				}
				b.publishShard(uid, "1", planToken, "", at(3))
				b.publishShard(uid, "1", planToken, at(3), "~"+at(9))
				remove()
			}
		}},
		{"clients that open, acquire, publish, list, delete and prune the shards of one index at once fail only for the states that they meet", func(b *bundle) {
			uid := b.ingestIndex("a")
			ids := numbered("s", 12)
			for _, err := range b.concurrently(clients, func(client int) error {
				random := rand.New(rand.NewPCG(uint64(client), 3))
				token := fmt.Sprintf("01J0000000000000000000%04d-node", client)
				for range 20 {
					some := shuffledSample(random.Int(), ids, 1+random.IntN(6))
					if err := b.anyShardCall(uid, random.IntN(8), some, token); err != nil {
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
				if shard.State == metastore.ShardClosed != shard.Position.IsEOF() {
					b.Errorf("shard %s is %s at %q", shard.ShardID, shard.State, shard.Position)
				}
			}
		}},
		{"shards that are opened while their source is deleted do not outlive it", func(b *bundle) {
			uid := b.ingestIndex("a")
			source := b.sourceOf(ingestSource)
			for _, err := range b.concurrently(clients, func(client int) error {
				for round := range 8 {
					var err error
					switch client % 4 {
					case 0:
						err = b.store.DeleteSource(b.ctx, uid, ingestSourceID)
					case 1:
						err = b.store.AddSource(b.ctx, uid, source)
					default:
						_, err = b.store.OpenShards(b.ctx, []metastore.OpenShardSubrequest{newOpenShard(uid, fmt.Sprint(client)), newOpenShard(uid, fmt.Sprint(client, round))})
					}
					if err != nil && !errors.Is(err, metastore.NotFound(metastore.SourceEntity(uid.IndexID, ingestSourceID))) && !errors.Is(err, metastore.ErrAlreadyExists) {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			if err := b.store.DeleteSource(b.ctx, uid, ingestSourceID); err != nil && !errors.Is(err, metastore.ErrNotFound) {
				b.Fatalf("delete the source: %v", err)
			}
			b.wantShards(b.shards(uid))
		}},
	}
}

// publishShard makes progress in one shard of the ingest source and fails the case if that fails.
func (b *bundle) publishShard(uid metastore.IndexUID, shardID, token string, from, to metastore.Position) {
	b.Helper()
	if err := b.tryShardProgress(uid, token, delta(ingestSourceID, step(shardID, from, to))); err != nil {
		b.Fatalf("publish to shard %s: %v", shardID, err)
	}
}

func (b *bundle) tryShardProgress(uid metastore.IndexUID, token string, delta *metastore.CheckpointDelta) error {
	return b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{IndexUID: uid, Delta: delta, PublishToken: metastore.Some(token)})
}

// anyShardCall makes one of eight calls about some shards of the ingest source, and returns an error that the other
// calls do not explain.
func (b *bundle) anyShardCall(uid metastore.IndexUID, which int, ids []string, token string) error {
	var err error
	switch which {
	case 0, 1:
		var subrequests []metastore.OpenShardSubrequest
		for _, id := range ids {
			subrequests = append(subrequests, newOpenShard(uid, id, withToken(token)))
		}
		_, err = b.store.OpenShards(b.ctx, subrequests)
	case 2:
		_, err = b.store.AcquireShards(b.ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: ingestSourceID, ShardIDs: ids, PublishToken: token})
	case 3, 4:
		progress := delta(ingestSourceID)
		for _, id := range ids {
			step(id, "", "~")(progress)
		}
		err = b.tryShardProgress(uid, token, progress)
	case 5:
		_, err = b.store.DeleteShards(b.ctx, metastore.DeleteShardsRequest{IndexUID: uid, SourceID: ingestSourceID, ShardIDs: ids, Force: len(ids)%2 == 0})
	case 6:
		err = b.store.PruneShards(b.ctx, metastore.PruneShardsRequest{IndexUID: uid, SourceID: ingestSourceID, MaxCount: metastore.Some[uint32](9)})
	case 7:
		_, err = b.store.ListShards(b.ctx, []metastore.ListShardsSubrequest{{IndexUID: uid, SourceID: ingestSourceID}})
	}
	for _, expected := range []error{metastore.ErrNotFound, metastore.ErrInvalidArgument, &metastore.Error{Kind: metastore.KindInvalidPublishToken}} {
		if errors.Is(err, expected) {
			return nil
		}
	}
	return err
}
