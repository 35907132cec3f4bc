package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// removal is a command that takes something away from a source. It asks first.
type removal struct {
	use, short, long, example string
	// doing names the command in errors, ask in the question, done says what happened to the source.
	doing, ask, done string
	// lost is what is gone afterwards, beside the progress in the checkpoint.
	lost string
	call func(client *rpc.Client, ctx context.Context, uid metastore.IndexUID, sourceID string) error
}

func (c *command) sourceDelete(f *splitFlags) *cobra.Command {
	return c.sourceRemoval(f, removal{
		use:   "delete --index ID SOURCE",
		short: "Delete a source with its checkpoint and its shards",
		long: `Delete a source with its config, its checkpoint and its shards. Splits stay. A source that is added
again begins anew, and its documents are indexed a second time. To stop it for a while use
` + "`metastore source disable`" + `.

On a terminal the command asks first; elsewhere it needs --yes. With --idempotency-key it does
not ask.

With --format json: {"index_uid", "source_id"}.`,
		example: "  metastore source delete --index web-access edge-kafka --yes",
		doing:   "delete",
		ask:     "delete it",
		done:    "deleted",
		lost:    "its config, its shards and ",
		call:    (*rpc.Client).DeleteSource,
	})
}

func (c *command) sourceResetCheckpoint(f *splitFlags) *cobra.Command {
	return c.sourceRemoval(f, removal{
		use:   "reset-checkpoint --index ID SOURCE",
		short: "Forget up to where a source is published",
		long: `Remove the checkpoint of a source, so that indexers read the source from its beginning. Documents
that are in splits already are indexed a second time. Disable the source first, and delete the
splits if that is not wanted. Shards keep their positions. A source without a checkpoint
stays as it is.

On a terminal the command asks first; elsewhere it needs --yes. With --idempotency-key it does
not ask.

With --format json: {"index_uid", "source_id"}.`,
		example: `  metastore source disable --index web-access edge-kafka
  metastore source reset-checkpoint --index web-access edge-kafka --yes`,
		doing: "reset the checkpoint of",
		ask:   "reset its checkpoint",
		done:  "has no checkpoint any more",
		call:  (*rpc.Client).ResetSourceCheckpoint,
	})
}

func (c *command) sourceRemoval(f *splitFlags, removal removal) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:     removal.use,
		Short:   removal.short,
		Long:    removal.long,
		Example: removal.example,
		Args:    oneArgument("SOURCE", "which source?"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			asks := !yes && !f.key.given
			if asks && !c.stdinTerminal {
				return usagef("%s source %q: stdin is no terminal, so --yes is needed", removal.doing, args[0])
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				uid, err := c.sourceToRemove(ctx, f, client, removal, args[0], asks)
				if err != nil {
					return err
				}
				return c.removeFromSource(ctx, f, client, removal, uid, args[0])
			})
		}),
	}
	f.key.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// sourceToRemove finds the index and the source. To finish a call with its key the source is not looked for: it may
// be gone.
func (c *command) sourceToRemove(ctx context.Context, f *splitFlags, client *rpc.Client, removal removal, sourceID string, asks bool) (metastore.IndexUID, error) {
	if f.key.given {
		return f.indexUID(ctx, client)
	}
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return metastore.IndexUID{}, err
	}
	source, err := index.Source(sourceID)
	if err != nil {
		return metastore.IndexUID{}, f.sourceMissing(err, fmt.Sprintf("%s source %q of index %q", removal.doing, sourceID, f.index))
	}
	if !asks {
		return index.IndexUID, nil
	}
	question := fmt.Sprintf("Source %s of index %s (UID %s) loses %sits progress in the checkpoint (%s). Type the id of the source to %s: ",
		sourceID, index.IndexUID.IndexID, index.IndexUID, removal.lost, progressOfSource(index, source), removal.ask)
	return index.IndexUID, c.confirm(ctx, question, sourceID, errors.New("nothing was changed: that was not the id of the source"))
}

func (c *command) removeFromSource(ctx context.Context, f *splitFlags, client *rpc.Client, removal removal, uid metastore.IndexUID, sourceID string) error {
	if err := f.key.begin(); err != nil {
		return err
	}
	if err := removal.call(client, f.key.call(ctx), uid, sourceID); err != nil {
		return f.sourceFailed(ctx, err, removal.doing, sourceID, "repeating the command is safe")
	}
	if f.format == output.JSON {
		return json.NewEncoder(c.stdout).Encode(changeOfSource{IndexUID: uid.String(), SourceID: sourceID})
	}
	return c.print("index %s: source %s %s%s", uid.IndexID, sourceID, removal.done, f.key.note())
}
