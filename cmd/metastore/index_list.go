package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

func (c *command) indexList(f *clientFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list [PATTERN]...",
		Short: "List the indexes and how many splits they have",
		Long: `List the indexes whose id matches one of the patterns, all by default. A pattern may hold
"*"; one that begins with "-" takes indexes out again (write -- before it).

With --format json: an array of the index documents.`,
		Example: `  metastore index list
  metastore index list 'web-*' --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"*"}
			}
			patterns, err := indexconfig.ParseIndexIDPatterns(args)
			if err != nil {
				return usagef("%w", err)
			}
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				return c.listIndexes(ctx, f, client, patterns)
			})
		}),
	}
}

func (c *command) listIndexes(ctx context.Context, f *clientFlags, client *rpc.Client, patterns *indexconfig.IndexIDPatterns) error {
	indexes, err := client.ListIndexesMetadata(ctx, patterns)
	if err != nil {
		return f.explain(ctx, err, "list indexes")
	}
	if f.format == output.JSON {
		return output.WriteArray(c.stdout, indexes)
	}
	stats, err := client.ListIndexStats(ctx, patterns)
	if err != nil {
		return f.explain(ctx, err, "count splits")
	}
	counts := make(map[metastore.IndexUID]metastore.IndexStats, len(stats))
	for _, s := range stats {
		counts[s.IndexUID] = s
	}
	table := output.NewTable(c.stdout, "INDEX", "INCARNATION", ">STAGED", ">PUBLISHED", ">MARKED", ">PUBLISHED SIZE", "CREATED (UTC)", "INDEX URI")
	for _, index := range indexes {
		s := counts[index.IndexUID]
		if err := table.Row(
			index.IndexUID.IndexID,
			index.IndexUID.Incarnation.String(),
			output.Count(s.Staged.NumSplits),
			output.Count(s.Published.NumSplits),
			output.Count(s.MarkedForDeletion.NumSplits),
			output.Bytes(s.Published.TotalSizeBytes),
			output.Seconds(index.CreateTimestamp),
			index.Config.IndexURI,
		); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	if len(indexes) == 0 {
		_, err = fmt.Fprintln(c.stderr, "no index matches; `metastore index create --config FILE` makes one")
	}
	return err
}
