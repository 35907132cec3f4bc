package metastore

// DeleteQuery says which documents of an index are to be deleted.
type DeleteQuery struct {
	IndexUID IndexUID
	// StartTimestamp (inclusive) and EndTimestamp (exclusive) are seconds by convention; nothing checks them.
	StartTimestamp, EndTimestamp Optional[int64]
	// QueryAST is opaque text.
	QueryAST string
}

// DeleteTask is a delete query with the opstamp that orders it among the others of its index. Splits
// whose delete opstamp is below it have yet to apply it.
type DeleteTask struct {
	CreateTimestamp int64 // seconds
	Opstamp         uint64
	Query           DeleteQuery
}

// StaleSplitsQuery selects the Published splits of an index that are mature now and have a delete
// opstamp below DeleteOpstamp, at most Limit of them.
type StaleSplitsQuery struct {
	IndexUID      IndexUID
	DeleteOpstamp uint64
	Limit         uint64
}

// ListSplitsQuery returns the same selection as a query at now, in seconds, in the order of a listing
// of stale splits: by delete opstamp, then by publish timestamp.
func (q StaleSplitsQuery) ListSplitsQuery(now int64) *ListSplitsQuery {
	query := AllSplits(q.IndexUID)
	query.States = []SplitState{Published}
	query.DeleteOpstamp.End = Bound[uint64]{Kind: Excluded, Value: q.DeleteOpstamp}
	query.Maturity = MaturityFilter{Kind: MatureAt, At: now}
	query.SortBy = SortByStaleness
	query.Limit = Some(q.Limit)
	return query
}

// ValidateDeleteOpstamp refuses, with InvalidArgument, what not every store can hold as the delete opstamp of a split.
func ValidateDeleteOpstamp(opstamp uint64) error {
	if opstamp > MaxOpstamp {
		return InvalidArgument("delete_opstamp is %d; at most %d is allowed", opstamp, uint64(MaxOpstamp))
	}
	return nil
}

// ValidateDeleteOpstampFloor refuses, with InvalidArgument, a floor above which a store has no opstamp left.
func ValidateDeleteOpstampFloor(floor uint64) error {
	if floor >= MaxOpstamp {
		return InvalidArgument("delete_opstamp_floor is %d; it must be below %d", floor, uint64(MaxOpstamp))
	}
	return nil
}
