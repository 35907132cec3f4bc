package postgres

import (
	"context"
	"fmt"
	"strings"

	"holdfast/metastore"
)

// ListParquetSplits implements metastore.ParquetSplitStore, as ListSplits does.
func (s *Store) ListParquetSplits(ctx context.Context, kind metastore.ParquetKind, list *metastore.ListParquetSplitsQuery, visit func(*metastore.ParquetSplitRow) error) error {
	statement := s.listParquetStatement(kind, list)
	if statement.empty {
		return nil
	}
	return s.list(ctx, statement, func(row columns) error {
		state, err := row.state(1)
		if err != nil {
			return fmt.Errorf("split %.60q of index %q: %w", row[0], list.IndexUID, err)
		}
		metadata, err := metastore.ParseParquetSplitMetadata(row[3])
		if err != nil {
			return fmt.Errorf("split %.60q of index %q: %w", row[0], list.IndexUID, err)
		}
		err = visit(&metastore.ParquetSplitRow{State: state, UpdateTimestamp: row.seconds(2), Document: metadata.Document()})
		if err != nil {
			return visitError{err}
		}
		return nil
	})
}

const listParquetColumns = `
    split_id,
    split_state,
    update_timestamp,
    split_metadata_json`

func (s *Store) listParquetStatement(kind metastore.ParquetKind, list *metastore.ListParquetSplitsQuery) listStatement {
	b := &listBuilder{}
	if !s.settings.BytewiseCollation {
		b.collate = ` COLLATE "C"`
	}
	b.amongIDs("index_uid", []string{list.IndexUID.String()}, "%s")
	b.addParquetFilters(list)
	b.addParquetTimeRange(list)
	if list.After.Set {
		// A stored id has no zero byte, so those behind "ab\x00..." are those behind "ab".
		after, _, _ := strings.Cut(list.After.Value, "\x00")
		b.where("split_id" + b.collate + " > " + b.text(strings.ToValidUTF8(after, "\uFFFD")))
	}
	if b.impossible || (list.Limit.Set && list.Limit.Value == 0) {
		return listStatement{empty: true}
	}
	sql := "SELECT" + listParquetColumns + "\nFROM " + parquetTables[kind].name + "\nWHERE\n    " + strings.Join(b.conditions, "\n    AND ") +
		"\nORDER BY split_id" + b.collate
	if list.Limit.Set {
		sql += "\nLIMIT " + b.count(list.Limit.Value)
	}
	return listStatement{sql: sql, args: b.args}
}

func (b *listBuilder) addParquetFilters(list *metastore.ListParquetSplitsQuery) {
	b.addStates(list.States)
	if len(list.MetricNames) > 0 {
		b.where("metric_names && " + b.texts(storableTexts(list.MetricNames)))
	}
	for i, tag := range list.Tags() {
		if tag.Set {
			// The names of the columns are ours, not the request's.
			b.equal("tag_"+metastore.ParquetTagKeys()[i]+" @> ARRAY[%s]", tag.Value)
		}
	}
	if list.SortFields.Set {
		b.equal("sort_fields = %s", list.SortFields.Value)
	}
	if list.NodeID.Set {
		// The peer writes no node id; an empty one is as good as none.
		b.equal("nullif(node_id, '') = %s", list.NodeID.Value)
	}
	b.addOpstamps(list.DeleteOpstamp)
	b.addSeconds("update_timestamp", list.UpdateTimestamp)
	b.addSeconds("create_timestamp", list.CreateTimestamp)
	b.addMaturity(list.Maturity)
}

// equal adds a condition on a text, which nothing meets that PostgreSQL cannot hold.
func (b *listBuilder) equal(condition, text string) {
	if !isStorable(text) {
		b.impossible = true
		return
	}
	b.where(fmt.Sprintf(condition, b.text(text)))
}

// addParquetTimeRange compares the range of the data, or the window if the listing is about one order of sorting. A
// comparison with a window that is not there is NULL.
func (b *listBuilder) addParquetTimeRange(list *metastore.ListParquetSplitsQuery) {
	first, last := "time_range_start", "time_range_end"
	if list.SortFields.Set {
		first, last = "window_start", "window_start + window_duration_secs - 1"
	}
	if start := list.TimeRange.Start; start.Kind != metastore.Unbounded {
		operator := map[metastore.BoundKind]string{metastore.Included: ">=", metastore.Excluded: ">"}[start.Kind]
		b.where(fmt.Sprintf("%s %s %s", last, operator, b.int8(start.Value)))
	}
	if end := list.TimeRange.End; end.Kind != metastore.Unbounded {
		operator := map[metastore.BoundKind]string{metastore.Included: "<=", metastore.Excluded: "<"}[end.Kind]
		b.where(fmt.Sprintf("%s %s %s", first, operator, b.int8(end.Value)))
	}
	if list.MaxTimeRangeEnd.Set {
		b.where("time_range_end <= " + b.int8(list.MaxTimeRangeEnd.Value))
	}
}
