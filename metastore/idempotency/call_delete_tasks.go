package idempotency

import (
	"context"
	"fmt"

	"holdfast/metastore"
)

// DeleteTaskResult is what the record of a CreateDeleteTask call holds beside its binding: the opstamp and
// the create timestamp of the task.
func DeleteTaskResult(task metastore.DeleteTask) string {
	return fmt.Sprintf("%d %d", task.Opstamp, task.CreateTimestamp)
}

// CreateDeleteTask implements metastore.DeleteTaskStore.
func (c *Call) CreateDeleteTask(ctx context.Context, query metastore.DeleteQuery) (metastore.DeleteTask, error) {
	task, err := c.keyed.CreateDeleteTask(ctx, query)
	record, err := c.again(err)
	if record == nil {
		return task, err
	}
	task = metastore.DeleteTask{Query: query}
	if _, err := fmt.Sscanf(record.Result, "%d %d", &task.Opstamp, &task.CreateTimestamp); err != nil {
		return metastore.DeleteTask{}, metastore.Internal(err, "the record of idempotency key %s has the result %q", record.Key.Abbreviated(), record.Result)
	}
	return task, nil
}

// RaiseDeleteOpstampFloor implements metastore.DeleteTaskStore.
func (c *Call) RaiseDeleteOpstampFloor(ctx context.Context, indexUID metastore.IndexUID, floor uint64) error {
	return c.silent(c.keyed.RaiseDeleteOpstampFloor(ctx, indexUID, floor))
}

// UpdateSplitsDeleteOpstamp implements metastore.DeleteTaskStore.
func (c *Call) UpdateSplitsDeleteOpstamp(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string, opstamp uint64) error {
	return c.silent(c.keyed.UpdateSplitsDeleteOpstamp(ctx, indexUID, splitIDs, opstamp))
}
