package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

const sourceAddHelp = `Add a source to an index, from a config file in YAML or JSON, in the format of Quickwit's source
configs. The file must hold at least a version, an id, a type, and the parameters of that type:

  version: 0.9
  source_id: edge-kafka
  source_type: kafka
  num_pipelines: 2
  params:
    topic: edge-logs
    client_params:
      bootstrap.servers: kafka-1:9092

Nothing connects to the source; indexers begin to read it when they learn of it. Progress that
a source of the same id left behind in the checkpoint counts for the new one.
A source whose id exists is not touched.

With --format json: {"index_uid", "source_id"}.`

const sourceUpdateHelp = `Replace the config of a source by that of a file in YAML or JSON; the id in the file says which
source. All of the config is replaced: what the file does not hold gets its default, so
` + "`enabled: false`" + ` has to be in it for a source that shall stay disabled. The checkpoint and the
shards of the source stay. ` + "`metastore source add --help`" + ` shows a file, and

  metastore source describe --index web-access edge-kafka --format json

prints the config that there is as "source".

With --format json: {"index_uid", "source_id"}.`

// configChange is a command that sends the config of a source.
type configChange struct {
	use, short, long, example string
	doing, done, again        string
	call                      func(client *rpc.Client, ctx context.Context, uid metastore.IndexUID, source *indexconfig.SourceConfig) error
}

func (c *command) sourceAdd(f *splitFlags) *cobra.Command {
	return c.sourceConfigChange(f, configChange{
		use:     "add --index ID --config FILE",
		short:   "Add a source to an index from a config file",
		long:    sourceAddHelp,
		example: "  metastore source add --index web-access --config edge-kafka.yaml",
		doing:   "add",
		done:    "added",
		again:   "a source that is there is not added again",
		call:    (*rpc.Client).AddSource,
	})
}

func (c *command) sourceUpdate(f *splitFlags) *cobra.Command {
	return c.sourceConfigChange(f, configChange{
		use:     "update --index ID --config FILE",
		short:   "Replace the config of a source",
		long:    sourceUpdateHelp,
		example: "  metastore source update --index web-access --config edge-kafka.yaml",
		doing:   "update",
		done:    "updated",
		again:   "repeating the command is safe",
		call:    (*rpc.Client).UpdateSource,
	})
}

func (c *command) sourceConfigChange(f *splitFlags, change configChange) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:     change.use,
		Short:   change.short,
		Long:    change.long,
		Example: change.example,
		Args:    cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			if path == "" {
				return usagef("--config is missing: which file holds the source config?")
			}
			source, err := c.readSourceConfig(path)
			if err != nil {
				return err
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				uid, err := f.beginChange(ctx, client)
				if err != nil {
					return err
				}
				if err := change.call(client, f.key.call(ctx), uid, source); err != nil {
					return f.sourceFailed(ctx, err, change.doing, source.SourceID, change.again)
				}
				if f.format == output.JSON {
					return json.NewEncoder(c.stdout).Encode(changeOfSource{IndexUID: uid.String(), SourceID: source.SourceID})
				}
				return c.print("index %s: source %s %s%s", uid.IndexID, source.SourceID, change.done, f.key.note())
			})
		}),
	}
	f.key.add(cmd)
	addConfigFlag(cmd, &path, "source config")
	return cmd
}

// addConfigFlag adds a --config of the command's own, which hides that of the settings.
func addConfigFlag(cmd *cobra.Command, path *string, what string) {
	cmd.Flags().StringVar(path, "config", "", "file with the "+what+", - for stdin (settings of this command\ncome from $HOLDFAST_CONFIG)")
}

func (c *command) readSourceConfig(path string) (*indexconfig.SourceConfig, error) {
	text, err := c.readConfigFile(path, "source config")
	if err != nil {
		return nil, err
	}
	source, err := indexconfig.ParseSourceConfig(text)
	if err != nil {
		return nil, withHint(fmt.Errorf("source config %s: %w", path, err), "`metastore source add --help` shows a config")
	}
	return source, nil
}
