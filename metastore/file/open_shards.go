package file

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// OpenShards implements metastore.ShardStore. The shards of one index are opened in one commit. A call with a record
// leaves one in each index, and a repetition opens what is missing.
func (s *Store) OpenShards(ctx context.Context, subrequests []metastore.OpenShardSubrequest) ([]metastore.Shard, error) {
	if err := metastore.ValidateOpenShards(subrequests); err != nil {
		return nil, err
	}
	indexes := groupByIndex(subrequests)
	if len(indexes) > 1 {
		// With one index, the commit refuses all or nothing by itself.
		if err := s.checkSources(ctx, subrequests, indexes); err != nil {
			return nil, err
		}
	}
	shards := make([]metastore.Shard, len(subrequests))
	var group errgroup.Group
	group.SetLimit(s.env.options.MaxConcurrentChecks)
	var repeated atomic.Pointer[idempotency.Replayed]
	for _, positions := range indexes {
		group.Go(func() error {
			err := s.openShards(ctx, subrequests, positions, shards)
			var replayed *idempotency.Replayed
			if errors.As(err, &replayed) {
				repeated.Store(replayed)
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if replayed := repeated.Load(); replayed != nil {
		return nil, replayed
	}
	return shards, nil
}

// groupByIndex returns the positions of the subrequests of each index, by the first position of each.
func groupByIndex(subrequests []metastore.OpenShardSubrequest) (indexes [][]int) {
	at := map[metastore.IndexUID]int{}
	for i := range subrequests {
		uid := subrequests[i].IndexUID
		group, known := at[uid]
		if !known {
			group = len(indexes)
			at[uid] = group
			indexes = append(indexes, nil)
		}
		indexes[group] = append(indexes[group], i)
	}
	return indexes
}

// checkSources returns why the first subrequest fails whose index or source does not exist. Indexes in which the call was
// executed may be gone since.
func (s *Store) checkSources(ctx context.Context, subrequests []metastore.OpenShardSubrequest, indexes [][]int) error {
	ids := make([]string, len(indexes))
	for i, positions := range indexes {
		ids[i] = subrequests[positions[0]].IndexUID.IndexID
	}
	states, err := s.statesOf(ctx, ids)
	if err != nil {
		return err
	}
	byUID := make(map[metastore.IndexUID]*indexState, len(indexes))
	for i, positions := range indexes {
		executed, err := s.executedIn(states[i])
		if err != nil {
			return err
		}
		if !executed {
			byUID[subrequests[positions[0]].IndexUID] = states[i]
		}
	}
	for i := range subrequests {
		state, unexecuted := byUID[subrequests[i].IndexUID]
		if !unexecuted {
			continue
		}
		index, err := state.current(subrequests[i].IndexUID)
		if err != nil {
			return err
		}
		if _, err := index.Source(subrequests[i].SourceID); err != nil {
			return err
		}
	}
	return nil
}

// executedIn reports whether the call was executed in an index, or why its key is refused there.
func (s *Store) executedIn(state *indexState) (bool, error) {
	if s.record == nil {
		return false, nil
	}
	err := state.records.refuseExecuted(s.record)
	var replayed *idempotency.Replayed
	if errors.As(err, &replayed) {
		return true, nil
	}
	return false, err
}

// openShards opens the shards of one index and puts them where their subrequests are.
func (s *Store) openShards(ctx context.Context, subrequests []metastore.OpenShardSubrequest, positions []int, into []metastore.Shard) error {
	bytes := 0
	for _, i := range positions {
		r := &subrequests[i]
		bytes += 250 + len(r.SourceID) + len(r.ShardID) + len(r.IngesterID) + len(r.PublishToken.Value)
	}
	return s.change(ctx, subrequests[positions[0]].IndexUID, bytes, func(state *indexState) ([]op, error) {
		now := s.env.clock().Unix()
		var absent openShardsOp
		opened := newShardSet()
		for _, i := range positions {
			r := &subrequests[i]
			if _, err := state.index.Source(r.SourceID); err != nil {
				return nil, err
			}
			shard := state.shards.get(r.SourceID, r.ShardID)
			if shard == nil {
				shard = opened.get(r.SourceID, r.ShardID)
			}
			if shard == nil {
				created := r.Shard(now)
				shard = &created
				opened.put(shard)
				absent = append(absent, shard)
			}
			into[i] = *shard
		}
		if len(absent) == 0 {
			return nil, nil
		}
		return []op{absent}, nil
	})
}

// AcquireShards implements metastore.ShardStore.
func (s *Store) AcquireShards(ctx context.Context, request metastore.AcquireShardsRequest) ([]metastore.Shard, error) {
	if err := request.Validate(); err != nil {
		return nil, err
	}
	ids := sortedUnique(request.ShardIDs)
	var acquired []metastore.Shard
	err := s.changeShards(ctx, request.IndexUID, idBytes(ids)+len(request.PublishToken), func(state *indexState) []op {
		acquired = acquired[:0]
		change := acquireShardsOp{sourceID: request.SourceID, token: request.PublishToken}
		token := metastore.Some(request.PublishToken)
		for _, id := range ids {
			shard := state.shards.get(request.SourceID, id)
			if shard == nil || !shard.MayAcquire(request.PublishToken) {
				continue
			}
			if shard.PublishToken != token {
				change.shardIDs = append(change.shardIDs, id)
			}
			acquired = append(acquired, *shard)
			acquired[len(acquired)-1].PublishToken = token
		}
		if len(change.shardIDs) == 0 {
			return nil
		}
		return []op{change}
	})
	if err != nil {
		return nil, err
	}
	return acquired, nil
}
