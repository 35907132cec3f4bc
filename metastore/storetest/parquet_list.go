package storetest

import (
	"errors"
	"slices"

	"holdfast/metastore"
)

func parquetListCases() []parquetCase {
	return []parquetCase{
		{"an unknown index, and another incarnation, have no splits", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			b.wantListed(b.all(b.unknownIndex()))
			b.wantListed(b.all(otherIncarnation(uid)))
		}},
		{"only the splits of the index are listed", func(b *parquetBundle) {
			uid, other := b.index("a"), b.index("b")
			b.stage(uid, b.newSplit(uid, "s1"))
			b.stage(other, b.newSplit(other, "s2"))
			b.wantListed(b.all(uid), "s1")
			b.wantListed(b.all(other), "s2")
		}},
		{"splits are ordered by the bytes of their ids", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "b", "a-", "B", "a", "é", "aa", "_", "1", "a_b")...)
			b.wantListed(b.all(uid), "1", "B", "_", "a", "a-", "a_b", "aa", "b", "é")
		}},
		{"pages go on behind an id, which need not exist", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2", "s3", "s4", "s5")...)
			query := b.all(uid)
			query.Limit = metastore.Some(uint64(2))
			b.wantListed(query, "s1", "s2")
			query.After = metastore.Some(b.id("s2"))
			b.wantListed(query, "s3", "s4")
			query.After = metastore.Some(b.id("s4!"))
			b.wantListed(query, "s5")
			query.After = metastore.Some(b.id("s5"))
			b.wantListed(query)
			query.After = metastore.Some(b.id("s2\x00"))
			b.wantListed(query, "s3", "s4")
			query.After = metastore.Some("")
			b.wantListed(query, "s1", "s2")
		}},
		{"a limit of zero lists nothing, the greatest one everything", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			query := b.all(uid)
			query.Limit = metastore.Some(uint64(0))
			b.wantListed(query)
			query.Limit = metastore.Some(^uint64(0))
			b.wantListed(query, "s1", "s2")
		}},
		{"S-107 metric names keep splits that have any of them", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1", metricNames("cpu")), b.newSplit(uid, "s2", metricNames("mem")),
				b.newSplit(uid, "s3", metricNames("cpu", "mem")), b.newSplit(uid, "s4", metricNames()))
			for _, c := range []struct{ names, want []string }{
				{[]string{"cpu"}, []string{"s1", "s3"}},
				{[]string{"mem", "cpu"}, []string{"s1", "s2", "s3"}},
				{[]string{"nothing"}, nil},
				{[]string{"nothing", "a\x00b"}, nil},
				{[]string{""}, nil},
				{nil, []string{"s1", "s2", "s3", "s4"}},
			} {
				query := b.all(uid)
				query.MetricNames = c.names
				b.wantListed(query, c.want...)
			}
		}},
		{"each of the five tags keeps splits that list the value", func(b *parquetBundle) {
			uid := b.index("a")
			for _, key := range metastore.ParquetTagKeys() {
				b.stage(uid, b.newSplit(uid, "only-"+key, parquetTags(key, "x", "y")))
			}
			b.stage(uid, b.newSplit(uid, "none", parquetTags("zone", "x")), b.newSplit(uid, "empty", parquetTags("service"), parquetTags("host", "X")))
			for i, set := range []func(*metastore.ListParquetSplitsQuery, string){
				func(q *metastore.ListParquetSplitsQuery, v string) { q.TagService = metastore.Some(v) },
				func(q *metastore.ListParquetSplitsQuery, v string) { q.TagEnv = metastore.Some(v) },
				func(q *metastore.ListParquetSplitsQuery, v string) { q.TagDatacenter = metastore.Some(v) },
				func(q *metastore.ListParquetSplitsQuery, v string) { q.TagRegion = metastore.Some(v) },
				func(q *metastore.ListParquetSplitsQuery, v string) { q.TagHost = metastore.Some(v) },
			} {
				for value, want := range map[string][]string{"y": {"only-" + metastore.ParquetTagKeys()[i]}, "z": nil, "": nil, "\x00": nil} {
					query := b.all(uid)
					set(query, value)
					b.wantListed(query, want...)
				}
			}
		}},
		{"all filters must hold", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1", metricNames("cpu"), parquetTags("service", "web"), parquetTags("env", "prod")),
				b.newSplit(uid, "s2", metricNames("cpu"), parquetTags("service", "web"), dataRange(5000, 6000)))
			b.publish(uid, "s1")
			query := b.all(uid)
			query.MetricNames, query.TagService = []string{"cpu"}, metastore.Some("web")
			b.wantListed(query, "s1", "s2")
			query.TagEnv = metastore.Some("prod")
			b.wantListed(query, "s1")
			query.States = []metastore.SplitState{metastore.Staged}
			b.wantListed(query)
		}},
		{"canon H36 a node id matches nothing, because none is told, not even the empty one", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			for _, node := range []string{"", "node-1", "\x00"} {
				query := b.all(uid)
				query.NodeID = metastore.Some(node)
				b.wantListed(query)
			}
		}},
		{"delete opstamps are 0", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			query := b.all(uid)
			query.DeleteOpstamp.End = metastore.Bound[uint64]{Kind: metastore.Included, Value: 0}
			b.wantListed(query, "s1")
			query.DeleteOpstamp = metastore.FilterRange[uint64]{Start: metastore.Bound[uint64]{Kind: metastore.Included, Value: 1}}
			b.wantListed(query)
			query.DeleteOpstamp = metastore.FilterRange[uint64]{Start: metastore.Bound[uint64]{Kind: metastore.Excluded, Value: ^uint64(0)}}
			b.wantListed(query)
		}},
		{"the error of a visit ends the listing and is returned unchanged", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2", "s3")...)
			stop := errors.New("stop")
			visited := 0
			err := b.store.ListParquetSplits(b.ctx, b.kind, b.all(uid), func(*metastore.ParquetSplitRow) error {
				if visited++; visited == 2 {
					return stop
				}
				return nil
			})
			if err != stop || visited != 2 { //nolint:errorlint // unchanged is the rule
				b.Fatalf("error %v after %d splits", err, visited)
			}
		}},
		{"a listing of many splits in pages finds each once", func(b *parquetBundle) {
			uid := b.index("a")
			var want []string
			for batch := range 3 {
				names := numbered("s"+itoa(int64(batch)), 100)
				b.stage(uid, b.newSplits(uid, names...)...)
				want = append(want, names...)
			}
			query := b.all(uid)
			query.Limit = metastore.Some(uint64(70))
			var got []string
			for {
				page := b.names(query)
				got = append(got, page...)
				if len(page) < 70 {
					break
				}
				query.After = metastore.Some(b.id(page[len(page)-1]))
			}
			slices.Sort(want)
			b.wantIDs(got, want...)
		}},
	}
}
