package storetest

import (
	"math"

	"holdfast/metastore"
)

// listTimeBoundsCases are about the filters on the time range of splits.
func listTimeBoundsCases() []testCase {
	return []testCase{
		{"S-52 to S-72 a time range selects the splits that intersect it, and those without one", func(b *bundle) {
			b.checkFilters(b.fiveSplits(payloadCreated), []filterCase{
				{"S-52", stagedIn(from(0).until(99)), []string{"s1", "s5"}},
				{"S-53", stagedIn(from(200).onwards()), []string{"s3", "s4", "s5"}},
				{"S-54", stagedIn(before(200)), []string{"s1", "s2", "s5"}},
				{"S-55", stagedIn(from(0).until(100)), []string{"s1", "s5"}},
				{"S-56", stagedIn(from(0).until(101)), []string{"s1", "s2", "s5"}},
				{"S-57", stagedIn(from(0).until(199)), []string{"s1", "s2", "s5"}},
				{"S-58", stagedIn(from(0).until(200)), []string{"s1", "s2", "s5"}},
				{"S-59", stagedIn(from(0).until(201)), []string{"s1", "s2", "s3", "s5"}},
				{"S-60", stagedIn(from(0).until(299)), []string{"s1", "s2", "s3", "s5"}},
				{"S-61", stagedIn(from(0).until(300)), []string{"s1", "s2", "s3", "s5"}},
				{"S-62", stagedIn(from(0).until(301)), []string{"s1", "s2", "s3", "s4", "s5"}},
				{"S-63", stagedIn(from(301).until(400)), []string{"s4", "s5"}},
				{"S-64", stagedIn(from(300).until(400)), []string{"s4", "s5"}},
				{"S-65", stagedIn(from(299).until(400)), []string{"s3", "s4", "s5"}},
				{"S-66", stagedIn(from(201).until(400)), []string{"s3", "s4", "s5"}},
				{"S-67", stagedIn(from(200).until(400)), []string{"s3", "s4", "s5"}},
				{"S-68", stagedIn(from(199).until(400)), []string{"s2", "s3", "s4", "s5"}},
				{"S-69", stagedIn(from(101).until(400)), []string{"s2", "s3", "s4", "s5"}},
				{"S-70", stagedIn(from(100).until(400)), []string{"s2", "s3", "s4", "s5"}},
				{"S-71", stagedIn(from(99).until(400)), []string{"s1", "s2", "s3", "s4", "s5"}},
				{"S-72", stagedIn(from(1000).until(1100)), []string{"s5"}},
			})
		}},
		{"Q2 each end of the time range may be included or excluded", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", timeRange(100, 200)))
			bound := func(kind metastore.BoundKind, at int64) metastore.Bound[int64] {
				return metastore.Bound[int64]{Kind: kind, Value: at}
			}
			b.checkFilters(uid, []filterCase{
				{"from 200", stagedIn(span{Start: bound(metastore.Included, 200)}), []string{"s1"}},
				{"from 201", stagedIn(span{Start: bound(metastore.Included, 201)}), nil},
				{"after 199", stagedIn(span{Start: bound(metastore.Excluded, 199)}), []string{"s1"}},
				{"after 200", stagedIn(span{Start: bound(metastore.Excluded, 200)}), nil},
				{"until 100", stagedIn(span{End: bound(metastore.Included, 100)}), []string{"s1"}},
				{"until 99", stagedIn(span{End: bound(metastore.Included, 99)}), nil},
				{"before 101", stagedIn(span{End: bound(metastore.Excluded, 101)}), []string{"s1"}},
				{"before 100", stagedIn(span{End: bound(metastore.Excluded, 100)}), nil},
				{"inside", stagedIn(span{Start: bound(metastore.Excluded, 149), End: bound(metastore.Excluded, 151)}), []string{"s1"}},
			})
		}},
		{"bounds of the whole signed range are honoured", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("least", timeRange(math.MinInt64, math.MinInt64)), newSplit("most", timeRange(math.MaxInt64, math.MaxInt64)))
			b.checkFilters(uid, []filterCase{
				{"from the most", stagedIn(from(math.MaxInt64).onwards()), []string{"most"}},
				{"before the most", stagedIn(before(math.MaxInt64)), []string{"least"}},
				{"before the least", stagedIn(before(math.MinInt64)), nil},
				{"everything", stagedIn(from(math.MinInt64).until(math.MaxInt64)), []string{"least"}},
			})
		}},
		{"an inverted time range selects splits that reach over both its ends", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("wide", timeRange(0, 100)), newSplit("narrow", timeRange(40, 60)), newSplit("none"))
			b.checkFilters(uid, []filterCase{
				{"from 80 until 20", stagedIn(from(80).until(20)), []string{"wide", "none"}},
			})
		}},
		{"F6 the filters on time ranges one by one", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("a", timeRange(32, 40)), newSplit("none"), newSplit("b", timeRange(0, 90)))
			b.checkFilters(uid, []filterCase{
				{"start after 45", stagedIn(span{Start: metastore.Bound[int64]{Kind: metastore.Excluded, Value: 45}}), []string{"none", "b"}},
				{"end before 45", stagedIn(before(45)), []string{"a", "none", "b"}},
			})
		}},
		{"canon H20 the maximum end of the time range drops splits that end later and splits without a range", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("a", timeRange(32, 40)), newSplit("none"), newSplit("b", timeRange(0, 90)))
			b.checkFilters(uid, []filterCase{
				{"50", maxEnd(50), []string{"a"}},
				{"40", maxEnd(40), []string{"a"}},
				{"39", maxEnd(39), nil},
				{"90", maxEnd(90), []string{"a", "b"}},
			})
		}},
	}
}

// fiveSplits creates an index with the five Staged splits of the peer's list cases; all but s4 are
// created at the given time.
func (b *bundle) fiveSplits(at int64) metastore.IndexUID {
	b.Helper()
	uid := b.index("a")
	b.stage(uid,
		newSplit("s1", timeRange(0, 99), created(at), immature(0), tags("$tag!", "$tag:bar", "tag!", "tag:foo"), opstamp(3)),
		newSplit("s2", timeRange(100, 199), created(at), immature(10_000), tags("$tag!", "$tag:bar", "tag!"), opstamp(1)),
		newSplit("s3", timeRange(200, 299), created(at), immature(20_000), tags("$tag!", "tag!", "tag:baz", "tag:foo"), opstamp(5)),
		newSplit("s4", timeRange(300, 399), created(0), tags("$tag!", "tag!", "tag:foo"), opstamp(7)),
		newSplit("s5", created(at), tags("$tag!", "tag!", "tag:baz", "tag:biz"), opstamp(9)))
	return uid
}

func stagedIn(r span) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) {
		q.States, q.TimeRange = []metastore.SplitState{metastore.Staged}, r
	}
}

func maxEnd(at int64) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) { q.MaxTimeRangeEnd = metastore.Some(at) }
}
