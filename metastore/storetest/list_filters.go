package storetest

import (
	"math"

	"holdfast/metastore"
)

// filterCase is a query on the splits of one index and the ids that it selects.
type filterCase struct {
	name string
	set  func(*metastore.ListSplitsQuery)
	want []string
}

// checkFilters runs queries on one index, each in a sub-test.
func (b *bundle) checkFilters(uid metastore.IndexUID, cases []filterCase) {
	b.Helper()
	for _, c := range cases {
		query := metastore.AllSplits(uid)
		c.set(query)
		got := b.ids(query)
		if !sameSet(got, c.want) {
			b.Errorf("%s: listed %v, want %v", c.name, got, c.want)
		}
	}
}

func listFiltersCases() []testCase {
	return []testCase{
		{"states select, none selects all, repetitions are harmless (P1)", func(b *bundle) {
			b.checkFilters(b.sixSplits(), []filterCase{
				{"none", func(*metastore.ListSplitsQuery) {}, []string{"s1", "s2", "s3", "s4", "s5", "s6"}},
				{"Staged", states(metastore.Staged), []string{"s5", "s6"}},
				{"Published", states(metastore.Published), []string{"s1", "s2"}},
				{"MarkedForDeletion", states(metastore.MarkedForDeletion), []string{"s3", "s4"}},
				{"two", states(metastore.Published, metastore.MarkedForDeletion), []string{"s1", "s2", "s3", "s4"}},
				{"one twice", states(metastore.Staged, metastore.Staged), []string{"s5", "s6"}},
				{"all", states(metastore.Staged, metastore.Published, metastore.MarkedForDeletion), []string{"s1", "s2", "s3", "s4", "s5", "s6"}},
			})
		}},
		{"included and excluded ids select; an id in both is excluded (P3)", func(b *bundle) {
			b.checkFilters(b.sixSplits(), []filterCase{
				{"included", splitIDs([]string{"s1", "s6", "s1", "x"}, nil), []string{"s1", "s6"}},
				{"excluded", splitIDs(nil, []string{"s1", "s2", "x"}), []string{"s3", "s4", "s5", "s6"}},
				{"both", splitIDs([]string{"s1", "s2"}, []string{"s2", "s3"}), []string{"s1"}},
				{"included and state", func(q *metastore.ListSplitsQuery) {
					q.IncludedSplitIDs, q.States = []string{"s1", "s6"}, []metastore.SplitState{metastore.Staged}
				}, []string{"s6"}},
				{"only an unknown id", splitIDs([]string{"x"}, nil), nil},
			})
		}},
		{"S-81 the node id selects exactly", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("test-node-1")), newSplit("s2", node("test-node-2")), newSplit("s3", node("Test-node-1")))
			query := staged(uid)
			query.NodeID = metastore.Some("test-node-1")
			splits := b.list(query)
			if len(splits) != 1 || splits[0].Metadata.SplitID != "s1" || splits[0].Metadata.NodeID != "test-node-1" {
				b.Errorf("listed %+v, want s1 of test-node-1", splits)
			}
			query.NodeID = metastore.Some("")
			b.wantIDs(b.ids(query))
		}},
		{"S-78 the range of delete opstamps selects, its ends included or not", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(3)), newSplit("s2", opstamp(1)), newSplit("s3", opstamp(5)), newSplit("s4", opstamp(7)),
				newSplit("s5", opstamp(9)), newSplit("s6"))
			b.checkFilters(uid, []filterCase{
				{"< 6", opstamps(metastore.Unbounded, 0, metastore.Excluded, 6), []string{"s1", "s2", "s3", "s6"}},
				{"<= 5", opstamps(metastore.Unbounded, 0, metastore.Included, 5), []string{"s1", "s2", "s3", "s6"}},
				{"< 5", opstamps(metastore.Unbounded, 0, metastore.Excluded, 5), []string{"s1", "s2", "s6"}},
				{">= 5", opstamps(metastore.Included, 5, metastore.Unbounded, 0), []string{"s3", "s4", "s5"}},
				{"> 5", opstamps(metastore.Excluded, 5, metastore.Unbounded, 0), []string{"s4", "s5"}},
				{"> 1 and <= 7", opstamps(metastore.Excluded, 1, metastore.Included, 7), []string{"s1", "s3", "s4"}},
				{">= 0", opstamps(metastore.Included, 0, metastore.Unbounded, 0), []string{"s1", "s2", "s3", "s4", "s5", "s6"}},
				{"< 0", opstamps(metastore.Unbounded, 0, metastore.Excluded, 0), nil},
				{"> 7 and < 3", opstamps(metastore.Excluded, 7, metastore.Excluded, 3), nil},
			})
		}},
		{"a delete opstamp bound of 2^63-1 is honoured", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(math.MaxInt64)), newSplit("s2"))
			b.checkFilters(uid, []filterCase{
				{">=", opstamps(metastore.Included, math.MaxInt64, metastore.Unbounded, 0), []string{"s1"}},
				{"<", opstamps(metastore.Unbounded, 0, metastore.Excluded, math.MaxInt64), []string{"s2"}},
			})
		}},
		{"S-75 to S-77 the update and create timestamps select", func(b *bundle) {
			uid := b.index("a")
			start := b.storeTimeNow()
			b.stage(uid, newSplit("s1", created(start)), newSplit("s2", created(0)))
			b.nextSecond()
			b.stage(uid, newSplit("s3", created(start+1000)))
			third := b.split(uid, "s3")
			b.checkFilters(uid, []filterCase{
				{"S-75 updated since the start", func(q *metastore.ListSplitsQuery) { q.UpdateTimestamp = from(start).onwards() }, []string{"s1", "s2", "s3"}},
				{"S-76 updated since s3", func(q *metastore.ListSplitsQuery) {
					q.UpdateTimestamp = from(third.UpdateTimestamp).onwards()
				}, []string{"s3"}},
				{"S-77 created before s3", func(q *metastore.ListSplitsQuery) {
					q.CreateTimestamp = before(third.Metadata.CreateTimestamp)
				}, []string{"s1", "s2"}},
			})
		}},
		{"F7 filters of every kind are a conjunction", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid,
				newSplit("match", timeRange(10, 20), tags("t:1"), opstamp(5), node("n")),
				newSplit("other-node", timeRange(10, 20), tags("t:1"), opstamp(5), node("m")),
				newSplit("other-tag", timeRange(10, 20), tags("t:2"), opstamp(5), node("n")),
				newSplit("other-time", timeRange(30, 40), tags("t:1"), opstamp(5), node("n")),
				newSplit("other-opstamp", timeRange(10, 20), tags("t:1"), opstamp(9), node("n")),
				newSplit("other-maturity", timeRange(10, 20), tags("t:1"), opstamp(5), node("n"), immature(5000)),
				newSplit("other-state", timeRange(10, 20), tags("t:1"), opstamp(5), node("n")))
			b.publish(uid, "other-state")
			query := staged(uid)
			query.NodeID, query.Tags, query.TimeRange = metastore.Some("n"), tag("t:1"), from(0).until(30)
			query.MaxTimeRangeEnd = metastore.Some(int64(20))
			query.DeleteOpstamp.End = metastore.Bound[uint64]{Kind: metastore.Included, Value: 5}
			query.Maturity = metastore.MaturityFilter{Kind: metastore.MatureAt, At: payloadCreated}
			query.ExcludedSplitIDs = []string{"nothing"}
			b.wantIDs(b.ids(query), "match")
		}},
		{"Q1 a query document may omit the included and excluded ids, and writes no empty included list", func(b *bundle) {
			text := `{"index_uids":null,"split_states":[],"time_range":{"start":"Unbounded","end":"Unbounded"},` +
				`"delete_opstamp":{"start":"Unbounded","end":"Unbounded"},"update_timestamp":{"start":"Unbounded","end":"Unbounded"},` +
				`"create_timestamp":{"start":"Unbounded","end":"Unbounded"},"mature":"Unbounded","sort_by":"None"}`
			query, err := metastore.ParseListSplitsQuery([]byte(text))
			if err != nil {
				b.Fatalf("parse: %v", err)
			}
			if !query.AllIndexes || len(query.IncludedSplitIDs) != 0 || len(query.ExcludedSplitIDs) != 0 {
				b.Errorf("query is %+v", query)
			}
			want := `{"index_uids":null,"node_id":null,"limit":null,"offset":null,"split_states":[],"tags":null,` +
				`"time_range":{"start":"Unbounded","end":"Unbounded"},"max_time_range_end":null,` +
				`"delete_opstamp":{"start":"Unbounded","end":"Unbounded"},"update_timestamp":{"start":"Unbounded","end":"Unbounded"},` +
				`"create_timestamp":{"start":"Unbounded","end":"Unbounded"},"mature":"Unbounded","sort_by":"None","after_split":null,"excluded_split_ids":[]}`
			if got := string(query.AppendJSON(nil)); got != want {
				b.Errorf("query is written as\n%s, want\n%s", got, want)
			}
		}},
	}
}

func states(wanted ...metastore.SplitState) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) { q.States = wanted }
}

func splitIDs(included, excluded []string) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) { q.IncludedSplitIDs, q.ExcludedSplitIDs = included, excluded }
}

func opstamps(startKind metastore.BoundKind, start uint64, endKind metastore.BoundKind, end uint64) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) {
		q.DeleteOpstamp.Start = metastore.Bound[uint64]{Kind: startKind, Value: start}
		q.DeleteOpstamp.End = metastore.Bound[uint64]{Kind: endKind, Value: end}
	}
}
