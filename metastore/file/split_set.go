package file

import (
	"github.com/tidwall/btree"

	"holdfast/metastore"
)

// splitSet holds the splits of one index, ordered by the bytes of their ids. A copy costs the same
// whatever the size; the two sets share what neither has changed since. A set that was copied from
// may be read by any number of goroutines while the copy is changed. Splits in it are never changed,
// only replaced.
type splitSet struct {
	tree  *btree.BTreeG[*splitRecord]
	stats [metastore.MarkedForDeletion + 1]metastore.SplitStats // by state
}

func newSplitSet() splitSet {
	less := func(a, b *splitRecord) bool { return a.id < b.id }
	return splitSet{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// copy must not run at the same time as another copy of the same set.
func (s *splitSet) copy() splitSet {
	return splitSet{tree: s.tree.Copy(), stats: s.stats}
}

func (s *splitSet) get(id string) *splitRecord {
	split, _ := s.tree.Get(&splitRecord{id: id})
	return split
}

func (s *splitSet) put(split *splitRecord) {
	if old, replaced := s.tree.Set(split); replaced {
		s.count(old, -1)
	}
	s.count(split, 1)
}

// load is put, faster when ids come in ascending order. It reports whether it replaced another split.
func (s *splitSet) load(split *splitRecord) (replaced bool) {
	old, replaced := s.tree.Load(split)
	if replaced {
		s.count(old, -1)
	}
	s.count(split, 1)
	return replaced
}

func (s *splitSet) remove(split *splitRecord) {
	if old, removed := s.tree.Delete(split); removed {
		s.count(old, -1)
	}
}

func (s *splitSet) count(split *splitRecord, sign int64) {
	stats := &s.stats[split.state]
	stats.NumSplits += uint64(sign)
	stats.TotalSizeBytes += uint64(sign) * split.footerEnd
}

func (s *splitSet) len() int { return s.tree.Len() }

// ascend visits the splits from the given id on, in order, until visit returns false.
func (s *splitSet) ascend(from string, visit func(*splitRecord) bool) {
	if from == "" {
		s.tree.Scan(visit)
		return
	}
	s.tree.Ascend(&splitRecord{id: from}, visit)
}
