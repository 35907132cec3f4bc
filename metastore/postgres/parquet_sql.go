package postgres

import (
	_ "embed"
	"strings"

	"holdfast/metastore"
)

// The statements on Parquet splits, written for metrics splits.
var (
	//go:embed sql/stage_parquet_splits.sql
	stageParquetSplitsSQL string
	//go:embed sql/parquet_split_states.sql
	parquetSplitStatesSQL string
	//go:embed sql/publish_parquet_splits.sql
	publishParquetSplitsSQL string
	//go:embed sql/mark_parquet_splits.sql
	markParquetSplitsSQL string
	//go:embed sql/delete_parquet_splits.sql
	deleteParquetSplitsSQL string
	//go:embed sql/unmarked_parquet_splits.sql
	unmarkedParquetSplitsSQL string
)

// parquetTable holds the table of one kind of Parquet splits, and the statements on it.
type parquetTable struct {
	name                                           string
	stage, states, publish, mark, delete, unmarked string
}

// The tables of both kinds have the same columns. Their names are constants of ours, never input.
const (
	metricsSplitsTable = "metrics_splits"
	sketchSplitsTable  = "sketch_splits"
)

var parquetTables = [...]parquetTable{
	metastore.MetricsSplits: newParquetTable(metricsSplitsTable),
	metastore.SketchSplits:  newParquetTable(sketchSplitsTable),
}

func newParquetTable(name string) parquetTable {
	about := func(sql string) string { return strings.ReplaceAll(sql, metricsSplitsTable, name) }
	return parquetTable{
		name:     name,
		stage:    about(stageParquetSplitsSQL),
		states:   about(parquetSplitStatesSQL),
		publish:  about(publishParquetSplitsSQL),
		mark:     about(markParquetSplitsSQL),
		delete:   about(deleteParquetSplitsSQL),
		unmarked: about(unmarkedParquetSplitsSQL),
	}
}
