package metastore

import (
	"cmp"
	"strings"
)

// Compare orders two splits as the query asks. Different splits never compare equal: SortByNone
// orders as SortByIndexUID does, and so do splits that SortByStaleness leaves in a tie;
// SortByMaturityTimestamp goes on with the split id and then the index UID.
func (q *ListSplitsQuery) Compare(aUID IndexUID, a *Split, bUID IndexUID, b *Split) int {
	switch q.SortBy {
	case SortByStaleness:
		if order := compareStaleness(a, b); order != 0 {
			return order
		}
	case SortByMaturityTimestamp:
		aTime, _ := a.Metadata.MaturityTimestamp()
		bTime, _ := b.Metadata.MaturityTimestamp()
		if order := cmp.Or(cmp.Compare(aTime, bTime), strings.Compare(a.Metadata.SplitID, b.Metadata.SplitID)); order != 0 {
			return order
		}
	}
	return compareCursors(aUID, a.Metadata.SplitID, bUID, b.Metadata.SplitID)
}

// compareStaleness orders by delete opstamp, then by publish timestamp, unpublished last.
func compareStaleness(a, b *Split) int {
	if order := cmp.Compare(a.Metadata.DeleteOpstamp, b.Metadata.DeleteOpstamp); order != 0 {
		return order
	}
	switch {
	case a.PublishTimestamp.Set && b.PublishTimestamp.Set:
		return cmp.Compare(a.PublishTimestamp.Value, b.PublishTimestamp.Value)
	case a.PublishTimestamp.Set:
		return -1
	case b.PublishTimestamp.Set:
		return 1
	}
	return 0
}
