package chaos

import (
	"context"
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
		{2, (*client).deleteShards},
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
	subrequest := metastore.OpenShardSubrequest{IndexUID: x.uid, SourceID: ingestSource, ShardID: id, IngesterID: "ingester", PublishToken: metastore.Some(token)}
	_, err := c.must(ctx, "open shards", func(ctx context.Context, store metastore.Store) error {
		shards, err := store.OpenShards(ctx, []metastore.OpenShardSubrequest{subrequest})
		if err == nil && (len(shards) != 1 || shards[0].ShardID != id || shards[0].PublishToken.Value != token) {
			return wrong("opened %v, want shard %s with token %s", shards, id, token)
		}
		return err
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
		{IndexUID: c.own.uid, SourceID: ingestSource, ShardID: id, IngesterID: "ingester"},
		{IndexUID: c.shared.uid, SourceID: ingestSource, ShardID: c.name, IngesterID: "another"},
	}
	_, err := c.must(ctx, "open shards in two indexes", func(ctx context.Context, store metastore.Store) error {
		shards, err := store.OpenShards(ctx, subrequests)
		if err == nil && (len(shards) != 2 || shards[0].ShardID != id || shards[0].PublishToken.Set || shards[1].ShardID != c.name || shards[1].PublishToken.Value != known.token) {
			return wrong("opened %v, want shard %s without a token and shard %s with token %s", shards, id, c.name, known.token)
		}
		return err
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
		c.own.shards[id] = shard{request.PublishToken, c.own.shards[id].position}
	}
	_, err := c.must(ctx, "acquire shards", func(ctx context.Context, store metastore.Store) error {
		shards, err := store.AcquireShards(ctx, request)
		if err != nil {
			return err
		}
		var acquired []string
		for _, s := range shards {
			want := c.own.shards[s.ShardID]
			if s.PublishToken.Value != want.token || s.Position != position(want.position) {
				return wrong("acquired shard %s with token %q at %q, want %q at %q", s.ShardID, s.PublishToken.Value, s.Position, want.token, position(want.position))
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
	ids := c.pick(sortedIDs(c.own.shards), 1)
	if len(ids) == 0 {
		return false, nil
	}
	s := c.own.shards[ids[0]]
	if s.token == "" {
		return false, nil // nobody may publish to it
	}
	from := s.position
	s.position += 1 + c.random.IntN(5)
	c.own.shards[ids[0]] = s
	request := metastore.PublishSplitsRequest{
		IndexUID: c.own.uid, StagedSplitIDs: c.some(metastore.Staged), PublishToken: metastore.Some(s.token),
		Delta: &metastore.CheckpointDelta{SourceID: ingestSource, Partitions: map[string]metastore.PartitionDelta{ids[0]: {From: position(from), To: position(s.position)}}},
	}
	for _, id := range request.StagedSplitIDs {
		published := c.own.splits[id]
		published.state = metastore.Published
		c.own.splits[id] = published
	}
	_, err := c.must(ctx, "publish splits of a shard", func(ctx context.Context, store metastore.Store) error {
		return store.PublishSplits(ctx, request)
	})
	return true, err
}

func (c *client) deleteShards(ctx context.Context) (bool, error) {
	ids := c.pick(sortedIDs(c.own.shards), 1+c.random.IntN(2))
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		delete(c.own.shards, id)
	}
	request := metastore.DeleteShardsRequest{IndexUID: c.own.uid, SourceID: ingestSource, ShardIDs: ids, Force: true}
	_, err := c.must(ctx, "delete shards", func(ctx context.Context, store metastore.Store) error {
		result, err := store.DeleteShards(ctx, request)
		if err == nil && (!slices.Equal(result.Deleted, ids) || len(result.Refused) > 0) {
			return wrong("deleted shards %v and refused %v, want %v deleted", result.Deleted, result.Refused, ids)
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
