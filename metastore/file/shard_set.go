package file

import (
	"cmp"

	"github.com/tidwall/btree"

	"holdfast/metastore"
)

// shardSet holds the shards of one index, ordered by the bytes of source id and shard id. It is copied
// and shared as a splitSet is: a copy costs the same whatever the size, and shards in it are never
// changed, only replaced.
type shardSet struct {
	tree *btree.BTreeG[*metastore.Shard]
}

func newShardSet() shardSet {
	less := func(a, b *metastore.Shard) bool {
		return cmp.Or(cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.ShardID, b.ShardID)) < 0
	}
	return shardSet{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// copy must not run at the same time as another copy of the same set.
func (s *shardSet) copy() shardSet { return shardSet{tree: s.tree.Copy()} }

// get returns nil if there is no such shard.
func (s *shardSet) get(sourceID, shardID string) *metastore.Shard {
	shard, _ := s.tree.Get(&metastore.Shard{SourceID: sourceID, ShardID: shardID})
	return shard
}

func (s *shardSet) put(shard *metastore.Shard) { s.tree.Set(shard) }

func (s *shardSet) remove(shard *metastore.Shard) { s.tree.Delete(shard) }

func (s *shardSet) len() int { return s.tree.Len() }

// ascend visits all shards in order until visit returns false.
func (s *shardSet) ascend(visit func(*metastore.Shard) bool) { s.tree.Scan(visit) }

// ofSource visits the shards of a source by ascending shard id until visit returns false.
func (s *shardSet) ofSource(sourceID string, visit func(*metastore.Shard) bool) {
	s.tree.Ascend(&metastore.Shard{SourceID: sourceID}, func(shard *metastore.Shard) bool {
		return shard.SourceID == sourceID && visit(shard)
	})
}

// ids returns the ids of the shards of a source, in ascending order.
func (s *shardSet) ids(sourceID string) (ids []string) {
	s.ofSource(sourceID, func(shard *metastore.Shard) bool {
		ids = append(ids, shard.ShardID)
		return true
	})
	return ids
}
