package storetest

import (
	"math"
	"slices"
	"strings"

	"holdfast/metastore"
)

// oddValuesCases are about values in requests that no store can hold or that are at the end of their
// range: they are answered, and never a reason for a failure inside the store.
func oddValuesCases() []testCase {
	const nul = "a\x00b"
	return []testCase{
		{"the character U+0000 in a split document gives InvalidArgument and stages nothing, in both modes", func(b *bundle) {
			uid := b.index("a")
			for _, bad := range []metastore.SplitMetadata{
				newSplit(nul), newSplit("s1", node(nul)), newSplit("s1", tags(nul)),
				newSplit("s1", func(s *metastore.SplitMetadata) { s.SourceID = nul }),
			} {
				b.wantKind(b.tryStage(uid, newSplit("ok"), bad), metastore.KindInvalidArgument)
				_, err := b.tryCreateOnly(uid, newSplit("ok"), bad)
				b.wantKind(err, metastore.KindInvalidArgument)
			}
			b.wantStates(uid, nil)
		}},
		{"split ids that no split can have are unknown ones", func(b *bundle) {
			uid := b.published("s1")
			for _, id := range []string{nul, strings.Repeat("x", 1000)} {
				b.wantNotFoundSplits(b.tryPublish(uid, id, "none"), id, "none")
				b.wantNotFoundSplits(b.tryReplace(uid, nil, []string{"s1", id}), id)
				b.mark(uid, id)
				b.delete(uid, id)
			}
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published})
		}},
		{"filters that no split can match list nothing", func(b *bundle) {
			uid := b.published("s1")
			b.checkFilters(uid, []filterCase{
				{"node id", func(q *metastore.ListSplitsQuery) { q.NodeID = metastore.Some(nul) }, nil},
				{"tag", tagged(tag(nul)), nil},
				{"no tag", tagged(noTag(nul)), []string{"s1"}},
				{"included", splitIDs([]string{nul}, nil), nil},
				{"included, with another", splitIDs([]string{nul, "s1"}, nil), []string{"s1"}},
				{"excluded", splitIDs(nil, []string{nul}), []string{"s1"}},
			})
			unknown := metastore.IndexUID{IndexID: nul}
			b.wantIDs(b.ids(metastore.AllSplits(unknown)))
			b.wantIDs(b.ids(metastore.AllSplits(unknown, uid)), "s1")
			_, err := b.store.IndexMetadata(b.ctx, byID(nul))
			b.wantNotFoundIndex(err, unknown)
			b.wantNotFoundIndex(b.tryStage(unknown, newSplit("s")), unknown)
			b.wantNotFoundIndex(b.store.DeleteIndex(b.ctx, unknown), unknown)
		}},
		{"a cursor that no split can be at works by the order of bytes", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("a", "b")...)
			query := sorted(metastore.SortByIndexUID, uid)
			query.After = metastore.Some(metastore.SplitCursor{IndexUID: uid, SplitID: nul})
			b.wantIDs(b.ids(query), "b")
		}},
		{"timestamps at the ends of their range are answered", func(b *bundle) {
			uid := b.published("s1")
			included := func(at int64) metastore.Bound[int64] {
				return metastore.Bound[int64]{Kind: metastore.Included, Value: at}
			}
			excluded := func(at int64) metastore.Bound[int64] {
				return metastore.Bound[int64]{Kind: metastore.Excluded, Value: at}
			}
			var cases []filterCase
			for name, c := range map[string]struct {
				bounds span
				found  bool
			}{
				"from the least":   {span{Start: included(math.MinInt64)}, true},
				"behind the least": {span{Start: excluded(math.MinInt64)}, true},
				"from the most":    {span{Start: included(math.MaxInt64)}, false},
				"behind the most":  {span{Start: excluded(math.MaxInt64)}, false},
				"until the least":  {span{End: included(math.MinInt64)}, false},
				"before the least": {span{End: excluded(math.MinInt64)}, false},
				"until the most":   {span{End: included(math.MaxInt64)}, true},
				"before the most":  {span{End: excluded(math.MaxInt64)}, true},
			} {
				var want []string
				if c.found {
					want = []string{"s1"}
				}
				cases = append(cases,
					filterCase{"updated " + name, func(q *metastore.ListSplitsQuery) { q.UpdateTimestamp = c.bounds }, want},
					filterCase{"created " + name, func(q *metastore.ListSplitsQuery) { q.CreateTimestamp = c.bounds }, want})
			}
			cases = append(cases,
				filterCase{"mature at the least", matureAt(math.MinInt64), []string{"s1"}},
				filterCase{"mature at the most", matureAt(math.MaxInt64), []string{"s1"}},
				filterCase{"immature at the most", immatureAt(math.MaxInt64), nil},
				filterCase{"max end, the least", maxEnd(math.MinInt64), nil})
			b.checkFilters(uid, cases)
		}},
		{"canon H41 delete opstamp bounds above 2^63-1 are answered", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(math.MaxInt64)), newSplit("s2"))
			both := []string{"s1", "s2"}
			for _, above := range []uint64{math.MaxInt64 + 1, math.MaxUint64} {
				b.checkFilters(uid, []filterCase{
					{"from", opstamps(metastore.Included, above, metastore.Unbounded, 0), nil},
					{"behind", opstamps(metastore.Excluded, above, metastore.Unbounded, 0), nil},
					{"until", opstamps(metastore.Unbounded, 0, metastore.Included, above), both},
					{"before", opstamps(metastore.Unbounded, 0, metastore.Excluded, above), both},
				})
			}
		}},
		{"limits and offsets above 2^63-1 are answered", func(b *bundle) {
			query := metastore.AllSplits(b.published("s1", "s2"))
			query.Limit = metastore.Some(uint64(math.MaxUint64))
			b.wantIDs(b.ids(query), "s1", "s2")
			query.Offset = metastore.Some(uint64(math.MaxUint64))
			b.wantIDs(b.ids(query))
			query.Offset = metastore.Some(uint64(1))
			b.wantIDs(b.ids(query), "s2")
		}},
		{"file sizes that add up above 2^63-1 are counted", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", fileSize(math.MaxInt64)), newSplit("s2", fileSize(math.MaxInt64)))
			if got := b.stats(uid).Staged; got != (metastore.SplitStats{NumSplits: 2, TotalSizeBytes: math.MaxUint64 - 1}) {
				b.Errorf("staged stats are %+v, want 2 splits of %d bytes", got, uint64(math.MaxUint64-1))
			}
		}},
		{"lists of ten thousand ids are answered", func(b *bundle) {
			uid := b.published("s1", "s2")
			many := numbered("x", 10_000)
			b.checkFilters(uid, []filterCase{
				{"included", splitIDs(append([]string{"s1"}, many...), nil), []string{"s1"}},
				{"excluded", splitIDs(nil, append([]string{"s1"}, many...)), []string{"s2"}},
			})
			b.mark(uid, append([]string{"s1"}, many...)...)
			b.delete(uid, append([]string{"s1"}, many...)...)
			b.wantStates(uid, map[string]metastore.SplitState{"s2": metastore.Published})
			got := metastore.AsError(b.tryPublish(uid, many...))
			if got == nil || got.Kind != metastore.KindNotFound {
				b.Fatalf("publishing ten thousand unknown splits: %v, want NotFound", got)
			}
			named := got.Entity.SplitIDs
			if len(named) == 0 || !slices.Equal(named, many[:len(named)]) || len(named) < len(many) && !b.profile.CutsErrors {
				b.Errorf("the error names %d splits, from %.20q, want all, in the order of the request", len(named), named[:min(3, len(named))])
			}
		}},
	}
}
