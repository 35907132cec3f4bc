package file

import (
	"github.com/tidwall/btree"

	"holdfast/metastore"
)

// deleteTaskSet holds the delete tasks of one index, ordered by opstamp. It is copied and shared as a
// splitSet is. Most indexes have no task, and then there is no tree.
type deleteTaskSet struct {
	tree *btree.BTreeG[*metastore.DeleteTask]
	// raised is what the opstamps of new tasks are above even if there are no tasks.
	raised uint64
}

// copy must not run at the same time as another copy of the same set.
func (s *deleteTaskSet) copy() deleteTaskSet {
	if s.tree == nil {
		return deleteTaskSet{raised: s.raised}
	}
	return deleteTaskSet{tree: s.tree.Copy(), raised: s.raised}
}

func (s *deleteTaskSet) put(task *metastore.DeleteTask) {
	if s.tree == nil {
		less := func(a, b *metastore.DeleteTask) bool { return a.Opstamp < b.Opstamp }
		s.tree = btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
	}
	s.tree.Set(task)
}

// last returns the highest opstamp, 0 if there is no task. Tasks stay as long as their incarnation of the
// index, so it never goes back.
func (s *deleteTaskSet) last() uint64 {
	if s.tree == nil {
		return 0
	}
	task, found := s.tree.Max()
	if !found {
		return 0
	}
	return task.Opstamp
}

// floor returns what the opstamps of new tasks are above.
func (s *deleteTaskSet) floor() uint64 { return max(s.raised, s.last()) }

// above visits the tasks whose opstamp is above another one, in ascending order, until visit returns false.
func (s *deleteTaskSet) above(opstamp uint64, visit func(*metastore.DeleteTask) bool) {
	if s.tree == nil || opstamp >= s.last() {
		return
	}
	s.tree.Ascend(&metastore.DeleteTask{Opstamp: opstamp + 1}, visit)
}
