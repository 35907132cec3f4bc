package postgres

import (
	"context"

	"holdfast/metastore"
)

// ListShards implements metastore.ShardStore. It does not look at the indexes, and runs one query.
func (s *Store) ListShards(ctx context.Context, subrequests []metastore.ListShardsSubrequest) ([][]metastore.Shard, error) {
	if len(subrequests) == 0 {
		return nil, nil
	}
	uids := make([]string, len(subrequests))
	for i := range subrequests {
		uids[i] = emptyUnlessStorable(subrequests[i].IndexUID.String())
	}
	args := [][]byte{
		textArrayArgument(uids),
		textArrayOf(len(subrequests), func(i int) string { return emptyUnlessStorable(subrequests[i].SourceID) }),
		optionalTextArrayOf(len(subrequests), func(i int) (string, bool) {
			state := subrequests[i].State
			return state.String(), state != metastore.ShardUnspecified
		}),
	}
	var lists [][]metastore.Shard
	err := s.read(ctx, "listing shards", func() []query {
		lists = make([][]metastore.Shard, len(subrequests))
		return []query{{sql: listShardsSQL, args: args, row: func(row columns) error {
			i := row.int8(0) - 1
			shard, err := row.shard(subrequests[i].IndexUID, subrequests[i].SourceID)
			lists[i] = append(lists[i], shard)
			return err
		}}}
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}
