package file

import (
	"fmt"
	"strconv"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// createDeleteTaskOp adds a delete task, whose opstamp is above all others of the index.
//
//	"create_delete_task":{"task":<delete task document>}
type createDeleteTaskOp struct{ task metastore.DeleteTask }

func (createDeleteTaskOp) name() string { return "create_delete_task" }

func (o createDeleteTaskOp) append(dst []byte) []byte {
	return append(o.task.AppendJSON(append(dst, `{"task":`...)), '}')
}

func readCreateDeleteTaskOp(r *strictjson.Reader) (op, error) {
	var o createDeleteTaskOp
	err := readMember(r, "task", func() error {
		var text []byte
		if err := r.Raw(&text); err != nil {
			return err
		}
		var err error
		o.task, err = metastore.ParseDeleteTask(text)
		return err
	})
	return o, err
}

func (o createDeleteTaskOp) applyToIndex(s *indexState, _ int64) error {
	switch last := s.deleteTasks.floor(); {
	case o.task.Query.IndexUID != s.index.IndexUID:
		return fmt.Errorf("create_delete_task: the index is %s, not %s", s.index.IndexUID, o.task.Query.IndexUID)
	case o.task.Opstamp <= last:
		return fmt.Errorf("create_delete_task: opstamp %d is not above %d", o.task.Opstamp, last)
	}
	s.deleteTasks.put(&o.task)
	return nil
}

// raiseDeleteOpstampOp is what the opstamps of new tasks are above from now on. It is higher than before.
//
//	"raise_delete_opstamp":{"floor":4}
type raiseDeleteOpstampOp uint64

func (raiseDeleteOpstampOp) name() string { return "raise_delete_opstamp" }

func (o raiseDeleteOpstampOp) append(dst []byte) []byte {
	return append(strconv.AppendUint(append(dst, `{"floor":`...), uint64(o), 10), '}')
}

func readRaiseDeleteOpstampOp(r *strictjson.Reader) (op, error) {
	var floor uint64
	err := readMember(r, "floor", func() error { return r.Uint64(&floor) })
	return raiseDeleteOpstampOp(floor), err
}

func (o raiseDeleteOpstampOp) applyToIndex(s *indexState, _ int64) error {
	if floor := s.deleteTasks.floor(); uint64(o) <= floor {
		return fmt.Errorf("raise_delete_opstamp: %d is not above %d", uint64(o), floor)
	}
	s.deleteTasks.raised = uint64(o)
	return nil
}

// updateDeleteOpstampOp sets the delete opstamp of splits.
//
//	"update_delete_opstamp":{"split_ids":["id"],"delete_opstamp":4}
type updateDeleteOpstampOp struct {
	splitIDs []string
	opstamp  uint64
}

func (updateDeleteOpstampOp) name() string { return "update_delete_opstamp" }

func (o updateDeleteOpstampOp) append(dst []byte) []byte {
	dst = strictjson.AppendStrings(append(dst, `{"split_ids":`...), o.splitIDs)
	dst = strconv.AppendUint(append(dst, `,"delete_opstamp":`...), o.opstamp, 10)
	return append(dst, '}')
}

var updateDeleteOpstampKeys = strictjson.Keys{{Name: "split_ids", Required: true}, {Name: "delete_opstamp", Required: true}}

func readUpdateDeleteOpstampOp(r *strictjson.Reader) (op, error) {
	var o updateDeleteOpstampOp
	err := r.Object(updateDeleteOpstampKeys, strictjson.Reject, func(key string) error {
		if key == "split_ids" {
			return strictjson.List(r, &o.splitIDs, r.String)
		}
		return r.Uint64(&o.opstamp)
	})
	return o, err
}

func (o updateDeleteOpstampOp) applyToIndex(s *indexState, time int64) error {
	for _, id := range o.splitIDs {
		old := s.splits.get(id)
		if old == nil {
			return fmt.Errorf("update_delete_opstamp: there is no split %q", id)
		}
		s.splits.put(old.stamped(o.opstamp, time))
	}
	return nil
}
