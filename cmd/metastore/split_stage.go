package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/staging"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

const (
	defaultBatchSize = 1000
	maxBatchSize     = 10_000
)

const splitStageHelp = `Stage splits from a file, or from stdin for "-". The input is one of

  a JSON array of split metadata documents
  JSON lines, one split metadata document in a line; or just one document
  a metastore.json of Quickwit's file-backed metastore, whose "splits" are taken
  what "split list --format json" printed

Without --create-only a split that is staged already is written again, and a split in
another state is an error. With --create-only a split that the metastore has, in whatever
state, is left untouched and reported as skipped: so the command can be repeated at any
time and stages only what is missing.

The splits are staged for the index that is named, whatever index their documents name.
Inputs of any size are read in bounded memory and sent in batches. Each batch is all or
nothing. A file is checked as a whole before the first batch is sent; stdin cannot be.

With --format json: {"index_uid", "create_only", "staged": [ID], "skipped": [{"split_id",
"split_state"}]}; without --create-only, "staged" holds the ids that were sent.`

type stageFlags struct {
	*splitFlags
	createOnly bool
	batchSize  int
}

func (c *command) splitStage(f *splitFlags) *cobra.Command {
	s := &stageFlags{splitFlags: f}
	cmd := &cobra.Command{
		Use:   "stage --index ID [--create-only] FILE|-",
		Short: "Stage splits from a file",
		Long:  splitStageHelp,
		Example: `  metastore split stage --index web-access --create-only splits.json
  metastore split list --index old --format json | metastore split stage --index new --create-only -`,
		Args: oneArgument("FILE", "which file holds the splits? - is stdin"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			if err := s.validate(); err != nil {
				return err
			}
			input, err := c.openInput(args[0])
			if err != nil {
				return err
			}
			defer input.close()
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				return c.stageSplits(ctx, s, client, input)
			})
		}),
	}
	f.key.add(cmd)
	cmd.Flags().BoolVar(&s.createOnly, "create-only", false, "leave splits that exist, in whatever state, untouched")
	cmd.Flags().IntVar(&s.batchSize, "batch-size", defaultBatchSize, "the most splits in one batch")
	return cmd
}

func (s *stageFlags) validate() error {
	if s.batchSize < 1 || s.batchSize > maxBatchSize {
		return usagef("--batch-size is %d, must be from 1 to %d", s.batchSize, maxBatchSize)
	}
	return s.splitFlags.validate()
}

// stageInput is where splits are read from.
type stageInput struct {
	io.Reader
	name string
	file *os.File // nil if the input can be read only once
}

func (c *command) openInput(path string) (*stageInput, error) {
	if path == "-" {
		return &stageInput{Reader: c.stdin, name: "stdin"}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read splits: %w", err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("read splits: %w", err), file.Close())
	case info.IsDir():
		return nil, errors.Join(fmt.Errorf("read splits: %s is a directory", path), file.Close())
	case !info.Mode().IsRegular(): // a pipe can be read only once
		return &stageInput{Reader: file, name: path}, nil
	}
	return &stageInput{Reader: file, name: path, file: file}, nil
}

// close ignores errors: the input was only read.
func (i *stageInput) close() {
	if closer, ok := i.Reader.(*os.File); ok && i.name != "stdin" {
		_ = closer.Close()
	}
}

func (c *command) stageSplits(ctx context.Context, s *stageFlags, client *rpc.Client, input *stageInput) error {
	uid, err := s.beginChange(ctx, client)
	if err != nil {
		return err
	}
	if input.file != nil {
		if _, err := staging.NewSource(input, input.name, uid.IndexID, s.batchSize).Check(uid, s.createOnly); err != nil {
			return withHint(fmt.Errorf("stage splits for index %q: %w", s.index, err), "nothing was staged")
		}
		if _, err := input.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read splits: %w", err)
		}
	}
	source := staging.NewSource(input, input.name, uid.IndexID, s.batchSize)
	result := newStageOutput(c, s, uid)
	for {
		batch, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.stageBatch(ctx, client, uid, &batch, result)
		} else {
			err = withHint(fmt.Errorf("stage splits for index %q: %w", s.index, err), "nothing was staged")
		}
		if err != nil {
			return result.failed(err, batch)
		}
	}
	for _, note := range source.Notes() {
		if _, err := fmt.Fprintln(c.stderr, "note:  "+note); err != nil {
			return err
		}
	}
	return result.finish()
}

func (s *stageFlags) stageBatch(ctx context.Context, client *rpc.Client, uid metastore.IndexUID, batch *staging.Batch, result *stageOutput) error {
	// The input is cut into the same batches when the command is repeated.
	ctx = s.key.step(ctx, fmt.Sprintf("batch %d", result.batches+1))
	answer, err := client.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: batch.Splits, CreateOnly: s.createOnly})
	if err != nil {
		again := "repeating the command writes the splits again that are still Staged"
		if s.createOnly {
			again = "repeating the command is safe, it stages only what is missing"
		}
		doing := fmt.Sprintf("stage splits for index %q", s.index)
		if isAbout(err, metastore.EntitySplits) {
			return withHint(fmt.Errorf("%s: %w", doing, err), "--create-only leaves splits that exist untouched and stages the others")
		}
		return s.explainChange(ctx, err, doing, s.howToCheck(again))
	}
	if !s.createOnly {
		answer.Staged = batch.IDs()
	}
	if s.key.told.Replayed {
		result.replayed++
	}
	return result.batch(answer)
}
