package metastore

// ListSplitsQuery selects splits. All filters must hold. The zero value matches nothing, because it
// names no index; AllSplits returns a query without filters.
type ListSplitsQuery struct {
	// AllIndexes searches every index; IndexUIDs is ignored then. Otherwise only these incarnations are
	// searched; unknown ones contribute nothing and repeated ones count once.
	AllIndexes bool
	IndexUIDs  []IndexUID

	NodeID Optional[string]
	// States is the set of states wanted; empty means all.
	States []SplitState
	// Tags is nil when tags do not matter.
	Tags *TagFilter

	// TimeRange keeps splits whose time range intersects it, and those that have none.
	TimeRange FilterRange[int64]
	// MaxTimeRangeEnd keeps splits whose time range ends at or before it; splits without one are dropped.
	MaxTimeRangeEnd Optional[int64]
	DeleteOpstamp   FilterRange[uint64]
	UpdateTimestamp FilterRange[int64]
	CreateTimestamp FilterRange[int64]
	Maturity        MaturityFilter

	// IncludedSplitIDs keeps only these ids; empty means all.
	IncludedSplitIDs []string
	ExcludedSplitIDs []string

	SortBy SortBy
	// After keeps splits strictly behind the cursor in the order of SortByIndexUID, whatever SortBy is.
	After Optional[SplitCursor]
	// Offset and Limit apply after sorting, in this order.
	Offset Optional[uint64]
	Limit  Optional[uint64]
}

// SplitCursor is a place in the order (index UID, split id).
type SplitCursor struct {
	IndexUID IndexUID
	SplitID  string
}

// SortBy is the order of a listing; ties are broken by index UID and split id.
type SortBy uint8

const (
	// SortByNone leaves the order open. With an offset or a limit it is that of SortByIndexUID, so that pages are stable.
	SortByNone SortBy = iota
	// SortByStaleness is by delete opstamp, then by publish timestamp, unpublished last.
	SortByStaleness
	// SortByIndexUID is by index UID, then by split id, both by the bytes of their text.
	SortByIndexUID
	// SortByMaturityTimestamp is by the time at which the split is mature (0 if it always was), then by split id.
	SortByMaturityTimestamp
)

// Bound is one end of a FilterRange. The zero value is unbounded.
type Bound[T int64 | uint64] struct {
	Kind  BoundKind
	Value T
}

// BoundKind says whether the value of a Bound belongs to the range.
type BoundKind uint8

const (
	// Unbounded ends no range.
	Unbounded BoundKind = iota
	// Included belongs to the range.
	Included
	// Excluded does not belong to the range.
	Excluded
)

// FilterRange is a range of values. The zero value is unbounded at both ends.
type FilterRange[T int64 | uint64] struct {
	Start, End Bound[T]
}

// MaturityFilter keeps the splits that are mature at a time, or those that are not. The zero value
// keeps all.
type MaturityFilter struct {
	Kind MaturityFilterKind
	At   int64 // seconds
}

// MaturityFilterKind selects mature or immature splits.
type MaturityFilterKind uint8

const (
	// AnyMaturity keeps all splits.
	AnyMaturity MaturityFilterKind = iota
	// MatureAt keeps the splits whose maturity time is at or before the filter's.
	MatureAt
	// ImmatureAt keeps the others.
	ImmatureAt
)

// TagFilter is a tree of conditions on the tags of a split. Exactly one of its forms is used.
type TagFilter struct {
	Op TagFilterOp
	// Children of TagAnd (all must hold; none means true) and TagOr (one must hold; none means true).
	Children []TagFilter
	// Tag and Present of TagLeaf: the set of tags contains exactly this string, or does not.
	Tag     string
	Present bool
}

// TagFilterOp is the form of a TagFilter.
type TagFilterOp uint8

const (
	// TagLeaf tests one tag.
	TagLeaf TagFilterOp = iota
	// TagAnd is a conjunction.
	TagAnd
	// TagOr is a disjunction.
	TagOr
)

// AllSplits returns a query for every split of the given indexes, or of all indexes if none is given.
func AllSplits(indexUIDs ...IndexUID) *ListSplitsQuery {
	return &ListSplitsQuery{AllIndexes: len(indexUIDs) == 0, IndexUIDs: indexUIDs}
}
