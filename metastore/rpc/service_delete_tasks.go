package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// CreateDeleteTask implements MetastoreService.
func (s *service) CreateDeleteTask(ctx context.Context, request *metastorepb.DeleteQuery) (*metastorepb.DeleteTask, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	query := metastore.DeleteQuery{
		IndexUID:       indexUID,
		StartTimestamp: optionalInt64(request.StartTimestamp),
		EndTimestamp:   optionalInt64(request.EndTimestamp),
		QueryAST:       request.GetQueryAst(),
	}
	var task metastore.DeleteTask
	err = s.mutate(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) (err error) {
		task, err = store.CreateDeleteTask(ctx, query)
		return err
	})
	if err != nil {
		return nil, err
	}
	return deleteTaskMessage(&task), nil
}

// LastDeleteOpstamp implements MetastoreService.
func (s *service) LastDeleteOpstamp(ctx context.Context, request *metastorepb.LastDeleteOpstampRequest) (*metastorepb.LastDeleteOpstampResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	opstamp, err := s.store.LastDeleteOpstamp(ctx, indexUID)
	if err != nil {
		return nil, err
	}
	return &metastorepb.LastDeleteOpstampResponse{LastDeleteOpstamp: opstamp}, nil
}

// ListDeleteTasks implements MetastoreService.
func (s *service) ListDeleteTasks(ctx context.Context, request *metastorepb.ListDeleteTasksRequest) (*metastorepb.ListDeleteTasksResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	tasks, err := s.store.ListDeleteTasks(ctx, indexUID, request.GetOpstampStart())
	if err != nil {
		return nil, err
	}
	response := &metastorepb.ListDeleteTasksResponse{DeleteTasks: make([]*metastorepb.DeleteTask, len(tasks))}
	for i := range tasks {
		response.DeleteTasks[i] = deleteTaskMessage(&tasks[i])
	}
	if err := s.fitMessage(response, "ask for the tasks above a higher opstamp_start"); err != nil {
		return nil, err
	}
	return response, nil
}

// UpdateSplitsDeleteOpstamp implements MetastoreService.
func (s *service) UpdateSplitsDeleteOpstamp(ctx context.Context, request *metastorepb.UpdateSplitsDeleteOpstampRequest) (*metastorepb.UpdateSplitsDeleteOpstampResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	_, err = s.writePieces(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.UpdateSplitsDeleteOpstamp(ctx, indexUID, request.GetSplitIds(), request.GetDeleteOpstamp())
	})
	if err != nil {
		return nil, err
	}
	return &metastorepb.UpdateSplitsDeleteOpstampResponse{}, nil
}

func deleteTaskMessage(task *metastore.DeleteTask) *metastorepb.DeleteTask {
	return &metastorepb.DeleteTask{
		CreateTimestamp: task.CreateTimestamp,
		Opstamp:         task.Opstamp,
		DeleteQuery:     deleteQueryMessage(&task.Query),
	}
}

func deleteQueryMessage(query *metastore.DeleteQuery) *metastorepb.DeleteQuery {
	message := &metastorepb.DeleteQuery{IndexUid: indexUIDMessage(query.IndexUID), QueryAst: query.QueryAST}
	if query.StartTimestamp.Set {
		message.StartTimestamp = &query.StartTimestamp.Value
	}
	if query.EndTimestamp.Set {
		message.EndTimestamp = &query.EndTimestamp.Value
	}
	return message
}
