package metastore

import (
	"strconv"

	"holdfast/metastore/internal/strictjson"
)

// AppendJSON appends the query document as the peer's clients write it.
func (q *ListSplitsQuery) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"index_uids":`...)
	if q.AllIndexes {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, '[')
		for i, uid := range q.IndexUIDs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strictjson.AppendString(dst, uid.String())
		}
		dst = append(dst, ']')
	}
	dst = appendOptional(append(dst, `,"node_id":`...), q.NodeID, strictjson.AppendString)
	dst = appendOptional(append(dst, `,"limit":`...), q.Limit, appendUint)
	dst = appendOptional(append(dst, `,"offset":`...), q.Offset, appendUint)
	dst = appendStates(append(dst, `,"split_states":`...), q.States)
	dst = append(dst, `,"tags":`...)
	if q.Tags == nil {
		dst = append(dst, "null"...)
	} else {
		dst = q.Tags.appendJSON(dst)
	}
	dst = appendFilterRange(append(dst, `,"time_range":`...), q.TimeRange, appendInt)
	dst = appendOptional(append(dst, `,"max_time_range_end":`...), q.MaxTimeRangeEnd, appendInt)
	dst = appendFilterRange(append(dst, `,"delete_opstamp":`...), q.DeleteOpstamp, appendUint)
	dst = appendFilterRange(append(dst, `,"update_timestamp":`...), q.UpdateTimestamp, appendInt)
	dst = appendFilterRange(append(dst, `,"create_timestamp":`...), q.CreateTimestamp, appendInt)
	dst = q.Maturity.appendJSON(append(dst, `,"mature":`...))
	dst = strictjson.AppendString(append(dst, `,"sort_by":`...), q.SortBy.String())
	dst = appendOptional(append(dst, `,"after_split":`...), q.After, appendCursor)
	if len(q.IncludedSplitIDs) > 0 {
		dst = strictjson.AppendStrings(append(dst, `,"included_split_ids":`...), q.IncludedSplitIDs)
	}
	dst = strictjson.AppendStrings(append(dst, `,"excluded_split_ids":`...), q.ExcludedSplitIDs)
	return append(dst, '}')
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func appendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

func appendOptional[T any](dst []byte, value Optional[T], write func([]byte, T) []byte) []byte {
	if !value.Set {
		return append(dst, "null"...)
	}
	return write(dst, value.Value)
}

func appendFilterRange[T int64 | uint64](dst []byte, value FilterRange[T], write func([]byte, T) []byte) []byte {
	dst = appendBound(append(dst, `{"start":`...), value.Start, write)
	dst = appendBound(append(dst, `,"end":`...), value.End, write)
	return append(dst, '}')
}

func appendBound[T int64 | uint64](dst []byte, value Bound[T], write func([]byte, T) []byte) []byte {
	switch value.Kind {
	case Included:
		dst = append(dst, `{"Included":`...)
	case Excluded:
		dst = append(dst, `{"Excluded":`...)
	default:
		return append(dst, `"Unbounded"`...)
	}
	return append(write(dst, value.Value), '}')
}

func (f MaturityFilter) appendJSON(dst []byte) []byte {
	return appendBound(dst, Bound[int64]{Kind: BoundKind(f.Kind), Value: f.At}, appendDateTime)
}

func appendStates(dst []byte, states []SplitState) []byte {
	dst = append(dst, '[')
	for i, state := range states {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(dst, state.String())
	}
	return append(dst, ']')
}

func (f *TagFilter) appendJSON(dst []byte) []byte {
	switch f.Op {
	case TagAnd:
		dst = append(dst, `{"And":[`...)
	case TagOr:
		dst = append(dst, `{"Or":[`...)
	default:
		dst = strconv.AppendBool(append(dst, `{"Tag":{"is_present":`...), f.Present)
		dst = strictjson.AppendString(append(dst, `,"tag":`...), f.Tag)
		return append(dst, "}}"...)
	}
	for i := range f.Children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.Children[i].appendJSON(dst)
	}
	return append(dst, "]}"...)
}

func appendCursor(dst []byte, c SplitCursor) []byte {
	dst = strictjson.AppendString(append(dst, '['), c.IndexUID.String())
	dst = strictjson.AppendString(append(dst, ','), c.SplitID)
	return append(dst, ']')
}
