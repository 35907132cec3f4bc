package postgres

import (
	"context"
	"math"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// CreateDeleteTask implements metastore.DeleteTaskStore. Opstamps are drawn from one sequence for all indexes.
func (s *Store) CreateDeleteTask(ctx context.Context, deletion metastore.DeleteQuery) (metastore.DeleteTask, error) {
	indexID := deletion.IndexUID.IndexID
	args := [][]byte{textArgument(deletion.IndexUID.String()), deletion.AppendJSON(nil)}
	task := metastore.DeleteTask{Query: deletion}
	create := query{sql: createDeleteTaskSQL, args: args, row: func(row columns) error {
		task.Opstamp, task.CreateTimestamp = uint64(row.int8(0)), row.seconds(1)
		return nil
	}}
	build := func() []query {
		task.Opstamp = 0
		return []query{create}
	}
	verdict := func() error {
		if task.Opstamp == 0 {
			return metastore.NotFound(metastore.IndexEntity(indexID))
		}
		return nil
	}
	const operation = "creating a delete task"
	var err error
	if s.record == nil {
		err = s.mutateIf(ctx, operation, indexID, build, verdict)
	} else {
		err = s.changeLocked(ctx, operation, indexID, build, func() (decision, error) {
			return decision{writes: s.setResult(idempotency.DeleteTaskResult(task))}, verdict()
		})
	}
	if err != nil {
		return metastore.DeleteTask{}, err
	}
	return task, nil
}

// DeleteOpstampFloor implements metastore.DeleteTaskStore. It is the same for all indexes.
func (s *Store) DeleteOpstampFloor(ctx context.Context, _ metastore.IndexUID) (floor uint64, err error) {
	err = s.read(ctx, "reading the delete opstamp floor", func() []query { return []query{floorInto(&floor)} })
	return floor, err
}

func floorInto(floor *uint64) query {
	return query{sql: deleteOpstampFloorSQL, row: func(row columns) error {
		*floor = uint64(row.int8(0))
		return nil
	}}
}

// RaiseDeleteOpstampFloor implements metastore.DeleteTaskStore. Tasks of all indexes draw from the sequence that it
// raises, so none can be created meanwhile.
func (s *Store) RaiseDeleteOpstampFloor(ctx context.Context, indexUID metastore.IndexUID, floor uint64) error {
	if err := metastore.ValidateDeleteOpstampFloor(floor); err != nil {
		return err
	}
	var known int64
	var current uint64
	read := func() []query {
		known = 0
		return []query{{sql: findIndexUIDSQL, args: [][]byte{textArgument(indexUID.String())}, affected: &known}, floorInto(&current)}
	}
	return s.changeLocked(ctx, "raising the delete opstamp floor", indexUID.IndexID, read, func() (decision, error) {
		switch {
		case known == 0:
			return decision{}, metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
		case current >= floor:
			return decision{}, nil
		}
		return decision{writes: []query{{sql: lockDeleteTasksSQL}, {sql: raiseDeleteOpstampFloorSQL, args: [][]byte{int8Argument(int64(floor))}}}}, nil
	})
}

// LastDeleteOpstamp implements metastore.DeleteTaskStore.
func (s *Store) LastDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID) (opstamp uint64, err error) {
	if !isStorable(indexUID.IndexID) {
		return 0, nil
	}
	args := [][]byte{textArgument(indexUID.String())}
	err = s.read(ctx, "reading the last delete opstamp", func() []query {
		return []query{{sql: lastDeleteOpstampSQL, args: args, row: func(row columns) error {
			opstamp = uint64(row.int8(0)) // NULL: 0
			return nil
		}}}
	})
	return opstamp, err
}

// ListDeleteTasks implements metastore.DeleteTaskStore.
func (s *Store) ListDeleteTasks(ctx context.Context, indexUID metastore.IndexUID, after uint64) (tasks []metastore.DeleteTask, err error) {
	if !isStorable(indexUID.IndexID) || after >= math.MaxInt64 {
		return nil, nil
	}
	args := [][]byte{textArgument(indexUID.String()), int8Argument(int64(after))}
	err = s.read(ctx, "listing delete tasks", func() []query {
		tasks = nil
		return []query{{sql: listDeleteTasksSQL, args: args, row: func(row columns) error {
			deletion, err := metastore.ParseDeleteQuery(row[2])
			// The row belongs to this index, whatever its document says.
			deletion.IndexUID = indexUID
			tasks = append(tasks, metastore.DeleteTask{CreateTimestamp: row.seconds(1), Opstamp: uint64(row.int8(0)), Query: deletion})
			return err
		}}}
	})
	if err != nil {
		return nil, err
	}
	return tasks, nil
}

// ListStaleSplits implements metastore.DeleteTaskStore.
func (s *Store) ListStaleSplits(ctx context.Context, stale metastore.StaleSplitsQuery, visit func(*metastore.SplitRow) error) error {
	return s.ListSplits(ctx, stale.ListSplitsQuery(time.Now().Unix()), visit)
}

// UpdateSplitsDeleteOpstamp implements metastore.DeleteTaskStore. It changes the column; the document of a split keeps
// the opstamp that it was staged with, which readers do not look at.
func (s *Store) UpdateSplitsDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string, opstamp uint64) error {
	j := s.changeJob("updating the delete opstamp of splits", indexUID)
	if err := s.refuseReadOnly(j.operation); err != nil {
		return err
	}
	if err := metastore.ValidateDeleteOpstamp(opstamp); err != nil || len(splitIDs) == 0 {
		return err
	}
	return s.changeSplits(ctx, j, splitIDs, query{sql: updateDeleteOpstampSQL, args: [][]byte{int8Argument(int64(opstamp))}})
}
