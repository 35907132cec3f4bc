package file

import (
	"context"
	"math"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// CreateDeleteTask implements metastore.DeleteTaskStore. Opstamps are those of the index, from 1 on.
func (s *Store) CreateDeleteTask(ctx context.Context, query metastore.DeleteQuery) (metastore.DeleteTask, error) {
	var task metastore.DeleteTask
	err := s.change(ctx, query.IndexUID, len(query.QueryAST)+256, func(state *indexState) ([]op, error) {
		last := state.deleteTasks.floor()
		if last >= math.MaxInt64 {
			return nil, metastore.Internal(nil, "creating a delete task: no opstamp is left above %d", last)
		}
		task = metastore.DeleteTask{CreateTimestamp: s.env.clock().Unix(), Opstamp: last + 1, Query: query}
		if s.record != nil {
			s.record.Result = idempotency.DeleteTaskResult(task)
		}
		return []op{createDeleteTaskOp{task}}, nil
	})
	if err != nil {
		return metastore.DeleteTask{}, err
	}
	return task, nil
}

// DeleteOpstampFloor implements metastore.DeleteTaskStore.
func (s *Store) DeleteOpstampFloor(ctx context.Context, indexUID metastore.IndexUID) (uint64, error) {
	state, err := s.stateOf(ctx, indexUID.IndexID)
	if err != nil {
		return 0, err
	}
	return state.floorOf(indexUID), nil
}

// RaiseDeleteOpstampFloor implements metastore.DeleteTaskStore.
func (s *Store) RaiseDeleteOpstampFloor(ctx context.Context, indexUID metastore.IndexUID, floor uint64) error {
	if err := metastore.ValidateDeleteOpstampFloor(floor); err != nil {
		return err
	}
	return s.change(ctx, indexUID, 64, func(state *indexState) ([]op, error) {
		if state.deleteTasks.floor() >= floor {
			return nil, nil
		}
		return []op{raiseDeleteOpstampOp(floor)}, nil
	})
}

// LastDeleteOpstamp implements metastore.DeleteTaskStore.
func (s *Store) LastDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID) (uint64, error) {
	tasks, err := s.deleteTasksOf(ctx, indexUID)
	if err != nil {
		return 0, err
	}
	return tasks.last(), nil
}

// ListDeleteTasks implements metastore.DeleteTaskStore.
func (s *Store) ListDeleteTasks(ctx context.Context, indexUID metastore.IndexUID, after uint64) ([]metastore.DeleteTask, error) {
	tasks, err := s.deleteTasksOf(ctx, indexUID)
	if err != nil {
		return nil, err
	}
	var found []metastore.DeleteTask
	tasks.above(after, func(task *metastore.DeleteTask) bool {
		found = append(found, *task)
		return true
	})
	return found, nil
}

// deleteTasksOf returns the tasks of exactly this incarnation, none if it does not exist.
func (s *Store) deleteTasksOf(ctx context.Context, indexUID metastore.IndexUID) (deleteTaskSet, error) {
	state, err := s.stateOf(ctx, indexUID.IndexID)
	if err != nil || state.index == nil || state.index.IndexUID != indexUID {
		return deleteTaskSet{}, err
	}
	return state.deleteTasks, nil
}

// ListStaleSplits implements metastore.DeleteTaskStore.
func (s *Store) ListStaleSplits(ctx context.Context, query metastore.StaleSplitsQuery, visit func(*metastore.SplitRow) error) error {
	return s.ListSplits(ctx, query.ListSplitsQuery(s.env.clock().Unix()), visit)
}

// UpdateSplitsDeleteOpstamp implements metastore.DeleteTaskStore.
func (s *Store) UpdateSplitsDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string, opstamp uint64) error {
	if err := metastore.ValidateDeleteOpstamp(opstamp); err != nil || len(splitIDs) == 0 {
		return err
	}
	return s.changeSplits(ctx, indexUID, splitIDs, func(state *indexState, ids []string) ([]op, error) {
		var changed []string
		for _, id := range ids {
			if split := state.splits.get(id); split != nil && split.deleteOpstamp != opstamp {
				changed = append(changed, id)
			}
		}
		if len(changed) == 0 {
			return nil, nil
		}
		return []op{updateDeleteOpstampOp{changed, opstamp}}, nil
	})
}
