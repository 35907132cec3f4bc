package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"holdfast/metastore"
)

// mostShards bounds the shards that a client keeps in its index.
const mostShards = 20

func shardOperations() []operation {
	return []operation{
		{4, func(c *client, ctx context.Context) (bool, error) {
			if len(c.own.shards) >= mostShards {
				return false, nil
			}
			return true, c.openShard(ctx, c.own, c.newID())
		}},
		{2, (*client).openInBoth},
		{4, (*client).acquireShards},
		{4, (*client).publishShard},
		{2, (*client).endShard},
		{2, (*client).deleteShards},
		{2, (*client).deleteEndedShards},
		{1, (*client).pruneShards},
	}
}

// newToken makes a token that is greater than all before it.
func (c *client) newToken() string {
	c.made++
	return fmt.Sprintf("%09d-%s", c.made, c.name)
}

func (c *client) openShard(ctx context.Context, x *index, id string) error {
	token := c.newToken()
	x.shards[id] = shard{token: token}
	subrequest := metastore.OpenShardSubrequest{IndexUID: x.uid, SourceID: ingestSource, ShardID: id, IngesterID: "ingester", PublishToken: metastore.Some(token), DocMappingUID: docMappingOf(id)}
	_, err := c.must(ctx, "open shards", func(ctx context.Context, store metastore.Store) error {
		shards, err := store.OpenShards(ctx, []metastore.OpenShardSubrequest{subrequest})
		switch {
		case err != nil:
			return err
		case len(shards) != 1:
			return wrong("opened %v, want one shard", shards)
		}
		return x.shards[id].differs(x.uid, id, shards[0])
	})
	return err
}

// openInBoth opens a shard in the client's index and the one that it has in the shared index already, in one call.
func (c *client) openInBoth(ctx context.Context) (bool, error) {
	if len(c.own.shards) >= mostShards {
		return false, nil
	}
	id := c.newID()
	c.own.shards[id] = shard{}
	known := c.shared.shards[c.name]
	subrequests := []metastore.OpenShardSubrequest{
		{IndexUID: c.own.uid, SourceID: ingestSource, ShardID: id, IngesterID: "ingester", DocMappingUID: docMappingOf(id)},
		{IndexUID: c.shared.uid, SourceID: ingestSource, ShardID: c.name, IngesterID: "another"},
	}
	_, err := c.must(ctx, "open shards in two indexes", func(ctx context.Context, store metastore.Store) error {
		shards, err := store.OpenShards(ctx, subrequests)
		switch {
		case err != nil:
			return err
		case len(shards) != 2:
			return wrong("opened %v, want two shards", shards)
		}
		return errors.Join(c.own.shards[id].differs(c.own.uid, id, shards[0]), known.differs(c.shared.uid, c.name, shards[1]))
	})
	return true, err
}

func (c *client) acquireShards(ctx context.Context) (bool, error) {
	ids := c.pick(sortedIDs(c.own.shards), 1+c.random.IntN(2))
	if len(ids) == 0 {
		return false, nil
	}
	request := metastore.AcquireShardsRequest{IndexUID: c.own.uid, SourceID: ingestSource, ShardIDs: ids, PublishToken: c.newToken()}
	for _, id := range ids {
		s := c.own.shards[id]
		s.token = request.PublishToken
		c.own.shards[id] = s
	}
	_, err := c.must(ctx, "acquire shards", func(ctx context.Context, store metastore.Store) error {
		shards, err := store.AcquireShards(ctx, request)
		if err != nil {
			return err
		}
		var acquired []string
		for _, s := range shards {
			if err := c.own.shards[s.ShardID].differs(c.own.uid, s.ShardID, s); err != nil {
				return err
			}
			acquired = append(acquired, s.ShardID)
		}
		if want := slices.Sorted(slices.Values(ids)); !slices.Equal(acquired, want) {
			return wrong("acquired shards %v, want %v", acquired, want)
		}
		return nil
	})
	return true, err
}

func (c *client) publishShard(ctx context.Context) (bool, error) {
	return c.publishTo(ctx, false, c.some(metastore.Staged))
}

func (c *client) endShard(ctx context.Context) (bool, error) { return c.publishTo(ctx, true, nil) }

// publishTo publishes staged splits with progress in a shard, to its end or not.
func (c *client) publishTo(ctx context.Context, end bool, staged []string) (bool, error) {
	// Nobody may publish to a shard without a token, and nothing comes after the end.
	ids := c.pick(inState(c.own.shards, func(s shard) bool { return s.token != "" && !s.ended }), 1)
	if len(ids) == 0 {
		return false, nil
	}
	s := c.own.shards[ids[0]]
	delta := metastore.PartitionDelta{From: s.at()}
	s.position += 1 + c.random.IntN(5)
	s.ended = end
	delta.To = s.at()
	c.own.shards[ids[0]] = s
	c.own.move(metastore.Published, staged...)
	request := metastore.PublishSplitsRequest{
		IndexUID: c.own.uid, StagedSplitIDs: staged, PublishToken: metastore.Some(s.token),
		Delta: &metastore.CheckpointDelta{SourceID: ingestSource, Partitions: map[string]metastore.PartitionDelta{ids[0]: delta}},
	}
	_, err := c.must(ctx, "publish splits of a shard", func(ctx context.Context, store metastore.Store) error {
		return store.PublishSplits(ctx, request)
	})
	return true, err
}

func (c *client) deleteShards(ctx context.Context) (bool, error) {
	ids := c.pick(sortedIDs(c.own.shards), 1+c.random.IntN(2))
	return c.removeShards(ctx, ids, nil, true)
}

// deleteEndedShards deletes shards that are at their end together with others, which must stay.
func (c *client) deleteEndedShards(ctx context.Context) (bool, error) {
	ended := c.pick(inState(c.own.shards, func(s shard) bool { return s.ended }), 1+c.random.IntN(2))
	others := c.pick(inState(c.own.shards, func(s shard) bool { return !s.ended }), c.random.IntN(3))
	return c.removeShards(ctx, ended, others, false)
}

// removeShards deletes shards, none of which is no call, and names others that must be refused.
func (c *client) removeShards(ctx context.Context, ids, refused []string, force bool) (bool, error) {
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		delete(c.own.shards, id)
	}
	request := metastore.DeleteShardsRequest{IndexUID: c.own.uid, SourceID: ingestSource, ShardIDs: slices.Concat(refused, ids), Force: force}
	_, err := c.must(ctx, "delete shards", func(ctx context.Context, store metastore.Store) error {
		result, err := store.DeleteShards(ctx, request)
		if err == nil && (!slices.Equal(result.Deleted, ids) || !slices.Equal(result.Refused, refused)) {
			return wrong("deleted shards %v and refused %v, want %v and %v", result.Deleted, result.Refused, ids, refused)
		}
		return err
	})
	return true, err
}

// pruneShards removes all shards: of some, those that stay would depend on the clock.
func (c *client) pruneShards(ctx context.Context) (bool, error) {
	if len(c.own.shards) == 0 {
		return false, nil
	}
	clear(c.own.shards)
	request := metastore.PruneShardsRequest{IndexUID: c.own.uid, SourceID: ingestSource, MaxCount: metastore.Some(uint32(0))}
	_, err := c.must(ctx, "prune shards", func(ctx context.Context, store metastore.Store) error {
		return store.PruneShards(ctx, request)
	})
	return true, err
}
