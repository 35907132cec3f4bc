package metastore

import (
	"slices"
	"strings"
)

// Matches reports whether the split of that index passes every filter of the query but IndexUIDs.
// Order, offset and limit play no part. For many splits, Matcher is faster.
func (q *ListSplitsQuery) Matches(indexUID IndexUID, s *Split) bool {
	return q.matches(indexUID, s, slices.Contains[[]string])
}

// Matcher returns a function that answers what Matches would, for as long as the query is not
// changed. Its cost for one split does not grow with the sets of split ids. It is safe for concurrent use.
func (q *ListSplitsQuery) Matcher() func(indexUID IndexUID, s *Split) bool {
	const fewEnough = 8
	if len(q.IncludedSplitIDs) <= fewEnough && len(q.ExcludedSplitIDs) <= fewEnough {
		return q.Matches
	}
	lookup := *q
	lookup.IncludedSplitIDs = slices.Sorted(slices.Values(q.IncludedSplitIDs))
	lookup.ExcludedSplitIDs = slices.Sorted(slices.Values(q.ExcludedSplitIDs))
	return func(indexUID IndexUID, s *Split) bool {
		return lookup.matches(indexUID, s, func(ids []string, id string) bool {
			_, found := slices.BinarySearch(ids, id)
			return found
		})
	}
}

func (q *ListSplitsQuery) matches(indexUID IndexUID, s *Split, among func(ids []string, id string) bool) bool {
	m := &s.Metadata
	return (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		(!q.NodeID.Set || q.NodeID.Value == m.NodeID) &&
		q.DeleteOpstamp.Contains(m.DeleteOpstamp) &&
		q.UpdateTimestamp.Contains(s.UpdateTimestamp) &&
		q.CreateTimestamp.Contains(m.CreateTimestamp) &&
		q.matchesTimeRange(m.TimeRange) &&
		q.Maturity.matches(m) &&
		(!q.After.Set || compareCursors(indexUID, m.SplitID, q.After.Value.IndexUID, q.After.Value.SplitID) > 0) &&
		(len(q.IncludedSplitIDs) == 0 || among(q.IncludedSplitIDs, m.SplitID)) &&
		(len(q.ExcludedSplitIDs) == 0 || !among(q.ExcludedSplitIDs, m.SplitID)) &&
		(q.Tags == nil || q.Tags.Matches(m.Tags))
}

// matchesTimeRange tests the two filters on the time range: the one keeps splits without, the other drops them.
func (q *ListSplitsQuery) matchesTimeRange(split Optional[TimeRange]) bool {
	if !split.Set {
		return !q.MaxTimeRangeEnd.Set
	}
	return q.TimeRange.Start.below(split.Value.End) && q.TimeRange.End.above(split.Value.Start) &&
		(!q.MaxTimeRangeEnd.Set || split.Value.End <= q.MaxTimeRangeEnd.Value)
}

// Contains reports whether value lies in the range.
func (r FilterRange[T]) Contains(value T) bool {
	return r.Start.below(value) && r.End.above(value)
}

// below reports whether the bound, as the start of a range, lets value pass.
func (b Bound[T]) below(value T) bool {
	switch b.Kind {
	case Included:
		return value >= b.Value
	case Excluded:
		return value > b.Value
	}
	return true
}

// above reports whether the bound, as the end of a range, lets value pass.
func (b Bound[T]) above(value T) bool {
	switch b.Kind {
	case Included:
		return value <= b.Value
	case Excluded:
		return value < b.Value
	}
	return true
}

func (f MaturityFilter) matches(m *SplitMetadata) bool {
	if f.Kind == AnyMaturity {
		return true
	}
	seconds, _ := m.MaturityTimestamp()
	return f.keeps(m.Maturity.Immature, seconds)
}

// keeps reports whether a split passes that is, or once was, immature until the given second.
func (f MaturityFilter) keeps(immature bool, until int64) bool {
	mature := !immature || until <= f.At
	return f.Kind == AnyMaturity || mature == (f.Kind == MatureAt)
}

// Matches reports whether a split with these tags, sorted by bytes, passes the filter.
func (f *TagFilter) Matches(tags []string) bool {
	switch f.Op {
	case TagAnd:
		for i := range f.Children {
			if !f.Children[i].Matches(tags) {
				return false
			}
		}
		return true
	case TagOr:
		for i := range f.Children {
			if f.Children[i].Matches(tags) {
				return true
			}
		}
		return len(f.Children) == 0
	}
	_, found := slices.BinarySearch(tags, f.Tag)
	return found == f.Present
}

// compareCursors orders (index UID, split id) by the bytes of their texts.
func compareCursors(aUID IndexUID, aID string, bUID IndexUID, bID string) int {
	if order := aUID.Compare(bUID); order != 0 {
		return order
	}
	return strings.Compare(aID, bID)
}
