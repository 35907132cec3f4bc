package chaos

import (
	"context"
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// operation is a kind of call. It makes one, or none, with made false, if there is nothing to make it about.
type operation struct {
	weight int
	run    func(c *client, ctx context.Context) (made bool, err error)
}

// always is an operation that can be made at any time.
func always(weight int, run func(c *client, ctx context.Context) error) operation {
	return operation{weight, func(c *client, ctx context.Context) (bool, error) { return true, run(c, ctx) }}
}

func operations() []operation {
	operations := []operation{
		{1, (*client).deleteIndex},
		always(5, (*client).updateIndex),
		always(3, (*client).addSource),
		{3, (*client).changeSource},
		{2, (*client).deleteSource},
		{1, (*client).resetCheckpoint},
		always(4, func(c *client, ctx context.Context) error { return c.createTask(ctx, c.own) }),
		always(8, func(c *client, ctx context.Context) error { return c.createTask(ctx, c.shared) }),
		always(2, (*client).raiseFloor),
		always(8, func(c *client, ctx context.Context) error { return c.publish(ctx, c.shared, nil, nil, c.name) }),
	}
	operations = append(operations, templateOperations()...)
	operations = append(operations, splitOperations()...)
	operations = append(operations, parquetOperations()...)
	operations = append(operations, shardOperations()...)
	return append(operations, refusals()...)
}

func (c *client) deleteIndex(ctx context.Context) (bool, error) {
	uid := c.own.uid
	_, err := c.must(ctx, "delete index", func(ctx context.Context, store metastore.Store) error {
		return store.DeleteIndex(ctx, uid)
	})
	c.own, c.gone = nil, uid
	return true, err
}

func (c *client) updateIndex(ctx context.Context) error {
	request, err := indexConfig(c.name)
	if err != nil {
		return err
	}
	c.own.retention++
	update := indexconfig.Update{
		DocMapping: request.Config.DocMapping, IndexingSettings: request.Config.IndexingSettings, IngestSettings: request.Config.IngestSettings,
		SearchSettings: request.Config.SearchSettings, Retention: retention(c.own.retention),
	}
	_, err = c.must(ctx, "update index", func(ctx context.Context, store metastore.Store) error {
		metadata, err := store.UpdateIndex(ctx, c.own.uid, update)
		if err == nil {
			err = c.own.differs(metadata)
		}
		return err
	})
	return err
}

func (c *client) addSource(ctx context.Context) error {
	id := c.newID()
	config, err := sourceConfig(id, 1)
	if err != nil {
		return err
	}
	c.own.sources[id], c.own.checkpoints[id] = source{pipelines: 1}, map[string]int{}
	_, err = c.must(ctx, "add source", func(ctx context.Context, store metastore.Store) error {
		return store.AddSource(ctx, c.own.uid, config)
	})
	return err
}

// ownSource is one that the client added, empty if there is none.
func (c *client) ownSource() string {
	ids := sortedIDs(c.own.sources)
	for _, id := range c.pick(ids, len(ids)) {
		if id != ingestSource && id != queueSource {
			return id
		}
	}
	return ""
}

func (c *client) changeSource(ctx context.Context) (bool, error) {
	id := c.ownSource()
	if id == "" {
		return false, nil
	}
	s := c.own.sources[id]
	if c.random.IntN(2) == 0 {
		s.disabled = !s.disabled
		c.own.sources[id] = s
		_, err := c.must(ctx, "toggle source", func(ctx context.Context, store metastore.Store) error {
			return store.ToggleSource(ctx, c.own.uid, id, !s.disabled)
		})
		return true, err
	}
	s.pipelines, s.disabled = s.pipelines+1, false
	c.own.sources[id] = s
	config, err := sourceConfig(id, s.pipelines)
	if err != nil {
		return true, err
	}
	_, err = c.must(ctx, "update source", func(ctx context.Context, store metastore.Store) error {
		return store.UpdateSource(ctx, c.own.uid, config)
	})
	return true, err
}

func (c *client) deleteSource(ctx context.Context) (bool, error) {
	id := c.ownSource()
	if id == "" {
		return false, nil
	}
	delete(c.own.sources, id)
	delete(c.own.checkpoints, id)
	_, err := c.must(ctx, "delete source", func(ctx context.Context, store metastore.Store) error {
		return store.DeleteSource(ctx, c.own.uid, id)
	})
	return true, err
}

func (c *client) resetCheckpoint(ctx context.Context) (bool, error) {
	if c.own.checkpoints[queueSource] == nil {
		return false, nil
	}
	delete(c.own.checkpoints, queueSource)
	_, err := c.must(ctx, "reset source checkpoint", func(ctx context.Context, store metastore.Store) error {
		return store.ResetSourceCheckpoint(ctx, c.own.uid, queueSource)
	})
	return true, err
}

func (c *client) createTask(ctx context.Context, x *index) error {
	query := metastore.DeleteQuery{IndexUID: x.uid, QueryAST: fmt.Sprintf(`{"type":"term","value":%q}`, c.newID())}
	if c.random.IntN(2) == 0 {
		query.StartTimestamp, query.EndTimestamp = metastore.Some(int64(c.made)), metastore.Some(int64(2*c.made))
	}
	var task metastore.DeleteTask
	_, err := c.must(ctx, "create delete task", func(ctx context.Context, store metastore.Store) (err error) {
		task, err = store.CreateDeleteTask(ctx, query)
		return err
	})
	if err != nil {
		return err
	}
	if task.Query != query {
		return fmt.Errorf("create delete task: answered %+v, want %+v", task.Query, query)
	}
	for earlier := range x.tasks {
		if earlier >= task.Opstamp {
			return fmt.Errorf("create delete task: opstamp %d after %d", task.Opstamp, earlier)
		}
	}
	if task.Opstamp <= x.floor {
		return fmt.Errorf("create delete task: opstamp %d, the floor was raised to %d", task.Opstamp, x.floor)
	}
	x.tasks[task.Opstamp] = query
	return nil
}

// raiseFloor raises the floor of delete opstamps above all that the client knows of its index.
func (c *client) raiseFloor(ctx context.Context) error {
	floor := c.own.floor
	for opstamp := range c.own.tasks {
		floor = max(floor, opstamp)
	}
	floor += 1 + c.random.Uint64N(100)
	c.own.floor = floor
	_, err := c.must(ctx, "raise delete opstamp floor", func(ctx context.Context, store metastore.Store) error {
		return store.RaiseDeleteOpstampFloor(ctx, c.own.uid, floor)
	})
	return err
}
