package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// CreateDeleteTask implements metastore.Store.
func (c *Client) CreateDeleteTask(ctx context.Context, query metastore.DeleteQuery) (metastore.DeleteTask, error) {
	const operation = "create delete task"
	response, err := c.metastore.CreateDeleteTask(ctx, deleteQueryMessage(&query))
	if err != nil {
		return metastore.DeleteTask{}, callError(ctx, operation, err)
	}
	task, err := readDeleteTask(response)
	if err != nil {
		return metastore.DeleteTask{}, metastore.Internal(err, operation)
	}
	return task, nil
}

// LastDeleteOpstamp implements metastore.Store.
func (c *Client) LastDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID) (uint64, error) {
	request := &metastorepb.LastDeleteOpstampRequest{IndexUid: indexUIDMessage(indexUID)}
	response, err := c.metastore.LastDeleteOpstamp(ctx, request, repeatable)
	if err != nil {
		return 0, callError(ctx, "read last delete opstamp", err)
	}
	return response.GetLastDeleteOpstamp(), nil
}

// ListDeleteTasks implements metastore.Store.
func (c *Client) ListDeleteTasks(ctx context.Context, indexUID metastore.IndexUID, after uint64) ([]metastore.DeleteTask, error) {
	const operation = "list delete tasks"
	request := &metastorepb.ListDeleteTasksRequest{IndexUid: indexUIDMessage(indexUID), OpstampStart: after}
	response, err := c.metastore.ListDeleteTasks(ctx, request, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	var tasks []metastore.DeleteTask
	for _, message := range response.GetDeleteTasks() {
		task, err := readDeleteTask(message)
		if err != nil {
			return nil, metastore.Internal(err, operation)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

// ListStaleSplits implements metastore.Store.
func (c *Client) ListStaleSplits(ctx context.Context, query metastore.StaleSplitsQuery, visit func(*metastore.SplitRow) error) error {
	const operation = "list stale splits"
	response, err := c.metastore.ListStaleSplits(ctx, &metastorepb.ListStaleSplitsRequest{
		IndexUid:      indexUIDMessage(query.IndexUID),
		DeleteOpstamp: query.DeleteOpstamp,
		NumSplits:     query.Limit,
	}, repeatable)
	if err != nil {
		return callError(ctx, operation, err)
	}
	return visitRows(operation, response.GetSplitsSerializedJson(), visit)
}

// UpdateSplitsDeleteOpstamp implements metastore.Store.
func (c *Client) UpdateSplitsDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string, opstamp uint64) error {
	_, err := c.metastore.UpdateSplitsDeleteOpstamp(ctx, &metastorepb.UpdateSplitsDeleteOpstampRequest{
		IndexUid:      indexUIDMessage(indexUID),
		SplitIds:      splitIDs,
		DeleteOpstamp: opstamp,
	})
	if err != nil {
		return callError(ctx, "update splits' delete opstamp", err)
	}
	return nil
}

func readDeleteTask(message *metastorepb.DeleteTask) (metastore.DeleteTask, error) {
	query := message.GetDeleteQuery()
	indexUID, err := readIndexUID("delete_query.index_uid", query.GetIndexUid())
	if err != nil {
		return metastore.DeleteTask{}, err
	}
	task := metastore.DeleteTask{
		CreateTimestamp: message.GetCreateTimestamp(),
		Opstamp:         message.GetOpstamp(),
		Query:           metastore.DeleteQuery{IndexUID: indexUID, QueryAST: query.GetQueryAst()},
	}
	if query != nil {
		task.Query.StartTimestamp = optionalInt64(query.StartTimestamp)
		task.Query.EndTimestamp = optionalInt64(query.EndTimestamp)
	}
	return task, nil
}
