package chaos

import (
	"context"

	"holdfast/metastore"
)

// refusals are calls that fail, now and at any later time.
func refusals() []operation {
	type calling = func(ctx context.Context, store metastore.Store) error
	refusal := func(about string, want *metastore.Error, call func(c *client) (calling, error)) operation {
		return always(1, func(c *client, ctx context.Context) error {
			do, err := call(c)
			if err != nil {
				return err
			}
			return c.refused(ctx, about, want, do)
		})
	}
	return []operation{
		refusal("create an index that exists", metastore.AlreadyExists(metastore.IndexEntity(sharedIndex)), func(*client) (calling, error) {
			request, err := indexConfig(sharedIndex)
			return func(ctx context.Context, store metastore.Store) error {
				_, err := store.CreateIndex(ctx, request)
				return err
			}, err
		}),
		refusal("delete an incarnation that is gone", metastore.NotFound(metastore.IndexEntity("")), func(c *client) (calling, error) {
			return func(ctx context.Context, store metastore.Store) error { return store.DeleteIndex(ctx, c.gone) }, nil
		}),
		refusal("stage splits of an incarnation that is gone", metastore.NotFound(metastore.IndexEntity("")), func(c *client) (calling, error) {
			request := metastore.StageSplitsRequest{IndexUID: c.gone, Splits: []metastore.SplitMetadata{splitMetadata(c.newID(), 1)}}
			return func(ctx context.Context, store metastore.Store) error {
				_, err := store.StageSplits(ctx, request)
				return err
			}, nil
		}),
		refusal("stage a published split", metastore.FailedPrecondition(metastore.SplitsEntity(nil), ""), func(c *client) (calling, error) {
			request := metastore.StageSplitsRequest{IndexUID: c.shared.uid, Splits: []metastore.SplitMetadata{splitMetadata(c.newID(), 1), splitMetadata(c.name, 2)}}
			return func(ctx context.Context, store metastore.Store) error {
				_, err := store.StageSplits(ctx, request)
				return err
			}, nil
		}),
		refusal("delete a published split", metastore.FailedPrecondition(metastore.SplitsEntity(nil), ""), func(c *client) (calling, error) {
			return func(ctx context.Context, store metastore.Store) error {
				return store.DeleteSplits(ctx, c.shared.uid, []string{c.name})
			}, nil
		}),
		refusal("publish an unknown split", metastore.NotFound(metastore.SplitsEntity(nil)), func(c *client) (calling, error) {
			request := metastore.PublishSplitsRequest{IndexUID: c.own.uid, StagedSplitIDs: []string{c.newID()}}
			return func(ctx context.Context, store metastore.Store) error { return store.PublishSplits(ctx, request) }, nil
		}),
		refusal("publish what is published", metastore.FailedPrecondition(metastore.Entity{Kind: metastore.EntityCheckpointDelta}, ""), func(c *client) (calling, error) {
			delta := &metastore.CheckpointDelta{SourceID: queueSource, Partitions: map[string]metastore.PartitionDelta{c.name: {From: position(0), To: position(1_000_000)}}}
			request := metastore.PublishSplitsRequest{IndexUID: c.shared.uid, Delta: delta}
			return func(ctx context.Context, store metastore.Store) error { return store.PublishSplits(ctx, request) }, nil
		}),
		refusal("publish with another's token", &metastore.Error{Kind: metastore.KindInvalidPublishToken}, func(c *client) (calling, error) {
			delta := &metastore.CheckpointDelta{SourceID: ingestSource, Partitions: map[string]metastore.PartitionDelta{c.name: {From: position(0), To: position(1)}}}
			request := metastore.PublishSplitsRequest{IndexUID: c.shared.uid, Delta: delta, PublishToken: metastore.Some("another")}
			return func(ctx context.Context, store metastore.Store) error { return store.PublishSplits(ctx, request) }, nil
		}),
		refusal("add a source that exists", metastore.AlreadyExists(metastore.SourceEntity("", "")), func(c *client) (calling, error) {
			config, err := sourceConfig(queueSource, 7)
			return func(ctx context.Context, store metastore.Store) error {
				return store.AddSource(ctx, c.shared.uid, config)
			}, err
		}),
		refusal("toggle an unknown source", metastore.NotFound(metastore.SourceEntity("", "")), func(c *client) (calling, error) {
			id := c.newID()
			return func(ctx context.Context, store metastore.Store) error {
				return store.ToggleSource(ctx, c.own.uid, id, false)
			}, nil
		}),
		refusal("create a template that exists", metastore.AlreadyExists(metastore.IndexTemplateEntity("")), func(c *client) (calling, error) {
			made, err := template(c.name, 7)
			return func(ctx context.Context, store metastore.Store) error {
				return store.CreateIndexTemplate(ctx, made, false)
			}, err
		}),
		refusal("open a shard of an unknown source", metastore.NotFound(metastore.SourceEntity("", "")), func(c *client) (calling, error) {
			subrequest := metastore.OpenShardSubrequest{IndexUID: c.own.uid, SourceID: c.newID(), ShardID: "shard"}
			return func(ctx context.Context, store metastore.Store) error {
				_, err := store.OpenShards(ctx, []metastore.OpenShardSubrequest{subrequest})
				return err
			}, nil
		}),
	}
}
