package postgres

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// DeleteShards implements metastore.ShardStore. It does not look at the index.
func (s *Store) DeleteShards(ctx context.Context, request metastore.DeleteShardsRequest) (metastore.DeleteShardsResult, error) {
	const operation = "deleting shards"
	refused := map[string]bool{}
	err := s.refuseReadOnly(operation)
	if args, any := shardsArguments(request.IndexUID, request.SourceID, request.ShardIDs); any {
		args = append(args, boolArgument(request.Force))
		err = s.mutate(ctx, operation, "", func() []query {
			clear(refused)
			return []query{{sql: deleteShardsSQL, args: args, row: func(row columns) error {
				refused[row.text(0)] = true
				return nil
			}}}
		})
	}
	if err != nil {
		return metastore.DeleteShardsResult{}, err
	}
	return request.Result(func(id string) bool { return refused[id] }), nil
}

// pruneBatch is how many shards are removed in one transaction.
const pruneBatch = 10_000

// PruneShards implements metastore.ShardStore. It does not look at the index. Many shards are removed in several
// transactions, so a call that fails may have removed some.
func (s *Store) PruneShards(ctx context.Context, request metastore.PruneShardsRequest) error {
	return s.pruneShards(ctx, request, pruneBatch)
}

func (s *Store) pruneShards(ctx context.Context, request metastore.PruneShardsRequest, batch int64) error {
	const operation = "pruning shards"
	uid := request.IndexUID.String()
	if !request.MaxAge.Set && !request.MaxCount.Set || !isStorable(uid) || !isStorable(request.SourceID) {
		return s.refuseReadOnly(operation)
	}
	args := [][]byte{
		textArgument(uid), textArgument(request.SourceID), optionalUint32(request.MaxAge), optionalUint32(request.MaxCount), int8Argument(batch),
	}
	var found int64
	prune := func() []query {
		return []query{{sql: pruneShardsSQL, args: args, row: func(row columns) error {
			found = row.int8(0)
			return nil
		}}}
	}
	for {
		err := s.changeBatch(ctx, operation, prune, func() bool { return found < batch })
		if err != nil || found < batch {
			return err
		}
	}
}

// changeBatch runs one of the transactions of a call. Only the last one keeps the record of the call, if it has one.
func (s *Store) changeBatch(ctx context.Context, operation string, build func() []query, isLast func() bool) error {
	if s.record == nil {
		return s.mutate(ctx, operation, "", build)
	}
	return s.changeLocked(ctx, operation, "", build, func() (decision, error) {
		if isLast() {
			return decision{}, nil
		}
		return decision{writes: removeRecords([]*idempotency.Record{s.record})}, nil
	})
}

// optionalUint32 is a bigint, NULL for an absent value.
func optionalUint32(value metastore.Optional[uint32]) []byte {
	if !value.Set {
		return nil
	}
	return int8Argument(int64(value.Value))
}
