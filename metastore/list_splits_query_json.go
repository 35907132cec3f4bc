package metastore

import (
	"errors"
	"fmt"
	"slices"

	"holdfast/metastore/internal/strictjson"
)

const structListSplitsQuery = "quickwit_metastore::metastore::ListSplitsQuery"

var listSplitsQueryKeys = strictjson.Keys{
	{Name: "index_uids"},
	{Name: "node_id"},
	{Name: "limit"},
	{Name: "offset"},
	{Name: "split_states", Required: true},
	{Name: "tags"},
	{Name: "time_range", Required: true},
	{Name: "max_time_range_end"},
	{Name: "delete_opstamp", Required: true},
	{Name: "update_timestamp", Required: true},
	{Name: "create_timestamp", Required: true},
	{Name: "mature", Required: true},
	{Name: "sort_by", Required: true},
	{Name: "after_split"},
	{Name: "included_split_ids"},
	{Name: "excluded_split_ids"},
}

// ParseListSplitsQuery reads the query document of a ListSplits request. Unknown keys are ignored; an
// absent index_uids means all indexes. It fails with JsonDeserializeError.
func ParseListSplitsQuery(text []byte) (*ListSplitsQuery, error) {
	query := &ListSplitsQuery{AllIndexes: true}
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(listSplitsQueryKeys, strictjson.Ignore, func(key string) error {
			return query.read(r, key)
		})
	})
	if err != nil {
		return nil, JSONDeserialize(structListSplitsQuery, err)
	}
	return query, nil
}

func (q *ListSplitsQuery) read(r *strictjson.Reader, key string) error {
	switch key {
	case "index_uids":
		if q.AllIndexes = r.IsNull(); q.AllIndexes {
			return r.Skip()
		}
		return strictjson.List(r, &q.IndexUIDs, func(uid *IndexUID) error { return readIndexUID(r, uid) })
	case "node_id":
		return readOptional(r, &q.NodeID, r.String)
	case "limit":
		return readOptional(r, &q.Limit, r.Uint64)
	case "offset":
		return readOptional(r, &q.Offset, r.Uint64)
	case "split_states":
		return r.Array(func(int) error { return readState(r, &q.States) })
	case "tags":
		if r.IsNull() {
			return r.Skip()
		}
		q.Tags = new(TagFilter)
		return q.Tags.read(r)
	case "time_range":
		return readFilterRange(r, &q.TimeRange, r.Int64)
	case "max_time_range_end":
		return readOptional(r, &q.MaxTimeRangeEnd, r.Int64)
	case "delete_opstamp":
		return readFilterRange(r, &q.DeleteOpstamp, r.Uint64)
	case "update_timestamp":
		return readFilterRange(r, &q.UpdateTimestamp, r.Int64)
	case "create_timestamp":
		return readFilterRange(r, &q.CreateTimestamp, r.Int64)
	case "mature":
		return q.Maturity.read(r)
	case "sort_by":
		return q.SortBy.read(r)
	case "after_split":
		return readOptional(r, &q.After, func(cursor *SplitCursor) error { return cursor.read(r) })
	case "included_split_ids":
		return readIDs(r, &q.IncludedSplitIDs)
	default: // excluded_split_ids
		return readIDs(r, &q.ExcludedSplitIDs)
	}
}

func readOptional[T any](r *strictjson.Reader, into *Optional[T], read func(*T) error) error {
	if r.IsNull() {
		return r.Skip()
	}
	into.Set = true
	return read(&into.Value)
}

func readIndexUID(r *strictjson.Reader, uid *IndexUID) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	parsed, err := ParseIndexUID(text)
	*uid = parsed
	return err
}

// readState adds a state to the set of those wanted.
func readState(r *strictjson.Reader, wanted *[]SplitState) error {
	var state SplitState
	if err := readSplitState(r, &state); err != nil {
		return err
	}
	if !slices.Contains(*wanted, state) {
		*wanted = append(*wanted, state)
	}
	return nil
}

// readIDs reads a set of split ids; an empty one is nil.
func readIDs(r *strictjson.Reader, into *[]string) error {
	if err := strictjson.List(r, into, r.String); err != nil {
		return err
	}
	*into = UniqueSplitIDs(*into)
	if len(*into) == 0 {
		*into = nil
	}
	return nil
}

// read reads {"And":[…]}, {"Or":[…]} or {"Tag":{…}}. The reader bounds how deeply they can be nested.
func (f *TagFilter) read(r *strictjson.Reader) error {
	return readVariant(r, func(name string) error {
		switch name {
		case "Tag":
			return r.Object(tagKeys, strictjson.Ignore, func(key string) error {
				if key == "tag" {
					return r.String(&f.Tag)
				}
				return r.Bool(&f.Present)
			})
		case "And", "Or":
			f.Op = TagAnd
			if name == "Or" {
				f.Op = TagOr
			}
			if err := strictjson.List(r, &f.Children, func(child *TagFilter) error { return child.read(r) }); err != nil {
				return err
			}
			if len(f.Children) == 0 {
				f.Children = nil
			}
			return nil
		}
		return fmt.Errorf("unknown tag filter %s; known are And, Or, Tag", strictjson.Quote(name))
	})
}

var tagKeys = strictjson.Keys{{Name: "is_present", Required: true}, {Name: "tag", Required: true}}

// readVariant reads an object with exactly one key, which says what its value is.
func readVariant(r *strictjson.Reader, read func(name string) error) error {
	count := 0
	err := r.Map(func(name string) error {
		if count++; count > 1 {
			return errors.New("exactly one key is allowed here")
		}
		return read(name)
	})
	if err == nil && count == 0 {
		return errors.New("exactly one key is required here")
	}
	return err
}

var filterRangeKeys = strictjson.Keys{{Name: "start", Required: true}, {Name: "end", Required: true}}

func readFilterRange[T int64 | uint64](r *strictjson.Reader, into *FilterRange[T], read func(*T) error) error {
	return r.Object(filterRangeKeys, strictjson.Ignore, func(key string) error {
		if key == "start" {
			return readBound(r, &into.Start, read)
		}
		return readBound(r, &into.End, read)
	})
}

// readBound reads "Unbounded", {"Included":v} or {"Excluded":v}.
func readBound[T int64 | uint64](r *strictjson.Reader, into *Bound[T], read func(*T) error) error {
	if r.Kind() == '"' {
		var name string
		return r.Enum(&name, "Unbounded")
	}
	return readVariant(r, func(name string) error {
		switch name {
		case "Included":
			into.Kind = Included
		case "Excluded":
			into.Kind = Excluded
		default:
			return fmt.Errorf("unknown bound %s; known are Unbounded, Included, Excluded", strictjson.Quote(name))
		}
		return read(&into.Value)
	})
}

// read reads the bound of a date-time: included selects the mature splits, excluded the others.
func (f *MaturityFilter) read(r *strictjson.Reader) error {
	var bound Bound[int64]
	err := readBound(r, &bound, func(seconds *int64) error { return readDateTime(r, seconds) })
	*f = MaturityFilter{Kind: MaturityFilterKind(bound.Kind), At: bound.Value}
	return err
}

func (s *SortBy) read(r *strictjson.Reader) error {
	var name string
	if err := r.Enum(&name, sortByNames[:]...); err != nil {
		return err
	}
	for i := range sortByNames {
		if sortByNames[i] == name {
			*s = SortBy(i)
		}
	}
	return nil
}

var sortByNames = [...]string{
	SortByNone:              "None",
	SortByStaleness:         "Staleness",
	SortByIndexUID:          "IndexUid",
	SortByMaturityTimestamp: "MaturityTimestamp",
}

// String returns the spelling used in queries.
func (s SortBy) String() string {
	if int(s) < len(sortByNames) {
		return sortByNames[s]
	}
	return fmt.Sprintf("SortBy(%d)", uint8(s))
}

// read reads [index UID, split id].
func (c *SplitCursor) read(r *strictjson.Reader) error {
	count := 0
	err := r.Array(func(i int) error {
		count++
		switch i {
		case 0:
			return readIndexUID(r, &c.IndexUID)
		case 1:
			return r.String(&c.SplitID)
		}
		return errors.New("a cursor has two values, an index uid and a split id")
	})
	if err == nil && count != 2 {
		return fmt.Errorf("a cursor has two values, an index uid and a split id, not %d", count)
	}
	return err
}
