package postgres

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"holdfast/metastore"
)

// listStatement is the SQL of a listing.
type listStatement struct {
	sql   string
	args  [][]byte
	empty bool // nothing can match; there is nothing to ask
}

// maxArguments is the greatest number of parameters of a statement.
const maxArguments = 65535

// listBuilder collects the conditions of a listing. All values are parameters.
type listBuilder struct {
	// collate is put behind text columns whose order counts. An index in the collation of the database cannot serve
	// an order that names another one, so it is left out where it changes nothing.
	collate    string
	conditions []string
	args       [][]byte
	impossible bool
}

func (s *Store) listStatement(list *metastore.ListSplitsQuery) (listStatement, error) {
	b := &listBuilder{}
	if !s.settings.BytewiseCollation {
		b.collate = ` COLLATE "C"`
	}
	b.addFilters(list)
	b.addCursor(list.After)
	if list.Tags != nil {
		b.where(b.tags(list.Tags))
	}
	if b.impossible || (list.Limit.Set && list.Limit.Value == 0) {
		return listStatement{empty: true}, nil
	}
	sql := "SELECT" + listColumns + "\nFROM splits"
	if len(b.conditions) > 0 {
		sql += "\nWHERE\n    " + strings.Join(b.conditions, "\n    AND ")
	}
	sql += b.order(list)
	if list.Offset.Set {
		sql += "\nOFFSET " + b.count(list.Offset.Value)
	}
	if list.Limit.Set {
		sql += "\nLIMIT " + b.count(list.Limit.Value)
	}
	if len(b.args) > maxArguments {
		return listStatement{}, metastore.InvalidArgument("listing splits: tags has too many conditions: %d parameters, of which PostgreSQL takes %d", len(b.args), maxArguments)
	}
	return listStatement{sql: sql, args: b.args}, nil
}

func (b *listBuilder) where(condition string) {
	b.conditions = append(b.conditions, condition)
}

func (b *listBuilder) parameter(value []byte, sqlType string) string {
	b.args = append(b.args, value)
	return "$" + strconv.Itoa(len(b.args)) + "::" + sqlType
}

func (b *listBuilder) text(text string) string { return b.parameter(textArgument(text), "text") }

func (b *listBuilder) texts(texts []string) string {
	return b.parameter(textArrayArgument(texts), "text[]")
}

func (b *listBuilder) int8(value int64) string { return b.parameter(int8Argument(value), "bigint") }

func (b *listBuilder) timestamp(seconds int64) string {
	return b.parameter(timestampArgument(seconds), "timestamp")
}

// count is a number of rows; more than PostgreSQL counts to is as good as all.
func (b *listBuilder) count(n uint64) string { return b.int8(int64(min(n, math.MaxInt64))) }

func (b *listBuilder) addFilters(list *metastore.ListSplitsQuery) {
	if !list.AllIndexes {
		uids := make([]string, len(list.IndexUIDs))
		for i, uid := range list.IndexUIDs {
			uids[i] = uid.String()
		}
		b.amongIDs("index_uid", uids, "%s")
	}
	if list.NodeID.Set {
		if isStorable(list.NodeID.Value) {
			b.where("node_id = " + b.text(list.NodeID.Value))
		} else {
			b.impossible = true
		}
	}
	b.addStates(list.States)
	if len(list.IncludedSplitIDs) > 0 {
		// From a subquery the planner does not learn the number of ids, and looks each up. Otherwise it would for many,
		// or where statistics are missing, rather read all splits of the index.
		b.amongIDs("split_id", list.IncludedSplitIDs, "(SELECT %s)::text[]")
	}
	if len(list.ExcludedSplitIDs) > 0 {
		b.where("split_id <> ALL (" + b.texts(storableTexts(list.ExcludedSplitIDs)) + ")")
	}
	b.addTimeRange(list)
	b.addOpstamps(list.DeleteOpstamp)
	b.addSeconds("update_timestamp", list.UpdateTimestamp)
	b.addSeconds("create_timestamp", list.CreateTimestamp)
	b.addMaturity(list.Maturity)
}

func (b *listBuilder) addStates(wanted []metastore.SplitState) {
	if len(wanted) == 0 {
		return
	}
	states := make([]string, len(wanted))
	for i, state := range wanted {
		states[i] = state.String()
	}
	b.where("split_state = ANY (" + b.texts(states) + ")")
}

// amongIDs takes the form in which the array of the ids stands in the statement.
func (b *listBuilder) amongIDs(column string, ids []string, form string) {
	ids = storableTexts(ids)
	switch len(ids) {
	case 0:
		b.impossible = true
	case 1:
		b.where(column + " = " + b.text(ids[0]))
	default:
		b.where(column + " = ANY (" + fmt.Sprintf(form, b.texts(ids)) + ")")
	}
}

func (b *listBuilder) addTimeRange(list *metastore.ListSplitsQuery) {
	// Splits without a time range have NULL in both columns.
	if start := list.TimeRange.Start; start.Kind != metastore.Unbounded {
		operator := map[metastore.BoundKind]string{metastore.Included: ">=", metastore.Excluded: ">"}[start.Kind]
		b.where(fmt.Sprintf("(time_range_end %s %s OR time_range_end IS NULL)", operator, b.int8(start.Value)))
	}
	if end := list.TimeRange.End; end.Kind != metastore.Unbounded {
		operator := map[metastore.BoundKind]string{metastore.Included: "<=", metastore.Excluded: "<"}[end.Kind]
		b.where(fmt.Sprintf("(time_range_start %s %s OR time_range_start IS NULL)", operator, b.int8(end.Value)))
	}
	if list.MaxTimeRangeEnd.Set {
		b.where("time_range_end <= " + b.int8(list.MaxTimeRangeEnd.Value))
	}
}

// addOpstamps takes bounds above what the column can hold, too.
func (b *listBuilder) addOpstamps(opstamps metastore.FilterRange[uint64]) {
	const most = math.MaxInt64
	switch start := opstamps.Start; {
	case start.Kind == metastore.Unbounded:
	case start.Value > most || (start.Value == most && start.Kind == metastore.Excluded):
		b.impossible = true
	case start.Kind == metastore.Included:
		b.where("delete_opstamp >= " + b.int8(int64(start.Value)))
	default:
		b.where("delete_opstamp > " + b.int8(int64(start.Value)))
	}
	switch end := opstamps.End; {
	case end.Kind == metastore.Unbounded || end.Value > most:
	case end.Kind == metastore.Included:
		b.where("delete_opstamp <= " + b.int8(int64(end.Value)))
	default:
		b.where("delete_opstamp < " + b.int8(int64(end.Value)))
	}
}

// addSeconds compares a column of the peer's microseconds as what is shown of it, its second.
func (b *listBuilder) addSeconds(column string, seconds metastore.FilterRange[int64]) {
	next := func(value int64) int64 {
		if value == math.MaxInt64 {
			return value
		}
		return value + 1
	}
	switch seconds.Start.Kind {
	case metastore.Included:
		b.where(column + " >= " + b.timestamp(seconds.Start.Value))
	case metastore.Excluded:
		b.where(column + " >= " + b.timestamp(next(seconds.Start.Value)))
	}
	switch seconds.End.Kind {
	case metastore.Included:
		b.where(column + " < " + b.timestamp(next(seconds.End.Value)))
	case metastore.Excluded:
		b.where(column + " < " + b.timestamp(seconds.End.Value))
	}
}

// addMaturity: a split that never was immature has the maturity time 0, and is mature at any time.
func (b *listBuilder) addMaturity(maturity metastore.MaturityFilter) {
	switch {
	case maturity.Kind == metastore.MatureAt && maturity.At >= 0:
		b.where("maturity_timestamp <= " + b.timestamp(maturity.At))
	case maturity.Kind == metastore.MatureAt:
		b.where(fmt.Sprintf("(maturity_timestamp <= %s OR maturity_timestamp = %s)", b.timestamp(maturity.At), b.timestamp(0)))
	case maturity.Kind == metastore.ImmatureAt && maturity.At >= 0:
		b.where("maturity_timestamp > " + b.timestamp(maturity.At))
	case maturity.Kind == metastore.ImmatureAt:
		b.where(fmt.Sprintf("(maturity_timestamp > %s AND maturity_timestamp <> %s)", b.timestamp(maturity.At), b.timestamp(0)))
	}
}

// addCursor: a stored id has no zero byte. So those behind "ab\x00..." are those behind "ab".
func (b *listBuilder) addCursor(after metastore.Optional[metastore.SplitCursor]) {
	if !after.Set {
		return
	}
	uid, id := after.Value.IndexUID.String(), after.Value.SplitID
	if at := strings.IndexByte(uid, 0); at >= 0 {
		uid, id = uid[:at], strings.Repeat("\U0010FFFF", 60) // behind every id of an index of that name
	}
	if at := strings.IndexByte(id, 0); at >= 0 {
		id = id[:at]
	}
	b.where(fmt.Sprintf("(index_uid%s, split_id%s) > (%s, %s)", b.collate, b.collate, b.text(uid), b.text(id)))
}

func (b *listBuilder) order(list *metastore.ListSplitsQuery) string {
	uid, id := "index_uid"+b.collate, "split_id"+b.collate
	switch list.SortBy {
	case metastore.SortByStaleness:
		return "\nORDER BY delete_opstamp, date_trunc('second', publish_timestamp) NULLS LAST, " + uid + ", " + id
	case metastore.SortByMaturityTimestamp:
		return "\nORDER BY maturity_timestamp, " + id + ", " + uid
	case metastore.SortByNone:
		if !list.Offset.Set && !list.Limit.Set {
			return ""
		}
	}
	return "\nORDER BY " + uid + ", " + id
}
