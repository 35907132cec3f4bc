package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

// describedSource is what describe prints as JSON.
type describedSource struct {
	IndexUID string          `json:"index_uid"`
	Source   json.RawMessage `json:"source"`
	// Checkpoint is null if there is no entry for the source.
	Checkpoint metastore.SourceCheckpoint `json:"checkpoint"`
}

func (c *command) sourceDescribe(f *splitFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "describe --index ID SOURCE",
		Short: "Show one source: its config and its checkpoint",
		Long: `Show the config of a source, parameters with secrets in them included, and up to where each of
its partitions is published. Positions of ingest sources are in their shards, which
` + "`metastore shard list`" + ` shows.

With --format json: {"index_uid", "source": the source config, "checkpoint": {PARTITION: POSITION},
null if the source has none}.`,
		Example: "  metastore source describe --index web-access edge-kafka",
		Args:    oneArgument("SOURCE", "which source?"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				index, err := f.lookUp(ctx, client, f.index)
				if err != nil {
					return err
				}
				source, err := index.Source(args[0])
				if err != nil {
					return f.sourceMissing(err, fmt.Sprintf("describe source %q of index %q", args[0], f.index))
				}
				return c.describeSource(f, index, source)
			})
		}),
	}
}

func (c *command) describeSource(f *splitFlags, index *metastore.IndexMetadata, source *indexconfig.SourceConfig) error {
	checkpoint := index.Checkpoint[source.SourceID]
	if f.format == output.JSON {
		return json.NewEncoder(c.stdout).Encode(describedSource{index.IndexUID.String(), source.AppendJSON(nil), checkpoint})
	}
	progress := progressOfSource(index, source)
	if source.UsesShards() {
		progress += fmt.Sprintf("; `metastore shard list --index %s --source %s` shows them", f.index, source.SourceID)
	}
	fields := [][2]string{
		{"Source", source.SourceID},
		{"Index", fmt.Sprintf("%s (UID %s)", index.IndexUID.IndexID, index.IndexUID)},
		{"Type", source.SourceType},
		{"Enabled", yesOrNo(source.Enabled)},
		{"Pipelines", output.Count(source.NumPipelines)},
		{"Input format", source.InputFormat},
		{"Parameters", "none"},
		{"Transform", "none"},
		{"Progress", progress},
	}
	if len(source.Params) > 0 && string(source.Params) != "null" {
		fields[6][1] = visible(string(source.Params))
	}
	if source.Transform != nil {
		fields[7][1] = visible(fmt.Sprintf("%s (times in %s)", source.Transform.Script, source.Transform.Timezone))
	}
	for _, field := range fields {
		if err := c.print("%-16s  %s", field[0], field[1]); err != nil {
			return err
		}
	}
	if len(checkpoint) == 0 {
		return nil
	}
	if err := c.print(""); err != nil {
		return err
	}
	table := output.NewTable(c.stdout, "PARTITION", "PUBLISHED UP TO")
	for _, partition := range slices.Sorted(maps.Keys(checkpoint)) {
		position := string(checkpoint[partition])
		if position == "" {
			position = "the beginning"
		}
		if err := table.Row(partition, position); err != nil {
			return err
		}
	}
	return table.Close()
}
