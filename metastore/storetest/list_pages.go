package storetest

import (
	"math"

	"holdfast/metastore"
)

// listPagesCases are about limit and offset.
func listPagesCases() []testCase {
	return []testCase{
		{"S-50 a limit bounds the listing", func(b *bundle) {
			query := metastore.AllSplits(b.fiveSplits(payloadCreated))
			query.Limit = metastore.Some(uint64(3))
			if got := len(b.ids(query)); got != 3 {
				b.Errorf("listed %d splits, want 3", got)
			}
		}},
		{"S-51 an offset skips", func(b *bundle) {
			query := metastore.AllSplits(b.fiveSplits(payloadCreated))
			query.Offset = metastore.Some(uint64(3))
			if got := len(b.ids(query)); got != 2 {
				b.Errorf("listed %d splits, want 2", got)
			}
		}},
		{"a limit of zero lists nothing", func(b *bundle) {
			query := metastore.AllSplits(b.fiveSplits(payloadCreated))
			query.Limit = metastore.Some(uint64(0))
			b.wantIDs(b.ids(query))
		}},
		{"an offset behind the end lists nothing", func(b *bundle) {
			query := metastore.AllSplits(b.fiveSplits(payloadCreated))
			query.Offset = metastore.Some(uint64(5))
			b.wantIDs(b.ids(query))
		}},
		{"a limit and an offset of 2^63-1 are honoured", func(b *bundle) {
			query := metastore.AllSplits(b.fiveSplits(payloadCreated))
			query.Limit = metastore.Some(uint64(math.MaxInt64))
			b.wantIDsInAnyOrder(b.ids(query), "s1", "s2", "s3", "s4", "s5")
			query.Offset = metastore.Some(uint64(math.MaxInt64))
			b.wantIDs(b.ids(query))
		}},
		{"filters and order come first, then the offset, then the limit", func(b *bundle) {
			a, other := b.twoIndexes()
			query := sorted(metastore.SortByStaleness, a, other)
			query.ExcludedSplitIDs = []string{"5"}
			query.Offset, query.Limit = metastore.Some(uint64(1)), metastore.Some(uint64(3))
			b.wantIDs(b.ids(query), "3", "2", "6") // of 4 3 2 6 1
		}},
		{"pages by index UID, limit and cursor visit every split once (as the garbage collector does)", func(b *bundle) {
			a, other := b.index("a"), b.index("b")
			ids := numbered("s", 25)
			b.stage(a, newSplits(ids...)...)
			b.stage(other, newSplits(ids...)...)
			b.mark(a, ids...)
			b.mark(other, ids...)
			query := sorted(metastore.SortByIndexUID, a, other)
			query.States = []metastore.SplitState{metastore.MarkedForDeletion}
			query.Limit = metastore.Some(uint64(7))
			var seen []string
			for {
				page := b.list(query)
				for _, split := range page {
					seen = append(seen, split.Metadata.SplitID)
				}
				if len(page) < 7 {
					break
				}
				last := page[len(page)-1].Metadata
				query.After = metastore.Some(metastore.SplitCursor{IndexUID: last.IndexUID, SplitID: last.SplitID})
			}
			b.wantIDs(seen, append(append([]string{}, ids...), ids...)...)
		}},
		{"canon H24 pages without an order visit every split once, by index UID and split id (P2)", func(b *bundle) {
			a, other := b.index("a"), b.index("b")
			ids := numbered("s", 10)
			b.stage(a, newSplits(ids...)...)
			b.stage(other, newSplits(ids...)...)
			var seen []string
			for offset := uint64(0); offset < 20; offset += 4 {
				query := metastore.AllSplits(other, a)
				query.Offset, query.Limit = metastore.Some(offset), metastore.Some(uint64(4))
				seen = append(seen, b.ids(query)...)
			}
			b.wantIDs(seen, append(append([]string{}, ids...), ids...)...)
		}},
		{"pages in every order visit every split once", func(b *bundle) {
			a, other := b.twoIndexes()
			for _, by := range []metastore.SortBy{metastore.SortByNone, metastore.SortByStaleness, metastore.SortByIndexUID, metastore.SortByMaturityTimestamp} {
				var seen []string
				for offset := range uint64(6) {
					query := sorted(by, a, other)
					query.Offset, query.Limit = metastore.Some(offset), metastore.Some(uint64(1))
					seen = append(seen, b.ids(query)...)
				}
				b.wantIDsInAnyOrder(seen, "1", "2", "3", "4", "5", "6")
			}
		}},
	}
}
