package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

func (c *command) indexDescribe(f *clientFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "describe ID",
		Short: "Show one index: settings, sources, checkpoints, counts",
		Long: `Show one index, named by its id or by its UID "ID:ULID".

With --format json: the index document.`,
		Example: "  metastore index describe web-access",
		Args:    oneArgument("ID", "which index?"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				index, err := f.lookUp(ctx, client, args[0])
				if err != nil {
					return err
				}
				if f.format == output.JSON {
					return c.printDocument(index)
				}
				return c.describeIndex(ctx, f, client, index)
			})
		}),
	}
}

func (c *command) printDocument(index *metastore.IndexMetadata) error {
	return c.print("%s", index.AppendJSON(nil))
}

func (c *command) describeIndex(ctx context.Context, f *clientFlags, client *rpc.Client, index *metastore.IndexMetadata) error {
	stats, err := f.statsOf(ctx, client, index.IndexUID)
	if err != nil {
		return err
	}
	for _, field := range describeFields(index, stats) {
		if err := c.print("%-16s  %s", field[0], field[1]); err != nil {
			return err
		}
	}
	if err := c.describeSources(index); err != nil {
		return err
	}
	return c.describeCheckpoints(index)
}

func (f *clientFlags) statsOf(ctx context.Context, client *rpc.Client, uid metastore.IndexUID) (metastore.IndexStats, error) {
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{uid.IndexID})
	if err != nil {
		return metastore.IndexStats{}, err
	}
	all, err := client.ListIndexStats(ctx, patterns)
	if err != nil {
		return metastore.IndexStats{}, f.explain(ctx, err, "count splits")
	}
	for _, stats := range all {
		if stats.IndexUID == uid {
			return stats, nil
		}
	}
	return metastore.IndexStats{}, nil
}

func describeFields(index *metastore.IndexMetadata, stats metastore.IndexStats) [][2]string {
	config := index.Config
	retention := "for ever"
	if config.Retention != nil {
		retention = config.Retention.Period + ", checked " + config.Retention.Schedule
	}
	split := func(s metastore.SplitStats) string {
		return output.Plural(s.NumSplits, "split") + ", " + output.Bytes(s.TotalSizeBytes)
	}
	return [][2]string{
		{"Index", index.IndexUID.IndexID},
		{"UID", index.IndexUID.String()},
		{"URI", config.IndexURI},
		{"Created", output.Seconds(index.CreateTimestamp) + " UTC"},
		{"Doc mapping", config.DocMapping.UID.String() + ", " + config.DocMapping.Mode + ", " + output.Plural(len(config.DocMapping.Fields), "field")},
		{"Timestamp field", orNone(config.DocMapping.TimestampField)},
		{"Tag fields", listOrNone(config.DocMapping.TagFields)},
		{"Partition key", orNone(config.DocMapping.PartitionKey)},
		{"Merge policy", config.IndexingSettings.MergePolicy.Type},
		{"Keep splits", retention},
		{"Staged", split(stats.Staged)},
		{"Published", split(stats.Published)},
		{"Marked", split(stats.MarkedForDeletion)},
	}
}

func (c *command) describeSources(index *metastore.IndexMetadata) error {
	if len(index.Sources) == 0 {
		return c.print("%-16s  none", "Sources")
	}
	if err := c.print(""); err != nil {
		return err
	}
	table := output.NewTable(c.stdout, "SOURCE", "TYPE", "ENABLED", ">PIPELINES", "INPUT FORMAT")
	for _, source := range index.Sources {
		if err := table.Row(source.SourceID, source.SourceType, yesOrNo(source.Enabled), output.Count(source.NumPipelines), source.InputFormat); err != nil {
			return err
		}
	}
	return table.Close()
}

func (c *command) describeCheckpoints(index *metastore.IndexMetadata) error {
	table := output.NewTable(c.stdout, "SOURCE", "PARTITION", "PUBLISHED UP TO")
	rows := 0
	for _, source := range slices.Sorted(maps.Keys(index.Checkpoint)) {
		partitions := index.Checkpoint[source]
		for _, partition := range slices.Sorted(maps.Keys(partitions)) {
			position := partitions[partition]
			if position == "" {
				position = "the beginning"
			}
			if rows == 0 {
				if err := c.print(""); err != nil {
					return err
				}
			}
			rows++
			if err := table.Row(source, partition, string(position)); err != nil {
				return err
			}
		}
	}
	if rows == 0 {
		return nil
	}
	return table.Close()
}

func orNone(text *string) string {
	if text == nil {
		return "none"
	}
	return *text
}

func listOrNone(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
