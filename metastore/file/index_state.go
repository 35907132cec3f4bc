package file

import (
	"fmt"

	"holdfast/metastore"
)

// indexState is what the log of one index id has built: at most one incarnation of the index. It
// changes only through apply.
type indexState struct {
	// index is nil while no incarnation exists.
	index *metastore.IndexMetadata
	// dropped is the last incarnation that was deleted, the zero value if none was.
	dropped metastore.IndexUID
	splits  splitSet
}

var _ state[*indexState] = (*indexState)(nil)

func newIndexState() *indexState { return &indexState{splits: newSplitSet()} }

func (s *indexState) fork() *indexState {
	return &indexState{index: s.index, dropped: s.dropped, splits: s.splits.copy()}
}

// apply makes the change of one operation. It depends on nothing but the state, the operation and the
// time of its entry. An operation that does not fit the state is an error: the log is damaged.
func (s *indexState) apply(o *op, time int64) error {
	switch {
	case o.create != nil:
		if s.index != nil {
			return fmt.Errorf("create: the index exists already as %s", s.index.IndexUID)
		}
		s.index = o.create
		s.splits = newSplitSet()
		return nil
	case o.fence:
		return nil
	case s.index == nil:
		return fmt.Errorf("the operation needs an index, and there is none")
	case o.update != nil:
		if o.update.IndexUID != s.index.IndexUID {
			return fmt.Errorf("update: the index is %s, not %s", s.index.IndexUID, o.update.IndexUID)
		}
		s.index = o.update
		return nil
	case o.drop != nil:
		if *o.drop != s.index.IndexUID {
			return fmt.Errorf("drop: the index is %s, not %s", s.index.IndexUID, *o.drop)
		}
		s.dropped = s.index.IndexUID
		s.index = nil
		s.splits = newSplitSet()
		return nil
	case o.stage != nil:
		for i := range o.stage {
			s.splits.put(newSplitRecord(&metastore.Split{State: metastore.Staged, UpdateTimestamp: time, Metadata: o.stage[i]}))
		}
		return nil
	case o.publish != nil:
		if err := s.move("publish", o.publish.staged, metastore.Published, time); err != nil {
			return err
		}
		return s.move("publish", o.publish.replaced, metastore.MarkedForDeletion, time)
	case o.mark != nil:
		return s.move("mark", o.mark, metastore.MarkedForDeletion, time)
	case o.delete != nil:
		return s.remove(o.delete)
	}
	return fmt.Errorf("the operation does not belong into the log of an index")
}

func (s *indexState) move(operation string, ids []string, to metastore.SplitState, time int64) error {
	for _, id := range ids {
		old := s.splits.get(id)
		if old == nil {
			return fmt.Errorf("%s: there is no split %q", operation, id)
		}
		s.splits.put(old.moved(to, time))
	}
	return nil
}

func (s *indexState) remove(ids []string) error {
	for _, id := range ids {
		old := s.splits.get(id)
		if old == nil {
			return fmt.Errorf("delete: there is no split %q", id)
		}
		s.splits.remove(old)
	}
	return nil
}

// current returns the metadata of exactly this incarnation.
func (s *indexState) current(uid metastore.IndexUID) (*metastore.IndexMetadata, error) {
	if s.index == nil || s.index.IndexUID != uid {
		return nil, metastore.NotFound(metastore.IndexEntity(uid.IndexID))
	}
	return s.index, nil
}
