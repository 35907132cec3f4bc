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

func (c *command) indexDelete(f *clientFlags) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete an index and the rows of its splits",
		Long: `Delete an index with all that the metastore knows about it, in any state. Split files are
not touched. On a terminal the command asks first; elsewhere it needs --yes.

Deleted is exactly the incarnation that was looked up (and shown): if somebody deletes the
index and creates it again meanwhile, the new one stays. ID may be a UID "ID:ULID". With
--idempotency-key it must be the one that the error named; the command does not ask then.

With --format json: {"index_uid": "..."}.`,
		Example: "  metastore index delete web-access --yes",
		Args:    oneArgument("ID", "which index?"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			if f.key.given {
				return c.finishDelete(cmd, f, args[0])
			}
			if !yes && !c.stdinTerminal {
				return usagef("delete index %q: stdin is no terminal, so --yes is needed", args[0])
			}
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				index, err := f.lookUp(ctx, client, args[0])
				if err != nil {
					return err
				}
				if !yes {
					if err := c.confirmDelete(ctx, f, client, index); err != nil {
						return err
					}
				}
				return c.deleteIndex(ctx, f, client, index.IndexUID)
			})
		}),
	}
	f.key.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// finishDelete repeats a call with its key. It looks nothing up: the index may be gone.
func (c *command) finishDelete(cmd *cobra.Command, f *clientFlags, name string) error {
	uid, err := metastore.ParseIndexUID(name)
	if err != nil {
		return usagef("--idempotency-key needs the UID of the index, as the error named it: %w", err)
	}
	return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
		return c.deleteIndex(ctx, f, client, uid)
	})
}

func (c *command) deleteIndex(ctx context.Context, f *clientFlags, client *rpc.Client, uid metastore.IndexUID) error {
	if err := f.key.begin(); err != nil {
		return err
	}
	f.key.command = fmt.Sprintf("`metastore index delete %s`", uid)
	if err := client.DeleteIndex(f.key.call(ctx), uid); err != nil {
		return f.explainChange(ctx, err, fmt.Sprintf("delete index %q", uid),
			fmt.Sprintf("`metastore index describe %s` shows whether it still exists; repeating the command is safe", uid))
	}
	if f.format == output.JSON {
		return json.NewEncoder(c.stdout).Encode(map[string]string{"index_uid": uid.String()})
	}
	return c.print("deleted index %s (UID %s)%s", uid.IndexID, uid, f.key.note())
}

// confirmDelete asks the person at the terminal to type the id of the index.
func (c *command) confirmDelete(ctx context.Context, f *clientFlags, client *rpc.Client, index *metastore.IndexMetadata) error {
	stats, err := f.statsOf(ctx, client, index.IndexUID)
	if err != nil {
		return err
	}
	splits := stats.Staged.NumSplits + stats.Published.NumSplits + stats.MarkedForDeletion.NumSplits
	question := fmt.Sprintf("Index %s (UID %s) has %s. Type its id to delete it: ", index.IndexUID.IndexID, index.IndexUID, output.Plural(splits, "split"))
	return c.confirm(ctx, question, index.IndexUID.IndexID, errors.New("not deleted: that was not the id of the index"))
}
