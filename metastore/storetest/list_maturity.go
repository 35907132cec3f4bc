package storetest

import "holdfast/metastore"

// listMaturityCases are about the maturity filter.
func listMaturityCases() []testCase {
	return []testCase{
		{"S-79 and S-80 maturity at the time of creation", func(b *bundle) {
			const start = payloadCreated
			uid := b.fiveSplits(start)
			b.stage(uid, newSplit("s6", created(start+1)))
			b.checkFilters(uid, []filterCase{
				{"S-79 mature", matureAt(start), []string{"s1", "s4", "s5", "s6"}},
				{"S-80 immature", immatureAt(start), []string{"s2", "s3"}},
			})
		}},
		{"a split matures when its period, in whole seconds, has passed since its document's create timestamp", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("mature"), newSplit("p0", immature(0)), newSplit("p999", immature(999)),
				newSplit("p1000", immature(1000)), newSplit("p20500", immature(20_500)))
			b.checkFilters(uid, []filterCase{
				{"mature a second before", matureAt(payloadCreated - 1), []string{"mature"}},
				{"immature a second before", immatureAt(payloadCreated - 1), []string{"p0", "p999", "p1000", "p20500"}},
				{"mature at creation", matureAt(payloadCreated), []string{"mature", "p0", "p999"}},
				{"mature after a second", matureAt(payloadCreated + 1), []string{"mature", "p0", "p999", "p1000"}},
				{"immature after 19 seconds", immatureAt(payloadCreated + 19), []string{"p20500"}},
				{"immature after 20 seconds", immatureAt(payloadCreated + 20), nil},
				{"mature long ago", matureAt(0), []string{"mature"}},
			})
		}},
		{"canon H19 the other filters count when maturity is asked for", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("a", node("n1"), timeRange(0, 10), immature(5000)), newSplit("b", node("n2"), timeRange(20, 30), immature(5000)))
			immatureAnd := func(set func(*metastore.ListSplitsQuery)) func(*metastore.ListSplitsQuery) {
				return func(q *metastore.ListSplitsQuery) {
					immatureAt(payloadCreated)(q)
					set(q)
				}
			}
			b.checkFilters(uid, []filterCase{
				{"alone", immatureAt(payloadCreated), []string{"a", "b"}},
				{"node id", immatureAnd(func(q *metastore.ListSplitsQuery) { q.NodeID = metastore.Some("n1") }), []string{"a"}},
				{"time range", immatureAnd(func(q *metastore.ListSplitsQuery) { q.TimeRange = from(15).onwards() }), []string{"b"}},
				{"maximum end", immatureAnd(maxEnd(15)), []string{"a"}},
				{"cursor", immatureAnd(func(q *metastore.ListSplitsQuery) {
					q.After = metastore.Some(metastore.SplitCursor{IndexUID: uid, SplitID: "a"})
				}), []string{"b"}},
			})
		}},
		{"maturity follows the document that was staged last", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", immature(5000)))
			b.stage(uid, newSplit("s1"))
			b.checkFilters(uid, []filterCase{{"mature", matureAt(0), []string{"s1"}}})
		}},
	}
}

func matureAt(at int64) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) {
		q.Maturity = metastore.MaturityFilter{Kind: metastore.MatureAt, At: at}
	}
}

func immatureAt(at int64) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) {
		q.Maturity = metastore.MaturityFilter{Kind: metastore.ImmatureAt, At: at}
	}
}
