package idempotency

import (
	"context"

	"holdfast/metastore"
)

// OpenShards implements metastore.ShardStore. A repetition returns the zero value for a shard that is gone.
func (c *Call) OpenShards(ctx context.Context, subrequests []metastore.OpenShardSubrequest) ([]metastore.Shard, error) {
	shards, err := c.keyed.OpenShards(ctx, subrequests)
	record, err := c.again(err)
	if record == nil {
		return shards, err
	}
	sources := make([]metastore.ListShardsSubrequest, len(subrequests))
	for i, r := range subrequests {
		sources[i] = metastore.ListShardsSubrequest{IndexUID: r.IndexUID, SourceID: r.SourceID}
	}
	lists, err := c.Store.ListShards(ctx, sources)
	if err != nil {
		return nil, err
	}
	shards = make([]metastore.Shard, len(subrequests))
	found := 0
	for i, r := range subrequests {
		if shard, ok := shardOf(lists[i], r.ShardID); ok {
			shards[i] = shard
			found++
		}
	}
	c.gone = found < len(shards)
	if found == 0 && len(shards) > 0 {
		return nil, resultGone("what it opened")
	}
	return shards, nil
}

// AcquireShards implements metastore.ShardStore. A repetition returns the shards that the token owns now.
func (c *Call) AcquireShards(ctx context.Context, request metastore.AcquireShardsRequest) ([]metastore.Shard, error) {
	shards, err := c.keyed.AcquireShards(ctx, request)
	record, err := c.again(err)
	if record == nil {
		return shards, err
	}
	current, err := c.shards(ctx, request.IndexUID, request.SourceID)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(request.ShardIDs))
	for _, id := range request.ShardIDs {
		wanted[id] = true
	}
	var owned []metastore.Shard
	for _, shard := range current {
		if wanted[shard.ShardID] && shard.PublishToken == metastore.Some(request.PublishToken) {
			owned = append(owned, shard)
		}
	}
	return owned, nil
}

// DeleteShards implements metastore.ShardStore. A repetition says of each shard whether it exists now; a
// forced one answers that all are deleted, as the first did.
func (c *Call) DeleteShards(ctx context.Context, request metastore.DeleteShardsRequest) (metastore.DeleteShardsResult, error) {
	result, err := c.keyed.DeleteShards(ctx, request)
	record, err := c.again(err)
	if record == nil {
		return result, err
	}
	if request.Force {
		return request.Result(func(string) bool { return false }), nil
	}
	current, err := c.shards(ctx, request.IndexUID, request.SourceID)
	if err != nil {
		return metastore.DeleteShardsResult{}, err
	}
	return request.Result(func(id string) bool {
		_, exists := shardOf(current, id)
		return exists
	}), nil
}

// PruneShards implements metastore.ShardStore.
func (c *Call) PruneShards(ctx context.Context, request metastore.PruneShardsRequest) error {
	return c.silent(c.keyed.PruneShards(ctx, request))
}

func (c *Call) shards(ctx context.Context, uid metastore.IndexUID, sourceID string) ([]metastore.Shard, error) {
	lists, err := c.Store.ListShards(ctx, []metastore.ListShardsSubrequest{{IndexUID: uid, SourceID: sourceID}})
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

func shardOf(shards []metastore.Shard, id string) (metastore.Shard, bool) {
	for _, shard := range shards {
		if shard.ShardID == id {
			return shard, true
		}
	}
	return metastore.Shard{}, false
}
