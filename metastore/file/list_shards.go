package file

import (
	"context"

	"holdfast/metastore"
)

// ListShards implements metastore.ShardStore.
func (s *Store) ListShards(ctx context.Context, subrequests []metastore.ListShardsSubrequest) ([][]metastore.Shard, error) {
	var ids []string
	position := map[string]int{}
	for i := range subrequests {
		id := subrequests[i].IndexUID.IndexID
		if _, known := position[id]; !known {
			position[id] = len(ids)
			ids = append(ids, id)
		}
	}
	states, err := s.statesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	lists := make([][]metastore.Shard, len(subrequests))
	for i := range subrequests {
		r := &subrequests[i]
		state := states[position[r.IndexUID.IndexID]]
		if _, err := state.current(r.IndexUID); err != nil {
			continue // no such index, so no shards
		}
		state.shards.ofSource(r.SourceID, func(shard *metastore.Shard) bool {
			if r.State == metastore.ShardUnspecified || r.State == shard.State {
				lists[i] = append(lists[i], *shard)
			}
			return true
		})
	}
	return lists, nil
}
