package storetest

import (
	"slices"

	"holdfast/metastore"
)

// listOrderCases are about the order of listings and the cursor.
func listOrderCases() []testCase {
	return []testCase{
		{"S-87 by staleness: delete opstamp first", func(b *bundle) {
			a, other := b.twoIndexes()
			b.wantIDs(b.ids(sorted(metastore.SortByStaleness, a, other)), "4", "3", "5", "2", "6", "1")
		}},
		{"S-88 by index UID, then split id", func(b *bundle) {
			a, other := b.twoIndexes()
			for _, uids := range [][]metastore.IndexUID{{a, other}, {other, a}} {
				b.wantIDs(b.ids(sorted(metastore.SortByIndexUID, uids...)), "1", "3", "5", "2", "4", "6")
			}
		}},
		{"S-89 a cursor continues behind every split, with index UID and split id intact", func(b *bundle) {
			a, other := b.twoIndexes()
			query := sorted(metastore.SortByIndexUID, a, other)
			all := b.list(query)
			for i, split := range all {
				query.After = metastore.Some(metastore.SplitCursor{IndexUID: split.Metadata.IndexUID, SplitID: split.Metadata.SplitID})
				rest := b.list(query)
				if len(rest) != len(all)-i-1 {
					b.Fatalf("behind split %d: %d splits, want %d", i, len(rest), len(all)-i-1)
				}
				for j, got := range rest {
					want := all[i+1+j]
					if got.Metadata.SplitID != want.Metadata.SplitID || got.Metadata.IndexUID != want.Metadata.IndexUID {
						b.Errorf("behind split %d: %s of %s, want %s of %s", i, got.Metadata.SplitID, got.Metadata.IndexUID, want.Metadata.SplitID, want.Metadata.IndexUID)
					}
				}
			}
		}},
		{"S-90 a cursor on all indexes", func(b *bundle) {
			a, other := b.twoIndexes()
			query := sorted(metastore.SortByIndexUID)
			query.After = metastore.Some(metastore.SplitCursor{IndexUID: a, SplitID: "1"})
			var ids []string
			for _, split := range b.list(query) {
				if split.Metadata.IndexUID == a || split.Metadata.IndexUID == other {
					ids = append(ids, split.Metadata.SplitID)
				}
			}
			b.wantIDs(ids, "3", "5", "2", "4", "6")
		}},
		{"a cursor need not name an existing split or index, and works without order", func(b *bundle) {
			a, other := b.twoIndexes()
			after := func(uid metastore.IndexUID, id string) func(*metastore.ListSplitsQuery) {
				return func(q *metastore.ListSplitsQuery) {
					q.After = metastore.Some(metastore.SplitCursor{IndexUID: uid, SplitID: id})
				}
			}
			query := metastore.AllSplits(a, other)
			after(a, "4")(query)
			b.wantIDsInAnyOrder(b.ids(query), "5", "2", "4", "6")
			after(a, "")(query)
			b.wantIDsInAnyOrder(b.ids(query), "1", "3", "5", "2", "4", "6")
			after(metastore.IndexUID{IndexID: a.IndexID + "0"}, "")(query)
			b.wantIDsInAnyOrder(b.ids(query), "1", "3", "5", "2", "4", "6")
			after(metastore.IndexUID{IndexID: "zzz"}, "")(query)
			b.wantIDs(b.ids(query))
		}},
		{"by maturity time: mature ones first, then as they mature, ties by split id", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("d", immature(30_000)), newSplit("c", immature(10_000)), newSplit("b"), newSplit("a"),
				newSplit("e", immature(10_999)), newSplit("f", created(5), immature(1000)))
			b.wantIDs(b.ids(sorted(metastore.SortByMaturityTimestamp, uid)), "a", "b", "f", "c", "e", "d")
		}},
		{"canon H22 by staleness: unpublished splits last among equal opstamps, ties by split id", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2", "s3", "s4")...)
			b.publish(uid, "s2")
			b.nextSecond()
			b.publish(uid, "s1", "s3")
			b.wantIDs(b.ids(sorted(metastore.SortByStaleness, uid)), "s2", "s1", "s3", "s4")
		}},
		{"canon H23 index UIDs are ordered by the bytes of their text", func(b *bundle) {
			plain, dash, digit := b.index("x"), b.index("x-y"), b.index("x1")
			for _, uid := range []metastore.IndexUID{plain, dash, digit} {
				b.stage(uid, newSplit(uid.IndexID[len(b.prefix)+1:]))
			}
			query := sorted(metastore.SortByIndexUID, plain, dash, digit)
			b.wantIDs(b.ids(query), "x-y", "x1", "x")
			query.After = metastore.Some(metastore.SplitCursor{IndexUID: dash, SplitID: "x-y"})
			b.wantIDs(b.ids(query), "x1", "x")
		}},
		{"split ids are ordered by their bytes, not by a language", func(b *bundle) {
			uid := b.index("a")
			ids := []string{"é", "a", "B", "_", "a-b", "ab", "Z", "0", "aB", "日"}
			b.stage(uid, newSplits(ids...)...)
			want := slices.Sorted(slices.Values(ids))
			b.wantIDs(b.ids(sorted(metastore.SortByIndexUID, uid)), want...)
			b.wantIDs(b.ids(sorted(metastore.SortByMaturityTimestamp, uid)), want...)
			query := sorted(metastore.SortByIndexUID, uid)
			query.After = metastore.Some(metastore.SplitCursor{IndexUID: uid, SplitID: "_"})
			b.wantIDs(b.ids(query), want[4:]...)
		}},
	}
}

// twoIndexes creates index A with splits 1 (opstamp 5, Published), 3 (1, marked), 5 (2, Staged) and
// index B with 2 (3, Published), 4 (0, marked), 6 (4, Staged). A sorts before B.
func (b *bundle) twoIndexes() (first, second metastore.IndexUID) {
	b.Helper()
	first, second = b.index("a"), b.index("b")
	b.stage(first, newSplit("1", opstamp(5)), newSplit("3", opstamp(1)), newSplit("5", opstamp(2)))
	b.stage(second, newSplit("2", opstamp(3)), newSplit("4", opstamp(0)), newSplit("6", opstamp(4)))
	b.publish(first, "1", "3")
	b.publish(second, "2", "4")
	b.mark(first, "3")
	b.mark(second, "4")
	return first, second
}

func sorted(by metastore.SortBy, uids ...metastore.IndexUID) *metastore.ListSplitsQuery {
	query := metastore.AllSplits(uids...)
	query.SortBy = by
	return query
}
