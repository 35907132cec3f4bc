package postgres

import (
	"context"

	"holdfast/metastore"
)

// AcquireShards implements metastore.ShardStore. It does not look at the index.
func (s *Store) AcquireShards(ctx context.Context, request metastore.AcquireShardsRequest) ([]metastore.Shard, error) {
	const operation = "acquiring shards"
	if err := request.Validate(); err != nil {
		return nil, err
	}
	args, any := shardsArguments(request.IndexUID, request.SourceID, request.ShardIDs)
	if !any {
		return nil, s.refuseReadOnly(operation)
	}
	args = append(args, textArgument(request.PublishToken))
	var acquired []metastore.Shard
	err := s.mutate(ctx, operation, "", func() []query {
		acquired = nil
		return []query{{sql: acquireShardsSQL, args: args, row: func(row columns) error {
			shard, err := row.shard(request.IndexUID, request.SourceID)
			acquired = append(acquired, shard)
			return err
		}}}
	})
	if err != nil {
		return nil, err
	}
	return acquired, nil
}

// shardsArguments are the index UID, the source id and the shard ids. any is false if there can be no such shard.
func shardsArguments(indexUID metastore.IndexUID, sourceID string, shardIDs []string) (args [][]byte, any bool) {
	uid, ids := indexUID.String(), storableTexts(shardIDs)
	if len(ids) == 0 || !isStorable(uid) || !isStorable(sourceID) {
		return nil, false
	}
	return [][]byte{textArgument(uid), textArgument(sourceID), textArrayArgument(ids)}, true
}
