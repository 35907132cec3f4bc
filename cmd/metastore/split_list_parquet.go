package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// parquetPage is how many Parquet splits are asked for at once: a server answers in one message.
const parquetPage = 500

// parseParquetKind is as lenient with the spelling as people are.
func parseParquetKind(text string) (metastore.ParquetKind, error) {
	for _, kind := range []metastore.ParquetKind{metastore.MetricsSplits, metastore.SketchSplits} {
		if strings.EqualFold(text, kind.String()) {
			return kind, nil
		}
	}
	return 0, fmt.Errorf("%.40q is no kind of splits, must be metrics or sketches", text)
}

// listParquetSplits lists what a query of ordinary splits asks for, of metrics or sketches.
func (c *command) listParquetSplits(ctx context.Context, f *splitFlags, client *rpc.Client, kind metastore.ParquetKind, wanted *metastore.ListSplitsQuery) error {
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return err
	}
	columns := []string{"SPLIT", "STATE", ">ROWS", ">SIZE", "TIME RANGE (UTC)", "UPDATED (UTC)", "METRICS", ">MERGES"}
	writer := newSplitWriter(c, f.format, columns, (*metastore.ParquetSplitRow).AppendJSON, writeParquetRow)
	if err := eachParquetSplit(ctx, client, kind, index.IndexUID, wanted, writer.write); err != nil {
		err = f.explain(ctx, err, fmt.Sprintf("list %s of index %q", strings.ToLower(kind.String()), f.index))
		if aborting := writer.abort(); aborting != nil {
			return aborting
		}
		return err
	}
	return writer.close()
}

// eachParquetSplit reads page by page, in the order of the ids.
func eachParquetSplit(ctx context.Context, client *rpc.Client, kind metastore.ParquetKind, uid metastore.IndexUID, wanted *metastore.ListSplitsQuery, visit func(*metastore.ParquetSplitRow) error) error {
	query := &metastore.ListParquetSplitsQuery{IndexUID: uid, States: wanted.States}
	for left := wanted.Limit; !left.Set || left.Value > 0; {
		page := uint64(parquetPage)
		if left.Set {
			page = min(page, left.Value)
			left.Value -= page
		}
		query.Limit = metastore.Some(page)
		count := uint64(0)
		err := client.ListParquetSplits(ctx, kind, query, func(row *metastore.ParquetSplitRow) error {
			count++
			split, err := row.Metadata()
			if err != nil {
				return err
			}
			query.After = metastore.Some(split.SplitID)
			return visit(row)
		})
		if err != nil || count < page {
			return err
		}
	}
	return nil
}

func writeParquetRow(table *output.Table, row *metastore.ParquetSplitRow) error {
	m, err := row.Metadata()
	if err != nil {
		return err
	}
	return table.Row(
		m.SplitID,
		row.State.String(),
		output.Count(m.NumRows),
		output.Bytes(m.SizeBytes),
		parquetSeconds(m.TimeStart)+" .. "+parquetSeconds(m.TimeEnd),
		output.Seconds(row.UpdateTimestamp),
		strings.Join(m.MetricNames, ","),
		output.Count(uint64(m.NumMergeOps)),
	)
}

func parquetSeconds(unix uint64) string { return output.Seconds(int64(min(unix, math.MaxInt64))) }
