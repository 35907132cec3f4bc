package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

func (c *command) shard() *cobra.Command {
	f := &splitFlags{}
	group := c.group("shard", "List shards", "List the shards of an index of a running metastore server.", c.shardList(f))
	f.add(group)
	group.PersistentFlags().StringVar(&f.index, "index", "", "id of the index, or its UID ID:ULID (required)")
	return group
}

func (c *command) shardList(f *splitFlags) *cobra.Command {
	var source string
	cmd := &cobra.Command{
		Use:   "list --index ID [--source ID]",
		Short: "List the shards of an index",
		Long: `List the shards of the sources of an index, or of one source, in the order of their ids.

With --format json: an array of the shard documents.`,
		Example: `  metastore shard list --index web-access
  metastore shard list --index web-access --source _ingest-source --format json`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			one := metastore.Optional[string]{Value: source, Set: cmd.Flags().Changed("source")}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				return c.listShards(ctx, f, client, one)
			})
		}),
	}
	cmd.Flags().StringVar(&source, "source", "", "only the shards of this source (default all sources)")
	return cmd
}

func (c *command) listShards(ctx context.Context, f *splitFlags, client *rpc.Client, source metastore.Optional[string]) error {
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return err
	}
	var subrequests []metastore.ListShardsSubrequest
	for _, config := range index.Sources {
		if !source.Set || config.SourceID == source.Value {
			subrequests = append(subrequests, metastore.ListShardsSubrequest{IndexUID: index.IndexUID, SourceID: config.SourceID})
		}
	}
	if source.Set && len(subrequests) == 0 {
		err := metastore.NotFound(metastore.SourceEntity(index.IndexUID.IndexID, source.Value))
		return f.explain(ctx, err, fmt.Sprintf("list shards of index %q", f.index))
	}
	lists, err := client.ListShards(ctx, subrequests)
	if err != nil {
		return f.explain(ctx, err, fmt.Sprintf("list shards of index %q", f.index))
	}
	if f.format == output.JSON {
		array := output.NewArray(c.stdout)
		for _, shards := range lists {
			for i := range shards {
				if err := array.Element(shards[i].AppendJSON(nil)); err != nil {
					return err
				}
			}
		}
		return array.Close()
	}
	return c.printShards(lists)
}

func (c *command) printShards(lists [][]metastore.Shard) error {
	table := output.NewTable(c.stdout, "SOURCE", "SHARD", "STATE", "POSITION", "UPDATED (UTC)", "INGESTER", "PUBLISH TOKEN")
	count := 0
	for _, shards := range lists {
		for i := range shards {
			count++
			shard := &shards[i]
			if err := table.Row(
				shard.SourceID, shard.ShardID, shard.State.String(), string(shard.Position), output.Seconds(shard.UpdateTimestamp), shard.IngesterID, shard.PublishToken.Value,
			); err != nil {
				return err
			}
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	return c.print("%s", output.Plural(count, "shard"))
}
