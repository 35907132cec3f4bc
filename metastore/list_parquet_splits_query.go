package metastore

import (
	"math"
	"slices"

	"holdfast/metastore/internal/strictjson"
)

// ListParquetSplitsQuery selects Parquet splits of one index. All filters must hold; the zero value
// of each keeps all splits.
type ListParquetSplitsQuery struct {
	IndexUID IndexUID
	// States is the set of states wanted; empty means all.
	States []SplitState
	// TimeRange keeps splits whose range intersects it, in seconds. It is the range of the data, both ends
	// inclusive, unless SortFields is set: then it is the window, and a split without one is dropped if the
	// filter has a bound.
	TimeRange FilterRange[int64]
	// MetricNames keeps splits that have any of these; empty means all.
	MetricNames []string
	// Tags keep splits that list the value under the key of the same name.
	TagService, TagEnv, TagDatacenter, TagRegion, TagHost Optional[string]
	SortFields                                            Optional[string]
	// NodeID keeps splits of that node. What no call tells is unknown, so the empty one matches nothing.
	NodeID          Optional[string]
	DeleteOpstamp   FilterRange[uint64]
	UpdateTimestamp FilterRange[int64]
	CreateTimestamp FilterRange[int64]
	Maturity        MaturityFilter
	// After keeps splits with an id strictly above it, by bytes.
	After Optional[string]
	// MaxTimeRangeEnd keeps splits whose data ends at or before it.
	MaxTimeRangeEnd Optional[int64]
	// Limit applies last.
	Limit Optional[uint64]
}

var parquetTagKeys = [...]string{"service", "env", "datacenter", "region", "host"}

// ParquetTagKeys returns the keys of the low-cardinality tags that a query can ask for.
func ParquetTagKeys() []string { return parquetTagKeys[:] }

// Tags returns the values asked for, in the order of ParquetTagKeys.
func (q *ListParquetSplitsQuery) Tags() []Optional[string] {
	return []Optional[string]{q.TagService, q.TagEnv, q.TagDatacenter, q.TagRegion, q.TagHost}
}

// Matches reports whether a split of the query's index passes every filter. The limit plays no part.
func (q *ListParquetSplitsQuery) Matches(s *ParquetSplit) bool {
	m := s.Metadata
	return (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		(!q.NodeID.Set || s.NodeID != "" && q.NodeID.Value == s.NodeID) &&
		(!q.SortFields.Set || q.SortFields.Value == m.SortFields) &&
		(!q.After.Set || m.SplitID > q.After.Value) &&
		(!q.MaxTimeRangeEnd.Set || storedSeconds(m.TimeEnd) <= q.MaxTimeRangeEnd.Value) &&
		q.DeleteOpstamp.Contains(s.DeleteOpstamp) &&
		q.UpdateTimestamp.Contains(s.UpdateTimestamp) &&
		q.CreateTimestamp.Contains(s.CreateTimestamp) &&
		q.Maturity.keeps(s.MaturityTimestamp != 0, s.MaturityTimestamp) &&
		q.matchesTimeRange(m) &&
		q.matchesNames(m.MetricNames) &&
		q.matchesTags(m.LowCardinalityTags)
}

func (q *ListParquetSplitsQuery) matchesTimeRange(m *ParquetSplitMetadata) bool {
	start, end := q.TimeRange.Start, q.TimeRange.End
	if !q.SortFields.Set {
		return start.below(storedSeconds(m.TimeEnd)) && end.above(storedSeconds(m.TimeStart))
	}
	if start.Kind == Unbounded && end.Kind == Unbounded {
		return true
	}
	window := m.Window.Value
	return m.Window.Set && start.below(window.last()) && end.above(window.Start)
}

// storedSeconds is a time of a document as stores compare it.
func storedSeconds(seconds uint64) int64 { return int64(min(seconds, math.MaxInt64)) }

func (q *ListParquetSplitsQuery) matchesNames(names []string) bool {
	return len(q.MetricNames) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(q.MetricNames, name)
	})
}

func (q *ListParquetSplitsQuery) matchesTags(tags map[string][]string) bool {
	for i, wanted := range q.Tags() {
		if wanted.Set && !slices.Contains(tags[parquetTagKeys[i]], wanted.Value) {
			return false
		}
	}
	return true
}

const structListParquetSplitsQuery = "quickwit_metastore::metastore::ListParquetSplitsQuery"

var listParquetSplitsQueryKeys = strictjson.Keys{
	{Name: "index_uid", Required: true},
	{Name: "split_states"},
	{Name: "time_range", Required: true},
	{Name: "metric_names"},
	{Name: "tag_service"},
	{Name: "tag_env"},
	{Name: "tag_datacenter"},
	{Name: "tag_region"},
	{Name: "tag_host"},
	{Name: "sort_fields"},
	{Name: "node_id"},
	{Name: "delete_opstamp", Required: true},
	{Name: "update_timestamp", Required: true},
	{Name: "create_timestamp", Required: true},
	{Name: "mature", Required: true},
	{Name: "limit"},
	{Name: "after_split_id"},
	{Name: "max_time_range_end"},
}

// ParseListParquetSplitsQuery reads the query document of a ListMetricsSplits or ListSketchSplits request. Unknown
// keys are ignored. It fails with JsonDeserializeError.
func ParseListParquetSplitsQuery(text []byte) (*ListParquetSplitsQuery, error) {
	query := &ListParquetSplitsQuery{}
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(listParquetSplitsQueryKeys, strictjson.Ignore, func(key string) error {
			return query.read(r, key)
		})
	})
	if err != nil {
		return nil, JSONDeserialize(structListParquetSplitsQuery, err)
	}
	return query, nil
}

func (q *ListParquetSplitsQuery) read(r *strictjson.Reader, key string) error {
	switch key {
	case "index_uid":
		return readIndexUID(r, &q.IndexUID)
	case "split_states":
		return r.Array(func(int) error { return readState(r, &q.States) })
	case "time_range":
		return readFilterRange(r, &q.TimeRange, r.Int64)
	case "metric_names":
		return readSet(r, &q.MetricNames)
	case "tag_service":
		return readOptional(r, &q.TagService, r.String)
	case "tag_env":
		return readOptional(r, &q.TagEnv, r.String)
	case "tag_datacenter":
		return readOptional(r, &q.TagDatacenter, r.String)
	case "tag_region":
		return readOptional(r, &q.TagRegion, r.String)
	case "tag_host":
		return readOptional(r, &q.TagHost, r.String)
	case "sort_fields":
		return readOptional(r, &q.SortFields, r.String)
	case "node_id":
		return readOptional(r, &q.NodeID, r.String)
	case "delete_opstamp":
		return readFilterRange(r, &q.DeleteOpstamp, r.Uint64)
	case "update_timestamp":
		return readFilterRange(r, &q.UpdateTimestamp, r.Int64)
	case "create_timestamp":
		return readFilterRange(r, &q.CreateTimestamp, r.Int64)
	case "mature":
		return q.Maturity.read(r)
	case "limit":
		return readOptional(r, &q.Limit, r.Uint64)
	case "after_split_id":
		return readOptional(r, &q.After, r.String)
	default: // max_time_range_end
		return readOptional(r, &q.MaxTimeRangeEnd, r.Int64)
	}
}

// AppendJSON appends the query document as the peer's clients write it.
func (q *ListParquetSplitsQuery) AppendJSON(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"index_uid":`...), q.IndexUID.String())
	dst = appendStates(append(dst, `,"split_states":`...), q.States)
	dst = appendFilterRange(append(dst, `,"time_range":`...), q.TimeRange, appendInt)
	dst = strictjson.AppendStrings(append(dst, `,"metric_names":`...), q.MetricNames)
	dst = appendOptional(append(dst, `,"tag_service":`...), q.TagService, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"tag_env":`...), q.TagEnv, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"tag_datacenter":`...), q.TagDatacenter, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"tag_region":`...), q.TagRegion, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"tag_host":`...), q.TagHost, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"sort_fields":`...), q.SortFields, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"node_id":`...), q.NodeID, strictjson.AppendString)
	dst = appendFilterRange(append(dst, `,"delete_opstamp":`...), q.DeleteOpstamp, appendUint)
	dst = appendFilterRange(append(dst, `,"update_timestamp":`...), q.UpdateTimestamp, appendInt)
	dst = appendFilterRange(append(dst, `,"create_timestamp":`...), q.CreateTimestamp, appendInt)
	dst = q.Maturity.appendJSON(append(dst, `,"mature":`...))
	dst = appendOptional(append(dst, `,"limit":`...), q.Limit, appendUint)
	dst = appendOptional(append(dst, `,"after_split_id":`...), q.After, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"max_time_range_end":`...), q.MaxTimeRangeEnd, appendInt)
	return append(dst, '}')
}
