package storetest

import (
	"context"
	"slices"
	"time"

	"holdfast/metastore"
)

func (m *model) CreateDeleteTask(_ context.Context, query metastore.DeleteQuery) (metastore.DeleteTask, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(query.IndexUID)
	if err != nil {
		return metastore.DeleteTask{}, err
	}
	task := metastore.DeleteTask{CreateTimestamp: time.Now().Unix(), Opstamp: index.floor + 1, Query: query}
	index.tasks = append(index.tasks, task)
	index.floor++
	return task, nil
}

func (m *model) DeleteOpstampFloor(_ context.Context, uid metastore.IndexUID) (uint64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	index, err := m.find(uid)
	if err != nil {
		return m.dropped[uid], nil
	}
	return index.floor, nil
}

func (m *model) RaiseDeleteOpstampFloor(_ context.Context, uid metastore.IndexUID, floor uint64) error {
	if err := metastore.ValidateDeleteOpstampFloor(floor); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	index.floor = max(index.floor, floor)
	return nil
}

func (m *model) LastDeleteOpstamp(_ context.Context, uid metastore.IndexUID) (uint64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	index, err := m.find(uid)
	if err != nil {
		return 0, nil
	}
	if len(index.tasks) == 0 {
		return 0, nil
	}
	return index.tasks[len(index.tasks)-1].Opstamp, nil
}

func (m *model) ListDeleteTasks(_ context.Context, uid metastore.IndexUID, after uint64) ([]metastore.DeleteTask, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	index, err := m.find(uid)
	if err != nil {
		return nil, nil
	}
	return slices.DeleteFunc(slices.Clone(index.tasks), func(task metastore.DeleteTask) bool { return task.Opstamp <= after }), nil
}

func (m *model) ListStaleSplits(ctx context.Context, query metastore.StaleSplitsQuery, visit func(*metastore.SplitRow) error) error {
	return m.ListSplits(ctx, query.ListSplitsQuery(time.Now().Unix()), visit)
}

func (m *model) UpdateSplitsDeleteOpstamp(ctx context.Context, uid metastore.IndexUID, ids []string, opstamp uint64) error {
	if ctx.Err() != nil {
		return metastore.Timeout(ctx.Err(), "not begun")
	}
	if err := metastore.ValidateDeleteOpstamp(opstamp); err != nil || len(ids) == 0 {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if split := index.splits[id]; split != nil && split.Metadata.DeleteOpstamp != opstamp {
			split.Metadata = split.Metadata.WithDeleteOpstamp(opstamp)
			split.UpdateTimestamp = time.Now().Unix()
		}
	}
	return nil
}
