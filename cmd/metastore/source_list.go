package main

import (
	"context"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore/rpc"
)

func (c *command) sourceList(f *splitFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list --index ID",
		Short: "List the sources of an index",
		Long: `List the sources of an index, and where their progress is: in how many partitions of the
checkpoint, or in shards, which ` + "`metastore shard list`" + ` shows.

With --format json: an array of the source configs.`,
		Example: `  metastore source list --index web-access
  metastore source list --index web-access --format json`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				return c.listSources(ctx, f, client)
			})
		}),
	}
}

func (c *command) listSources(ctx context.Context, f *splitFlags, client *rpc.Client) error {
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return err
	}
	if f.format == output.JSON {
		return output.WriteArray(c.stdout, index.Sources)
	}
	table := output.NewTable(c.stdout, "SOURCE", "TYPE", "ENABLED", ">PIPELINES", "INPUT FORMAT", "PROGRESS")
	for _, source := range index.Sources {
		if err := table.Row(
			source.SourceID, source.SourceType, yesOrNo(source.Enabled), output.Count(source.NumPipelines), source.InputFormat, progressOfSource(index, source),
		); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	return c.print("%s", output.Plural(len(index.Sources), "source"))
}
