package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"

	"holdfast/metastore"
)

// shardStorm has all calls that lock shards.
func shardStorm() stormGroup {
	// Any of these tokens may acquire.
	token := func(random *rand.Rand) string { return fmt.Sprintf("/%d", random.IntN(3)) }

	open := stormCall{name: "open", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		ids, token := some(s.shards, random), metastore.Some(token(random))
		subrequests := make([]metastore.OpenShardSubrequest, len(ids))
		for i, id := range ids {
			subrequests[i] = openShard(uid, id)
			subrequests[i].PublishToken = token
		}
		_, err := s.client().OpenShards(ctx, subrequests)
		return err
	}}
	acquire := stormCall{name: "acquire", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		_, err := s.client().AcquireShards(ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: "source", ShardIDs: some(s.shards, random), PublishToken: token(random)})
		return err
	}}
	publication := func(s *storm, uid metastore.IndexUID, random *rand.Rand) metastore.PublishSplitsRequest {
		delta := &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{}}
		ids := some(s.shards, random)
		for _, id := range ids[:min(2, len(ids))] {
			delta.Partitions[id] = metastore.PartitionDelta{From: metastore.Beginning, To: "1"}
		}
		return metastore.PublishSplitsRequest{IndexUID: uid, Delta: delta, PublishToken: metastore.Some(token(random))}
	}
	publish := stormCall{name: "publish", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().PublishSplits(ctx, publication(s, uid, random))
	}}
	publishParquet := stormCall{name: "publish Parquet splits", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().PublishParquetSplits(ctx, metastore.MetricsSplits, publication(s, uid, random))
	}}
	remove := stormCall{name: "delete", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		_, err := s.client().DeleteShards(ctx, metastore.DeleteShardsRequest{IndexUID: uid, SourceID: "source", ShardIDs: some(s.shards, random), Force: true})
		return err
	}}
	prune := stormCall{name: "prune", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().PruneShards(ctx, metastore.PruneShardsRequest{IndexUID: uid, SourceID: "source", MaxCount: metastore.Some(random.Uint32N(uint32(len(s.shards))))})
	}}
	// It is rare, so that the other call finds shards.
	deleteSource := stormCall{name: "delete source", rare: true, run: func(ctx context.Context, s *storm, uid metastore.IndexUID, _ *rand.Rand) error {
		if err := s.client().DeleteSource(ctx, uid, "source"); err != nil {
			return err
		}
		return s.client().AddSource(ctx, uid, s.source)
	}}
	return stormGroup{
		name:   "shards",
		calls:  []stormCall{open, acquire, publish, publishParquet, remove, prune, deleteSource, deleteAndCreateIndex(open)},
		refill: []stormCall{open},
	}
}
