package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"holdfast/metastore"
)

// openShardKey is the primary key of table shards. Texts that PostgreSQL cannot hold are empty in it: no index UID and no
// source id is.
type openShardKey struct{ indexUID, sourceID, shardID string }

func (k openShardKey) compare(other openShardKey) int {
	return cmp.Or(
		strings.Compare(k.indexUID, other.indexUID),
		strings.Compare(k.sourceID, other.sourceID),
		strings.Compare(k.shardID, other.shardID),
	)
}

// source is the key without the shard.
func (k openShardKey) source() openShardKey {
	return openShardKey{indexUID: k.indexUID, sourceID: k.sourceID}
}

// OpenShards implements metastore.ShardStore. All shards are opened in one transaction.
func (s *Store) OpenShards(ctx context.Context, subrequests []metastore.OpenShardSubrequest) ([]metastore.Shard, error) {
	const operation = "opening shards"
	if err := s.refuseReadOnly(operation); err != nil {
		return nil, err
	}
	if err := metastore.ValidateOpenShards(subrequests); err != nil || len(subrequests) == 0 {
		return nil, err
	}
	keys := make([]openShardKey, len(subrequests))
	for i := range subrequests {
		r := &subrequests[i]
		keys[i] = openShardKey{emptyUnlessStorable(r.IndexUID.String()), emptyUnlessStorable(r.SourceID), r.ShardID}
	}
	lockArgs, openArgs, findArgs := openShardsArguments(subrequests, keys)
	indexExists := map[openShardKey]bool{} // of each index and source that do not both exist
	shards := make([]metastore.Shard, len(subrequests))
	err := s.mutateIf(ctx, operation, "", func() []query {
		clear(indexExists)
		return []query{
			{sql: lockIndexesSQL, args: lockArgs},
			{sql: openShardsSQL, args: openArgs, row: func(row columns) error {
				indexExists[openShardKey{indexUID: row.text(0), sourceID: row.text(1)}] = row.bool(2)
				return nil
			}},
			{sql: findShardsSQL, args: findArgs, row: func(row columns) (err error) {
				i := row.int8(0) - 1
				shards[i], err = row.shard(subrequests[i].IndexUID, subrequests[i].SourceID)
				return err
			}},
		}
	}, func() error {
		for i, key := range keys {
			if exists, missing := indexExists[key.source()]; missing {
				return openShardsRefusal(&subrequests[i], exists)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return shards, nil
}

func openShardsRefusal(r *metastore.OpenShardSubrequest, indexExists bool) error {
	if !indexExists {
		return metastore.NotFound(metastore.IndexEntity(r.IndexUID.IndexID))
	}
	return metastore.NotFound(metastore.SourceEntity(r.IndexUID.IndexID, r.SourceID))
}

// openShardsArguments returns the arguments of the three statements that open shards.
func openShardsArguments(subrequests []metastore.OpenShardSubrequest, keys []openShardKey) (lock, open, find [][]byte) {
	// Of a shard that is asked for twice, the first subrequest counts.
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return keys[a].compare(keys[b]) })
	order = slices.CompactFunc(order, func(a, b int) bool { return keys[a] == keys[b] })
	sources := slices.CompactFunc(slices.Clone(order), func(a, b int) bool { return keys[a].source() == keys[b].source() })
	indexes := slices.CompactFunc(slices.Clone(sources), func(a, b int) bool { return keys[a].indexUID == keys[b].indexUID })

	array := func(of []int, text func(key *openShardKey) string) []byte {
		return textArrayOf(len(of), func(i int) string { return text(&keys[of[i]]) })
	}
	indexUID := func(key *openShardKey) string { return key.indexUID }
	sourceID := func(key *openShardKey) string { return key.sourceID }
	shardID := func(key *openShardKey) string { return key.shardID }
	lock = [][]byte{array(indexes, indexUID)}
	open = [][]byte{
		array(sources, indexUID),
		array(sources, sourceID),
		array(order, indexUID),
		array(order, sourceID),
		array(order, shardID),
		textArrayOf(len(order), func(i int) string { return subrequests[order[i]].IngesterID }),
		optionalTextArrayOf(len(order), func(i int) (string, bool) {
			token := subrequests[order[i]].PublishToken
			return token.Value, token.Set
		}),
		textArrayOf(len(order), func(i int) string { return subrequests[order[i]].DocMappingUID.String() }),
	}
	all := make([]int, len(keys))
	for i := range all {
		all[i] = i
	}
	find = [][]byte{array(all, indexUID), array(all, sourceID), array(all, shardID)}
	return lock, open, find
}
