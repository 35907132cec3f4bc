package chaos

import (
	"context"

	"holdfast/metastore"
)

func parquetOperations() []operation {
	return []operation{{4, (*client).stageParquet}, {3, (*client).publishParquet}, {3, (*client).markParquet}, {3, (*client).deleteParquet}}
}

// someKind draws a kind of Parquet splits, and up to two ids of splits in a state.
func (c *client) someParquet(state metastore.SplitState) (metastore.ParquetKind, []string) {
	kind := c.random.IntN(2)
	ids := inState(c.own.parquet[kind], func(s metastore.SplitState) bool { return s == state })
	return metastore.ParquetKind(kind), c.pick(ids, 1+c.random.IntN(2))
}

func parquetMetadata(kind metastore.ParquetKind, uid metastore.IndexUID, id string) metastore.ParquetSplitMetadata {
	return metastore.ParquetSplitMetadata{
		Kind: kind, SplitID: id, IndexUID: uid.String(), TimeStart: 1000, TimeEnd: 2000, NumRows: uint64(len(id)), SizeBytes: 4096, PartitionID: 1<<64 - 1,
		MetricNames: []string{"cpu.usage", id}, LowCardinalityTags: map[string][]string{"service": {id}, "env": {"a", "b"}}, HighCardinalityTagKeys: []string{"trace"},
		CreatedSeconds: payloadCreated, CreatedNanos: 7, Maturity: metastore.Maturity{Immature: true, PeriodMillis: 5000}, ParquetFile: id + ".parquet",
		Window: metastore.Some(metastore.ParquetWindow{Start: -60, Duration: 60}), SortFields: "metric_name|-timestamp", NumMergeOps: 1, RowKeys: []byte{0, 255},
		ZonemapRegexes: map[string]string{"host": "a.*"}, RowGroupPartitionPrefix: 2,
	}
}

func (c *client) stageParquet(ctx context.Context) (bool, error) {
	kind, _ := c.someParquet(metastore.Staged)
	if len(c.own.parquet[kind]) > maxSplits {
		return false, nil
	}
	var splits []metastore.ParquetSplitMetadata
	for range 1 + c.random.IntN(2) {
		id := c.newID()
		c.own.parquet[kind][id] = metastore.Staged
		splits = append(splits, parquetMetadata(kind, c.own.uid, id))
	}
	_, err := c.must(ctx, "stage "+kind.String()+" splits", func(ctx context.Context, store metastore.Store) error {
		return store.StageParquetSplits(ctx, kind, c.own.uid, splits)
	})
	return true, err
}

func (c *client) publishParquet(ctx context.Context) (bool, error) {
	kind, ids := c.someParquet(metastore.Staged)
	if len(ids) == 0 {
		return false, nil
	}
	request := metastore.PublishSplitsRequest{IndexUID: c.own.uid, StagedSplitIDs: ids}
	for _, id := range ids {
		c.own.parquet[kind][id] = metastore.Published
	}
	_, err := c.must(ctx, "publish "+kind.String()+" splits", func(ctx context.Context, store metastore.Store) error {
		return store.PublishParquetSplits(ctx, kind, request)
	})
	return true, err
}

func (c *client) markParquet(ctx context.Context) (bool, error) {
	kind, ids := c.someParquet(metastore.Published)
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		c.own.parquet[kind][id] = metastore.MarkedForDeletion
	}
	_, err := c.must(ctx, "mark "+kind.String()+" splits for deletion", func(ctx context.Context, store metastore.Store) error {
		return store.MarkParquetSplitsForDeletion(ctx, kind, c.own.uid, ids)
	})
	return true, err
}

func (c *client) deleteParquet(ctx context.Context) (bool, error) {
	kind, ids := c.someParquet(metastore.MarkedForDeletion)
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		delete(c.own.parquet[kind], id)
	}
	_, err := c.must(ctx, "delete "+kind.String()+" splits", func(ctx context.Context, store metastore.Store) error {
		return store.DeleteParquetSplits(ctx, kind, c.own.uid, ids)
	})
	return true, err
}
