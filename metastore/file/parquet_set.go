package file

import (
	"github.com/tidwall/btree"

	"holdfast/metastore"
)

// parquetSet holds the Parquet splits of one kind of one index, ordered by the bytes of their ids. It
// is copied and shared as a splitSet is. Splits in it are never changed, only replaced.
type parquetSet struct {
	tree *btree.BTreeG[*metastore.ParquetSplit]
}

func newParquetSet() parquetSet {
	less := func(a, b *metastore.ParquetSplit) bool { return a.Metadata.SplitID < b.Metadata.SplitID }
	return parquetSet{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

func (s *parquetSet) copy() parquetSet { return parquetSet{tree: s.tree.Copy()} }

// get returns nil if there is no such split.
func (s *parquetSet) get(id string) *metastore.ParquetSplit {
	split, _ := s.tree.Get(parquetKey(id))
	return split
}

func (s *parquetSet) put(split *metastore.ParquetSplit) { s.tree.Set(split) }

func (s *parquetSet) remove(id string) { s.tree.Delete(parquetKey(id)) }

func (s *parquetSet) len() int { return s.tree.Len() }

// ascend visits the splits from the given id on, in order, until visit returns false.
func (s *parquetSet) ascend(from string, visit func(*metastore.ParquetSplit) bool) {
	if from == "" {
		s.tree.Scan(visit)
		return
	}
	s.tree.Ascend(parquetKey(from), visit)
}

// parquetKey is a split to look others up with.
func parquetKey(id string) *metastore.ParquetSplit {
	return &metastore.ParquetSplit{Metadata: &metastore.ParquetSplitMetadata{SplitID: id}}
}

// parquetSets are those of an index, by kind.
type parquetSets [metastore.SketchSplits + 1]parquetSet

func newParquetSets() (sets parquetSets) {
	for kind := range sets {
		sets[kind] = newParquetSet()
	}
	return sets
}

func (s *parquetSets) copy() (copied parquetSets) {
	for kind := range s {
		copied[kind] = s[kind].copy()
	}
	return copied
}

func (s *parquetSets) len() int {
	return s[metastore.MetricsSplits].len() + s[metastore.SketchSplits].len()
}
