package storetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"holdfast/metastore"
)

// listRandomCases compare listings with what the filters and orders of package metastore select in memory, for
// queries that nobody thought of.
func listRandomCases() []testCase {
	return []testCase{
		{"random queries list what their filters, order, offset and limit say", func(b *bundle) {
			indexes := []metastore.IndexUID{b.index("a"), b.index("a-b"), b.index("a1")}
			var all []listed
			for i, uid := range indexes {
				b.stage(uid, randomSplits(40, i)...)
				ids := b.ids(metastore.AllSplits(uid))
				slices.Sort(ids)
				b.publish(uid, ids[:20]...)
				b.mark(uid, ids[15:30]...)
				for _, split := range b.list(metastore.AllSplits(uid)) {
					all = append(all, listed{uid, split})
				}
			}
			rapid.Check(b.T, func(t *rapid.T) {
				query := drawQuery(t, indexes, all)
				want := b.expected(query, all)
				var got []string
				err := b.store.ListSplits(b.ctx, query, func(row *metastore.SplitRow) error {
					split, err := row.Split()
					got = append(got, split.Metadata.IndexUID.String()+"/"+split.Metadata.SplitID)
					return err
				})
				if err != nil {
					t.Fatalf("list %s: %v", query.AppendJSON(nil), err)
				}
				if query.SortBy == metastore.SortByNone && !query.Offset.Set && !query.Limit.Set {
					slices.Sort(got)
					slices.Sort(want)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("query %s lists\n%v, want\n%v", query.AppendJSON(nil), got, want)
				}
			})
		}},
	}
}

// listed is a split and the index it is in.
type listed struct {
	uid   metastore.IndexUID
	split metastore.Split
}

// expected selects in memory. On a store that shows the time of staging as create timestamp, maturity
// still counts from the staged document's own, which is always payloadCreated here.
func (b *bundle) expected(query *metastore.ListSplitsQuery, all []listed) []string {
	rest := *query
	rest.CreateTimestamp = metastore.FilterRange[int64]{}
	var found []listed
	for _, candidate := range all {
		shown := candidate.split.Metadata.CreateTimestamp
		candidate.split.Metadata.CreateTimestamp = payloadCreated
		searched := query.AllIndexes || slices.Contains(query.IndexUIDs, candidate.uid)
		if searched && rest.Matches(candidate.uid, &candidate.split) && query.CreateTimestamp.Contains(shown) {
			found = append(found, candidate)
		}
	}
	slices.SortFunc(found, func(x, y listed) int { return query.Compare(x.uid, &x.split, y.uid, &y.split) })
	if query.Offset.Set {
		found = found[min(query.Offset.Value, uint64(len(found))):]
	}
	if query.Limit.Set {
		found = found[:min(query.Limit.Value, uint64(len(found)))]
	}
	var ids []string
	for _, f := range found {
		ids = append(ids, f.uid.String()+"/"+f.split.Metadata.SplitID)
	}
	return ids
}

// randomSplits are different in everything that a query can ask for; the same seed gives the same.
func randomSplits(n, seed int) []metastore.SplitMetadata {
	var splits []metastore.SplitMetadata
	for i := range n {
		k := i*7 + seed*3
		split := newSplit(fmt.Sprintf("%c-%02d", "aZé_"[k%3], i), node(fmt.Sprintf("node-%d", k%3)), opstamp(uint64(k%5)))
		if k%4 != 0 {
			timeRange(int64(k%50), int64(k%50+k%20))(&split)
		}
		if k%3 != 0 {
			immature(uint64(k%6) * 1500)(&split)
		}
		for tag := range 4 {
			if k>>tag&1 == 1 {
				split.Tags = append(split.Tags, fmt.Sprintf("t:%d", tag))
			}
		}
		splits = append(splits, split)
	}
	return splits
}

func drawQuery(t *rapid.T, indexes []metastore.IndexUID, all []listed) *metastore.ListSplitsQuery {
	query := metastore.AllSplits(rapid.SliceOfNDistinct(rapid.SampledFrom(indexes), 1, 3, rapid.ID).Draw(t, "indexes")...)
	maybe := func(name string, set func()) {
		if rapid.IntRange(0, 3).Draw(t, "with "+name) == 0 {
			set()
		}
	}
	ids := func(name string) (drawn []string) {
		for _, l := range rapid.SliceOfN(rapid.SampledFrom(all), 1, 30).Draw(t, name) {
			drawn = append(drawn, l.split.Metadata.SplitID)
		}
		return drawn
	}
	maybe("node", func() { query.NodeID = metastore.Some(fmt.Sprintf("node-%d", rapid.IntRange(0, 3).Draw(t, "node"))) })
	maybe("states", func() {
		query.States = rapid.SliceOf(rapid.SampledFrom([]metastore.SplitState{metastore.Staged, metastore.Published, metastore.MarkedForDeletion})).Draw(t, "states")
	})
	maybe("tags", func() { query.Tags = drawTags(t, 3) })
	maybe("time range", func() { query.TimeRange = drawRange(t, "time range", rapid.Int64Range(-5, 75)) })
	maybe("max end", func() { query.MaxTimeRangeEnd = metastore.Some(rapid.Int64Range(-5, 75).Draw(t, "max end")) })
	maybe("opstamp", func() { query.DeleteOpstamp = drawRange(t, "opstamp", rapid.Uint64Range(0, 6)) })
	sample := func(of func(*metastore.Split) int64) *rapid.Generator[int64] {
		return rapid.Map(rapid.SampledFrom(all), func(l listed) int64 { return of(&l.split) })
	}
	maybe("update", func() {
		query.UpdateTimestamp = drawRange(t, "update", sample(func(s *metastore.Split) int64 { return s.UpdateTimestamp }))
	})
	maybe("create", func() {
		query.CreateTimestamp = drawRange(t, "create", sample(func(s *metastore.Split) int64 { return s.Metadata.CreateTimestamp }))
	})
	maybe("maturity", func() {
		query.Maturity.Kind = rapid.SampledFrom([]metastore.MaturityFilterKind{metastore.MatureAt, metastore.ImmatureAt}).Draw(t, "maturity")
		query.Maturity.At = payloadCreated + rapid.Int64Range(-2, 10).Draw(t, "maturity at")
	})
	maybe("included", func() { query.IncludedSplitIDs = ids("included") })
	maybe("excluded", func() { query.ExcludedSplitIDs = ids("excluded") })
	maybe("cursor", func() {
		at := rapid.SampledFrom(all).Draw(t, "cursor")
		query.After = metastore.Some(metastore.SplitCursor{IndexUID: at.uid, SplitID: at.split.Metadata.SplitID})
	})
	query.SortBy = rapid.SampledFrom([]metastore.SortBy{
		metastore.SortByNone, metastore.SortByStaleness, metastore.SortByIndexUID, metastore.SortByMaturityTimestamp,
	}).Draw(t, "order")
	maybe("offset", func() { query.Offset = metastore.Some(rapid.Uint64Range(0, 30).Draw(t, "offset")) })
	maybe("limit", func() { query.Limit = metastore.Some(rapid.Uint64Range(0, 30).Draw(t, "limit")) })
	return query
}

func drawRange[T int64 | uint64](t *rapid.T, name string, values *rapid.Generator[T]) metastore.FilterRange[T] {
	bound := func(end string) metastore.Bound[T] {
		kind := rapid.SampledFrom([]metastore.BoundKind{metastore.Unbounded, metastore.Included, metastore.Excluded}).Draw(t, name+" "+end)
		if kind == metastore.Unbounded {
			return metastore.Bound[T]{}
		}
		return metastore.Bound[T]{Kind: kind, Value: values.Draw(t, name+" "+end+" value")}
	}
	return metastore.FilterRange[T]{Start: bound("start"), End: bound("end")}
}

func drawTags(t *rapid.T, depth int) *metastore.TagFilter {
	op := metastore.TagLeaf
	if depth > 0 {
		op = rapid.SampledFrom([]metastore.TagFilterOp{metastore.TagLeaf, metastore.TagAnd, metastore.TagOr}).Draw(t, "tag op")
	}
	if op == metastore.TagLeaf {
		return &metastore.TagFilter{
			Tag: fmt.Sprintf("t:%d", rapid.IntRange(0, 4).Draw(t, "tag")), Present: rapid.Bool().Draw(t, "present"),
		}
	}
	filter := &metastore.TagFilter{Op: op}
	for range rapid.IntRange(0, 3).Draw(t, "children") {
		filter.Children = append(filter.Children, *drawTags(t, depth-1))
	}
	return filter
}
