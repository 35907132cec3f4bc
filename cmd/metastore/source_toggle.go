package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore/rpc"
)

// sourceToggle is the command enable, or disable.
func (c *command) sourceToggle(f *splitFlags, enable bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "disable --index ID SOURCE",
		Short: "Have indexers stop reading a source",
		Long: `Disable a source: indexers stop to read it. Its config, its checkpoint and its shards stay, so that
` + "`metastore source enable`" + ` goes on where it stopped. One that is disabled stays so.

With --format json: {"index_uid", "source_id", "enabled": false}.`,
		Example: "  metastore source disable --index web-access edge-kafka",
	}
	doing, done := "disable", "disabled"
	if enable {
		doing, done = "enable", "enabled"
		cmd = &cobra.Command{
			Use:   "enable --index ID SOURCE",
			Short: "Have indexers read a source again",
			Long: `Enable a source that is disabled: indexers read it again, from where its checkpoint or its shards
say that it is published. One that is enabled stays so.

With --format json: {"index_uid", "source_id", "enabled": true}.`,
			Example: "  metastore source enable --index web-access edge-kafka",
		}
	}
	cmd.Args = oneArgument("SOURCE", "which source?")
	cmd.RunE = c.work(func(cmd *cobra.Command, args []string) error {
		if err := f.validate(); err != nil {
			return err
		}
		return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
			uid, err := f.beginChange(ctx, client)
			if err != nil {
				return err
			}
			if err := client.ToggleSource(f.key.call(ctx), uid, args[0], enable); err != nil {
				return f.sourceFailed(ctx, err, doing, args[0], "repeating the command is safe")
			}
			if f.format == output.JSON {
				return json.NewEncoder(c.stdout).Encode(changeOfSource{uid.String(), args[0], &enable})
			}
			return c.print("index %s: source %s is %s%s", uid.IndexID, args[0], done, f.key.note())
		})
	})
	f.key.add(cmd)
	return cmd
}
