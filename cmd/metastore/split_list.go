package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

func (c *command) splitList(f *splitFlags) *cobra.Command {
	var states []string
	var limit uint64
	var kind string
	cmd := &cobra.Command{
		Use:   "list --index ID",
		Short: "List the splits of an index",
		Long: `List the splits of an index in the order of their ids. The splits of metrics and of sketches,
which are Parquet files, are apart from those of logs and traces: --kind lists them.

With --format json: an array of the split documents, written as they arrive.`,
		Example: `  metastore split list --index web-access --state Staged
  metastore split list --index web-access --format json > splits.json
  metastore split list --index otel-metrics --kind metrics`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			query := metastore.AllSplits()
			for _, text := range states {
				state, err := parseState(text)
				if err != nil {
					return usagef("--state: %w", err)
				}
				query.States = append(query.States, state)
			}
			if cmd.Flags().Changed("limit") {
				query.Limit = metastore.Some(limit)
			}
			if cmd.Flags().Changed("kind") {
				parquet, err := parseParquetKind(kind)
				if err != nil {
					return usagef("--kind: %w", err)
				}
				return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
					return c.listParquetSplits(ctx, f, client, parquet, query)
				})
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				return c.listSplits(ctx, f, client, query)
			})
		}),
	}
	cmd.Flags().StringArrayVar(&states, "state", nil, "only splits in this state: Staged, Published or MarkedForDeletion;\nmay be given several times")
	cmd.Flags().StringVar(&kind, "kind", "", "metrics or sketches: Parquet splits of that kind (default the splits\nof logs and traces)")
	cmd.Flags().Uint64Var(&limit, "limit", 0, "at most so many splits (default all)")
	return cmd
}

// parseState is as lenient with the spelling as people are.
func parseState(text string) (metastore.SplitState, error) {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(text))
	for _, state := range []metastore.SplitState{metastore.Staged, metastore.Published, metastore.MarkedForDeletion} {
		if plain == strings.ToLower(state.String()) {
			return state, nil
		}
	}
	return metastore.ParseSplitState(text)
}

func (c *command) listSplits(ctx context.Context, f *splitFlags, client *rpc.Client, query *metastore.ListSplitsQuery) error {
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return err
	}
	query.AllIndexes = false
	query.IndexUIDs = []metastore.IndexUID{index.IndexUID}
	query.SortBy = metastore.SortByIndexUID

	// A listing may take as long as it wants, but not stand still.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stalled := fmt.Errorf("no split arrived for %s", f.timeout)
	watchdog := time.AfterFunc(f.timeout, func() { stop(stalled) })
	defer watchdog.Stop()

	columns := []string{"SPLIT", "STATE", ">DOCS", ">SIZE", "TIME RANGE (UTC)", "UPDATED (UTC)", "NODE", ">MERGES", ">OPSTAMP"}
	writer := newSplitWriter(c, f.format, columns, (*metastore.SplitRow).AppendJSON, writeSplitRow)
	err = client.ListSplits(ctx, query, func(row *metastore.SplitRow) error {
		watchdog.Reset(f.timeout)
		return writer.write(row)
	})
	if err != nil {
		if context.Cause(ctx) == stalled {
			err = metastore.Timeout(stalled, "the listing stopped")
		}
		err = f.explain(ctx, err, fmt.Sprintf("list splits of index %q", f.index))
		if aborting := writer.abort(); aborting != nil {
			return aborting
		}
		return err
	}
	return writer.close()
}

// splitWriter writes rows in one format.
type splitWriter[Row any] struct {
	write func(row *Row) error
	close func() error
	abort func() error
}

func newSplitWriter[Row any](c *command, format output.Format, columns []string, appendJSON func(row *Row, dst []byte) []byte, writeRow func(table *output.Table, row *Row) error) splitWriter[Row] {
	if format == output.JSON {
		array := output.NewArray(c.stdout)
		var document []byte
		return splitWriter[Row]{
			write: func(row *Row) error {
				document = appendJSON(row, document[:0])
				return array.Element(document)
			},
			close: array.Close,
			abort: array.Abort,
		}
	}
	table := output.NewTable(c.stdout, columns...)
	count := 0
	return splitWriter[Row]{
		write: func(row *Row) error {
			count++
			return writeRow(table, row)
		},
		close: func() error {
			if err := table.Close(); err != nil {
				return err
			}
			return c.print("%s", output.Plural(count, "split"))
		},
		abort: table.Flush,
	}
}

func writeSplitRow(table *output.Table, row *metastore.SplitRow) error {
	split, err := row.Split()
	if err != nil {
		return err
	}
	m := &split.Metadata
	timeRange := ""
	if m.TimeRange.Set {
		timeRange = output.Seconds(m.TimeRange.Value.Start) + " .. " + output.Seconds(m.TimeRange.Value.End)
	}
	return table.Row(
		m.SplitID,
		row.State.String(),
		output.Count(m.NumDocs),
		output.Bytes(m.FooterEnd),
		timeRange,
		output.Seconds(row.UpdateTimestamp),
		m.NodeID,
		output.Count(m.NumMergeOps),
		output.Count(m.DeleteOpstamp),
	)
}
