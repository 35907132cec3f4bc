package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"holdfast/metastore"
)

func (m *model) OpenShards(_ context.Context, subrequests []metastore.OpenShardSubrequest) ([]metastore.Shard, error) {
	if err := metastore.ValidateOpenShards(subrequests); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range subrequests {
		index, err := m.find(subrequests[i].IndexUID)
		if err == nil {
			_, err = index.metadata.Source(subrequests[i].SourceID)
		}
		if err != nil {
			return nil, err
		}
	}
	shards := make([]metastore.Shard, len(subrequests))
	for i := range subrequests {
		index := m.indexes[subrequests[i].IndexUID.IndexID]
		key := modelShardKey{subrequests[i].SourceID, subrequests[i].ShardID}
		if index.shards[key] == nil {
			shard := subrequests[i].Shard(time.Now().Unix())
			index.shards[key] = &shard
		}
		shards[i] = *index.shards[key]
	}
	return shards, nil
}

// shardsOf returns the shards of a source that match, by shard id; none if the index does not exist.
func (m *model) shardsOf(uid metastore.IndexUID, sourceID string, matches func(*metastore.Shard) bool) []*metastore.Shard {
	index, err := m.find(uid)
	if err != nil {
		return nil
	}
	var shards []*metastore.Shard
	for _, shard := range index.shards {
		if shard.SourceID == sourceID && matches(shard) {
			shards = append(shards, shard)
		}
	}
	slices.SortFunc(shards, func(a, b *metastore.Shard) int { return cmp.Compare(a.ShardID, b.ShardID) })
	return shards
}

func (m *model) AcquireShards(_ context.Context, request metastore.AcquireShardsRequest) ([]metastore.Shard, error) {
	if err := request.Validate(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var acquired []metastore.Shard
	for _, shard := range m.shardsOf(request.IndexUID, request.SourceID, func(shard *metastore.Shard) bool {
		return slices.Contains(request.ShardIDs, shard.ShardID) && shard.MayAcquire(request.PublishToken)
	}) {
		shard.PublishToken = metastore.Some(request.PublishToken)
		acquired = append(acquired, *shard)
	}
	return acquired, nil
}

func (m *model) DeleteShards(_ context.Context, request metastore.DeleteShardsRequest) (metastore.DeleteShardsResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	refused := map[string]bool{}
	for _, shard := range m.shardsOf(request.IndexUID, request.SourceID, func(shard *metastore.Shard) bool {
		return slices.Contains(request.ShardIDs, shard.ShardID)
	}) {
		if request.Force || shard.Position.IsEOF() {
			m.removeShard(shard)
		} else {
			refused[shard.ShardID] = true
		}
	}
	return request.Result(func(id string) bool { return refused[id] }), nil
}

func (m *model) removeShard(shard *metastore.Shard) {
	delete(m.indexes[shard.IndexUID.IndexID].shards, modelShardKey{shard.SourceID, shard.ShardID})
}

func (m *model) PruneShards(_ context.Context, request metastore.PruneShardsRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	shards := m.shardsOf(request.IndexUID, request.SourceID, func(*metastore.Shard) bool { return true })
	for _, shard := range request.Pruned(shards, time.Now().Unix()) {
		m.removeShard(shard)
	}
	return nil
}

func (m *model) ListShards(_ context.Context, subrequests []metastore.ListShardsSubrequest) ([][]metastore.Shard, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	lists := make([][]metastore.Shard, len(subrequests))
	for i, r := range subrequests {
		for _, shard := range m.shardsOf(r.IndexUID, r.SourceID, func(shard *metastore.Shard) bool {
			return r.State == metastore.ShardUnspecified || r.State == shard.State
		}) {
			lists[i] = append(lists[i], *shard)
		}
	}
	return lists, nil
}
