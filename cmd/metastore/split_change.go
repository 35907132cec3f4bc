package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// publication is what publish prints as JSON.
type publication struct {
	IndexUID  string   `json:"index_uid"`
	Published []string `json:"published"`
	Replaced  []string `json:"replaced"`
}

func (c *command) splitPublish(f *splitFlags) *cobra.Command {
	var replaced []string
	cmd := &cobra.Command{
		Use:   "publish --index ID [--replace ID]... ID...",
		Short: "Publish staged splits, replacing published ones",
		Long: `Publish staged splits, so that they are searched, and in the same step mark the published
splits that they replace for deletion. All or nothing: if one split is unknown or in another
state, nothing changes.

With --format json: {"index_uid", "published": [ID], "replaced": [ID]}.`,
		Example: `  metastore split publish --index web-access 01M8P1J7FR1XNB4CEKH7EWG1BC
  metastore split publish --index web-access --replace OLD1 --replace OLD2 MERGED`,
		RunE: c.work(func(cmd *cobra.Command, ids []string) error {
			ids, replaced := metastore.UniqueSplitIDs(ids), metastore.UniqueSplitIDs(replaced)
			if err := f.validate(); err != nil {
				return err
			}
			if len(ids)+len(replaced) == 0 {
				return usagef("no split id is given: which splits?")
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				uid, err := f.beginChange(ctx, client)
				if err != nil {
					return err
				}
				request := metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids, ReplacedSplitIDs: replaced}
				if err := client.PublishSplits(f.key.call(ctx), request); err != nil {
					return f.changeFailed(ctx, err, "publish splits of", "a split that is published already cannot be published again")
				}
				if f.format == output.JSON {
					return json.NewEncoder(c.stdout).Encode(publication{uid.String(), orEmpty(ids), orEmpty(replaced)})
				}
				text := output.Plural(len(ids), "split") + " published"
				if len(replaced) > 0 {
					text += ", " + output.Plural(len(replaced), "replaced split") + " marked for deletion"
				}
				return c.print("index %s: %s%s", uid.IndexID, text, f.key.note())
			})
		}),
	}
	f.key.add(cmd)
	cmd.Flags().StringArrayVar(&replaced, "replace", nil, "a published split that is replaced; may be given several times")
	return cmd
}

func (c *command) splitMark(f *splitFlags) *cobra.Command {
	return c.splitChange(f, change{
		use:   "mark-for-deletion --index ID ID...",
		short: "Mark splits for deletion",
		long: `Mark splits for deletion, in whatever state they are: they are no longer searched, and
delete may remove them. Splits that are marked already, and ids that the index does not
have, are left alone.

With --format json: {"index_uid", "marked_for_deletion": [ID]}, the ids as given.`,
		example: "  metastore split mark-for-deletion --index web-access 01M8P1J7FR1XNB4CEKH7EWG1BC",
		doing:   "mark splits of",
		done:    "marked for deletion",
		key:     "marked_for_deletion",
		call:    (*rpc.Client).MarkSplitsForDeletion,
	})
}

func (c *command) splitDelete(f *splitFlags) *cobra.Command {
	return c.splitChange(f, change{
		use:   "delete --index ID ID...",
		short: "Delete the rows of splits that are marked for deletion",
		long: `Delete the rows of splits that are marked for deletion. Split files are not touched. All or
nothing: if one split is staged or published, nothing is deleted. Ids that the index does
not have are left alone.

With --format json: {"index_uid", "deleted": [ID]}, the ids as given.`,
		example: "  metastore split delete --index web-access 01M8P1J7FR1XNB4CEKH7EWG1BC",
		doing:   "delete splits of",
		done:    "deleted",
		key:     "deleted",
		call:    (*rpc.Client).DeleteSplits,
	})
}

// change is a command that does one thing to a list of splits and may be repeated.
type change struct {
	use, short, long, example string
	doing, done, key          string
	call                      func(client *rpc.Client, ctx context.Context, uid metastore.IndexUID, ids []string) error
}

func (c *command) splitChange(f *splitFlags, change change) *cobra.Command {
	cmd := &cobra.Command{
		Use:     change.use,
		Short:   change.short,
		Long:    change.long,
		Example: change.example,
		RunE: c.work(func(cmd *cobra.Command, ids []string) error {
			ids = metastore.UniqueSplitIDs(ids)
			if err := f.validate(); err != nil {
				return err
			}
			if len(ids) == 0 {
				return usagef("no split id is given: which splits?")
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				uid, err := f.beginChange(ctx, client)
				if err != nil {
					return err
				}
				if err := change.call(client, f.key.call(ctx), uid, ids); err != nil {
					return f.changeFailed(ctx, err, change.doing, "repeating the command is safe")
				}
				if f.format == output.JSON {
					list, err := json.Marshal(ids)
					if err != nil {
						return err
					}
					return c.print(`{"index_uid":"%s","%s":%s}`, uid, change.key, list)
				}
				return c.print("index %s: %s %s; ids that it does not have are ignored%s",
					uid.IndexID, output.Plural(len(ids), "split"), change.done, f.key.note())
			})
		}),
	}
	f.key.add(cmd)
	return cmd
}

// beginChange finds the index, and makes the key of the call.
func (f *splitFlags) beginChange(ctx context.Context, client *rpc.Client) (metastore.IndexUID, error) {
	if err := f.key.begin(); err != nil {
		return metastore.IndexUID{}, err
	}
	return f.indexUID(ctx, client)
}

// changeFailed explains why splits were not changed.
func (f *splitFlags) changeFailed(ctx context.Context, err error, doing, again string) error {
	what := fmt.Sprintf("%s index %q", doing, f.index)
	if isAbout(err, metastore.EntitySplits) || isAbout(err, metastore.EntitySplit) {
		return withHint(fmt.Errorf("%s: %w", what, err), "nothing was changed; `metastore split list --index %s` shows the states", f.index)
	}
	return f.explainChange(ctx, err, what, f.howToCheck(again))
}

// orEmpty makes a nil list an empty one, which is written as [].
func orEmpty(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
