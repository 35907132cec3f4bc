package file

import (
	"context"
	"errors"
	"slices"

	"holdfast/metastore"
)

// DeleteShards implements metastore.ShardStore.
func (s *Store) DeleteShards(ctx context.Context, request metastore.DeleteShardsRequest) (metastore.DeleteShardsResult, error) {
	ids := sortedUnique(request.ShardIDs)
	refused := map[string]bool{}
	err := s.changeShards(ctx, request.IndexUID, idBytes(ids), func(state *indexState) []op {
		clear(refused)
		change := deleteShardsOp{sourceID: request.SourceID}
		for _, id := range ids {
			switch shard := state.shards.get(request.SourceID, id); {
			case shard == nil:
			case request.Force || shard.Position.IsEOF():
				change.shardIDs = append(change.shardIDs, id)
			default:
				refused[id] = true
			}
		}
		return change.ops()
	})
	if err != nil {
		return metastore.DeleteShardsResult{}, err
	}
	return request.Result(func(id string) bool { return refused[id] }), nil
}

// PruneShards implements metastore.ShardStore.
func (s *Store) PruneShards(ctx context.Context, request metastore.PruneShardsRequest) error {
	if !request.MaxAge.Set && !request.MaxCount.Set {
		return nil
	}
	return s.changeShards(ctx, request.IndexUID, 4096, func(state *indexState) []op {
		var shards []*metastore.Shard
		state.shards.ofSource(request.SourceID, func(shard *metastore.Shard) bool {
			shards = append(shards, shard)
			return true
		})
		change := deleteShardsOp{sourceID: request.SourceID}
		for _, shard := range request.Pruned(shards, s.env.clock().Unix()) {
			change.shardIDs = append(change.shardIDs, shard.ShardID)
		}
		return change.ops()
	})
}

// ops returns the operation, none if it changes nothing.
func (o deleteShardsOp) ops() []op {
	if len(o.shardIDs) == 0 {
		return nil
	}
	return []op{o}
}

// changeShards has a change of the shards of an index committed. An index that does not exist has none, and
// decide is not called.
func (s *Store) changeShards(ctx context.Context, uid metastore.IndexUID, bytes int, decide func(*indexState) []op) error {
	err := s.change(ctx, uid, bytes, func(state *indexState) ([]op, error) { return decide(state), nil })
	if errors.Is(err, metastore.NotFound(metastore.IndexEntity(uid.IndexID))) {
		return nil
	}
	return err
}

func sortedUnique(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}
