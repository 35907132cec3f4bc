package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/openstore"
	"holdfast/cmd/metastore/internal/output"
	"holdfast/cmd/metastore/internal/secrets"
	"holdfast/metastore/interop"
)

const importHelp = `Copy a file-backed metastore of Quickwit's into a Holdfast store: its indexes with their UIDs,
times, sources, checkpoints, shards, delete tasks and splits of every kind, the index
templates and the cluster identity. The split files stay where they are.

Stop Quickwit first. --from is what its metastore_uri says: a directory, file:///dir,
s3://bucket/prefix, gs:// or azure://, with or without #polling_interval=30s. Documents of the
versions 0.7, 0.8 and 0.9 are read. Nothing in it is changed.

Each index is read back and compared with the original, document by document, before it can be
seen. What Quickwit ignores in a document and the store has no place for is named. An import that
failed or was killed goes on when the same command is repeated.

The exit status is 0 when all was copied, 1 on failure, 2 when the command line is wrong, and 3
when something needs a person: an index that cannot be read, or that differs from one that is
there, or a value that was not carried as it is. The runbook is docs/migrate.md.`

const importExample = `  metastore import --from /var/lib/quickwit/indexes --store ./data
  metastore import --from 's3://bucket/indexes#polling_interval=30s' --store s3://bucket/holdfast --dry-run`

const exportHelp = `Write what a Holdfast store holds as a file-backed metastore that Quickwit opens. The split
files stay where they are.

Stop all servers first: what is written after an index was copied is not exported. Each index
is read back and compared, and the manifest is written last, so Quickwit sees all or nothing
of a new store. An export that failed or was killed goes on when the same command is repeated.

The exit status is 0 when all was copied, 1 on failure, 2 when the command line is wrong, and 3
when something needs a person. The runbook is docs/migrate.md.`

const exportExample = `  metastore export --store ./data --to /var/lib/quickwit/indexes
  metastore export --store s3://bucket/holdfast --to s3://bucket/indexes --force`

// transferFlags are the flags of import and export.
type transferFlags struct {
	store  string // ours
	theirs string // Quickwit's
	interop.Options
	format output.Format
}

func (c *command) importCommand() *cobra.Command {
	f := &transferFlags{}
	cmd := &cobra.Command{
		Use: "import --from DIR|URL --store URL", Short: "Copy a file-backed metastore of Quickwit's into a store",
		Long: importHelp, Example: importExample, Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			f.From, f.To = f.theirs, f.store
			return c.transfer(cmd, f, "import", "from", interop.Import)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.theirs, "from", "", "Quickwit's store, as in its metastore_uri (required)")
	flags.StringVar(&f.store, "store", "", "the store to fill, as for serve: a directory or a bucket (required)")
	flags.BoolVar(&f.DryRun, "dry-run", false, "read and check everything, and write nothing")
	flags.BoolVar(&f.Force, "force", false, "add to a store that is not empty; what is there stays as it is")
	f.addCommon(cmd)
	return cmd
}

func (c *command) exportCommand() *cobra.Command {
	f := &transferFlags{}
	cmd := &cobra.Command{
		Use: "export --store URL --to DIR|URL", Short: "Write a store as a file-backed metastore of Quickwit's",
		Long: exportHelp, Example: exportExample, Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			f.From, f.To = f.store, f.theirs
			return c.transfer(cmd, f, "export", "to", interop.Export)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "the store to copy, as for serve: a directory or a bucket (required)")
	flags.StringVar(&f.theirs, "to", "", "Quickwit's store to write, as in its metastore_uri (required)")
	flags.BoolVar(&f.Force, "force", false, "replace the store of Quickwit's that is there")
	f.addCommon(cmd)
	return cmd
}

func (f *transferFlags) addCommon(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.TakeOver, "take-over", false, "go on although another process is said to write there; it must have ended")
	cmd.Flags().Var(&f.format, "format", "how to write the result: text, or json for machines")
	f.format = output.Text
}

// validate checks the URLs; theirs is the name of the flag for Quickwit's.
func (f *transferFlags) validate(theirs string) error {
	switch {
	case f.theirs == "":
		return usagef("--%s is missing: a directory or a URL, as in Quickwit's metastore_uri", theirs)
	case f.store == "":
		return usagef("--store is missing: a directory or a URL, as for serve")
	case openstore.IsPostgres(f.theirs) || openstore.IsPostgres(f.store):
		return usagef("PostgreSQL needs no copy: Quickwit and Holdfast use the same database; see docs/migrate.md")
	}
	if err := interop.CheckLocation(f.theirs); err != nil {
		return usagef("--%s: %w", theirs, err)
	}
	if err := openstore.Validate(f.store); err != nil {
		return usagef("--store: %w", err)
	}
	if err := interop.CheckLocation(f.store); err != nil {
		return usagef("--store: %w", err)
	}
	return nil
}

func (c *command) transfer(cmd *cobra.Command, f *transferFlags, name, theirs string, do func(context.Context, interop.Options) (*interop.Summary, error)) error {
	// The settings may hold a store for serve, which is not meant here.
	if !cmd.Flags().Changed("store") {
		f.store = ""
	}
	if err := f.validate(theirs); err != nil {
		return err
	}
	c.stderr = secrets.NewWriter(c.stderr, append(secrets.Find(f.From), secrets.Find(f.To)...))
	ctx, cancel := c.interruptible(cmd.Context())
	defer cancel()
	progress := newTransferProgress(c.system, f.format == output.JSON)
	f.Mask, f.Progress = secrets.MaskURL, progress.tell
	summary, err := do(ctx, f.Options)
	progress.finish()
	if err != nil {
		if context.Cause(ctx) == errInterrupted {
			err = errInterrupted
		}
		if summary != nil && f.format == output.Text {
			// What was done before the failure; what the result says about a person comes second now.
			if printing := c.printTransferIndexes(summary); printing != nil {
				err = errors.Join(err, printing)
			}
		}
		return explainTransfer(name, err, summary != nil)
	}
	return c.printTransfer(f, name, summary)
}

// explainTransfer adds what to do next. begun is true if something may have been written.
func explainTransfer(name string, err error, begun bool) error {
	failed := fmt.Errorf("%s: %w", name, err)
	switch {
	case errors.Is(err, interop.ErrBusy):
		return withHint(failed, "if that process has ended, add --take-over")
	case errors.Is(err, interop.ErrNotEmpty) && name == "import":
		return withHint(failed, "nothing was changed; name an empty store, or add to this one with --force, which replaces nothing")
	case errors.Is(err, interop.ErrNotEmpty):
		return withHint(failed, "nothing was changed; name another place, or replace the store of Quickwit's that is there with --force")
	case !begun:
		return withHint(failed, "nothing was changed")
	}
	return withHint(failed, "repeat the same command to go on; what was copied completely stays")
}
