package file

import (
	"container/heap"
	"slices"

	"holdfast/metastore"
)

// sorter collects splits and returns the first of them in the order of a query. It holds no more than
// it has to return.
type sorter struct {
	query *metastore.ListSplitsQuery
	keep  uint64
	// items is a heap with the last one on top as soon as it holds as many as are kept.
	items []sortItem
	// a and b are the room for two splits that are compared.
	a, b metastore.Split
}

type sortItem struct {
	uid   metastore.IndexUID
	split *splitRecord
}

func newSorter(query *metastore.ListSplitsQuery, keep uint64) *sorter {
	return &sorter{query: query, keep: keep}
}

func (s *sorter) compare(a, b sortItem) int {
	a.split.describe(&s.a, false)
	b.split.describe(&s.b, false)
	return s.query.Compare(a.uid, &s.a, b.uid, &s.b)
}

func (s *sorter) add(uid metastore.IndexUID, split *splitRecord) (more bool, err error) {
	item := sortItem{uid, split}
	switch {
	case uint64(len(s.items)) < s.keep:
		s.items = append(s.items, item)
		if uint64(len(s.items)) == s.keep {
			heap.Init(s)
		}
	case s.compare(item, s.items[0]) < 0:
		s.items[0] = item
		heap.Fix(s, 0)
	}
	return true, nil
}

func (s *sorter) sort() []sortItem {
	slices.SortFunc(s.items, s.compare)
	return s.items
}

// Len, Less, Swap, Push and Pop implement heap.Interface.

func (s *sorter) Len() int           { return len(s.items) }
func (s *sorter) Less(i, j int) bool { return s.compare(s.items[i], s.items[j]) > 0 }
func (s *sorter) Swap(i, j int)      { s.items[i], s.items[j] = s.items[j], s.items[i] }
func (s *sorter) Push(any)           {}
func (s *sorter) Pop() any           { return nil }
