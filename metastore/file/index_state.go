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
	parquet parquetSets
	shards  shardSet
	// deleteTasks are of this incarnation. While there is none it holds the floor of the dropped one, which goes on
	// if that is created again; any other starts over.
	deleteTasks deleteTaskSet
	// unknown are the members of the imported document of this incarnation that only newer peers know, each led by a comma.
	unknown []byte
	// records are of calls about any incarnation.
	records recordSet
}

var _ state[*indexState] = (*indexState)(nil)

func newIndexState() *indexState {
	s := &indexState{records: newRecordSet()}
	s.begin(nil)
	return s
}

// begin starts over with an incarnation, or with none, to which nothing belongs yet.
func (s *indexState) begin(index *metastore.IndexMetadata) {
	s.index = index
	s.splits = newSplitSet()
	s.parquet = newParquetSets()
	s.shards = newShardSet()
	s.deleteTasks = deleteTaskSet{}
	s.unknown = nil
}

func (s *indexState) fork() *indexState {
	return &indexState{index: s.index, dropped: s.dropped, splits: s.splits.copy(), parquet: s.parquet.copy(), shards: s.shards.copy(), deleteTasks: s.deleteTasks.copy(), unknown: s.unknown, records: s.records.copy()}
}

func (s *indexState) recorded() *recordSet { return &s.records }

// apply makes the change of one operation.
func (s *indexState) apply(o op, time int64) error {
	change, ok := o.(indexOp)
	if !ok {
		return fmt.Errorf("%s: the operation does not belong into the log of an index", o.name())
	}
	if s.index == nil {
		switch o.(type) {
		case createOp, fenceOp, recordOp:
		default:
			return fmt.Errorf("%s: the operation needs an index, and there is none", o.name())
		}
	}
	return change.applyToIndex(s, time)
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

// floorOf returns what the opstamps of new delete tasks of an incarnation are above, or would be.
func (s *indexState) floorOf(uid metastore.IndexUID) uint64 {
	newest := s.dropped
	if s.index != nil {
		newest = s.index.IndexUID
	}
	if newest != uid {
		return 0
	}
	return s.deleteTasks.floor()
}

// current returns the metadata of exactly this incarnation.
func (s *indexState) current(uid metastore.IndexUID) (*metastore.IndexMetadata, error) {
	if s.index == nil || s.index.IndexUID != uid {
		return nil, metastore.NotFound(metastore.IndexEntity(uid.IndexID))
	}
	return s.index, nil
}
