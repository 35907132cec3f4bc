package metastore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// someFiltered is a split and a query that it passes.
func someFiltered() (*ListSplitsQuery, *Split) {
	split := &Split{State: Published, UpdateTimestamp: 50, PublishTimestamp: Some(int64(50)), Metadata: SplitMetadata{
		SplitID: "m", NodeID: "n", TimeRange: Some(TimeRange{10, 20}), CreateTimestamp: 40, DeleteOpstamp: 5, Tags: []string{"a:1", "a:2"},
		Maturity: Maturity{Immature: true, PeriodMillis: 2500},
	}}
	return AllSplits(), split
}

func TestEachFilterIsAppliedAlsoTogetherWithMaturity(t *testing.T) {
	t.Parallel()
	included := func(v int64) Bound[int64] { return Bound[int64]{Included, v} }
	excluded := func(v int64) Bound[int64] { return Bound[int64]{Excluded, v} }
	for _, test := range []struct {
		name  string
		set   func(q *ListSplitsQuery)
		match bool
	}{
		{"no filter", func(*ListSplitsQuery) {}, true},
		{"its state", func(q *ListSplitsQuery) { q.States = []SplitState{Staged, Published} }, true},
		{"another state", func(q *ListSplitsQuery) { q.States = []SplitState{Staged} }, false},
		{"its node", func(q *ListSplitsQuery) { q.NodeID = Some("n") }, true},
		{"another node", func(q *ListSplitsQuery) { q.NodeID = Some("N") }, false},
		{"a range that starts at its end", func(q *ListSplitsQuery) { q.TimeRange.Start = included(20) }, true},
		{"a range that starts behind its end", func(q *ListSplitsQuery) { q.TimeRange.Start = excluded(20) }, false},
		{"a range that ends at its start", func(q *ListSplitsQuery) { q.TimeRange.End = included(10) }, true},
		{"a range that ends before its start", func(q *ListSplitsQuery) { q.TimeRange.End = excluded(10) }, false},
		{"it ends at the greatest end", func(q *ListSplitsQuery) { q.MaxTimeRangeEnd = Some(int64(20)) }, true},
		{"it ends behind the greatest end", func(q *ListSplitsQuery) { q.MaxTimeRangeEnd = Some(int64(19)) }, false},
		{"its opstamp", func(q *ListSplitsQuery) { q.DeleteOpstamp.End = Bound[uint64]{Included, 5} }, true},
		{"below its opstamp", func(q *ListSplitsQuery) { q.DeleteOpstamp.End = Bound[uint64]{Excluded, 5} }, false},
		{"updated at", func(q *ListSplitsQuery) { q.UpdateTimestamp.Start = included(50) }, true},
		{"updated after", func(q *ListSplitsQuery) { q.UpdateTimestamp.Start = excluded(50) }, false},
		{"created at", func(q *ListSplitsQuery) { q.CreateTimestamp = FilterRange[int64]{included(40), included(40)} }, true},
		{"created before", func(q *ListSplitsQuery) { q.CreateTimestamp.End = excluded(40) }, false},
		{"after an id before it", func(q *ListSplitsQuery) { q.After = Some(SplitCursor{SplitID: "l"}) }, true},
		{"after itself", func(q *ListSplitsQuery) { q.After = Some(SplitCursor{SplitID: "m"}) }, false},
		{"after a later index", func(q *ListSplitsQuery) { q.After = Some(SplitCursor{IndexUID: IndexUID{IndexID: "z"}}) }, false},
		{"included", func(q *ListSplitsQuery) { q.IncludedSplitIDs = []string{"x", "m"} }, true},
		{"not included", func(q *ListSplitsQuery) { q.IncludedSplitIDs = []string{"x"} }, false},
		{"excluded", func(q *ListSplitsQuery) { q.ExcludedSplitIDs = []string{"m"} }, false},
		{"included and excluded", func(q *ListSplitsQuery) { q.IncludedSplitIDs, q.ExcludedSplitIDs = []string{"m"}, []string{"m"} }, false},
		{"its tag", func(q *ListSplitsQuery) { q.Tags = &TagFilter{Tag: "a:2", Present: true} }, true},
		{"the absence of its tag", func(q *ListSplitsQuery) { q.Tags = &TagFilter{Tag: "a:2"} }, false},
		{"the absence of another tag", func(q *ListSplitsQuery) { q.Tags = &TagFilter{Tag: "A:2"} }, true},
		{"no condition at all", func(q *ListSplitsQuery) { q.Tags = &TagFilter{Op: TagAnd} }, true},
		{"an empty choice", func(q *ListSplitsQuery) { q.Tags = &TagFilter{Op: TagOr} }, true},
		{"an empty choice inside", func(q *ListSplitsQuery) {
			q.Tags = &TagFilter{Op: TagAnd, Children: []TagFilter{{Op: TagOr}, {Tag: "a:1", Present: true}}}
		}, true},
		{"a choice of tags it lacks", func(q *ListSplitsQuery) {
			q.Tags = &TagFilter{Op: TagOr, Children: []TagFilter{{Tag: "x", Present: true}, {Tag: "y", Present: true}}}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			query, split := someFiltered()
			test.set(query)
			assert.Equal(t, test.match, query.Matches(IndexUID{}, split))
			assert.Equal(t, test.match, query.Matcher()(IndexUID{}, split))
			query.Maturity = MaturityFilter{MatureAt, 42}
			assert.Equal(t, test.match, query.Matches(IndexUID{}, split))
			query.Maturity = MaturityFilter{ImmatureAt, 41}
			assert.Equal(t, test.match, query.Matches(IndexUID{}, split))
			query.Maturity = MaturityFilter{ImmatureAt, 42}
			assert.False(t, query.Matches(IndexUID{}, split))
		})
	}
}

func TestASplitWithoutTimeRangePassesTheRangeFilterButHasNoEnd(t *testing.T) {
	t.Parallel()
	query, split := someFiltered()
	split.Metadata.TimeRange = Optional[TimeRange]{}
	query.TimeRange = FilterRange[int64]{Start: Bound[int64]{Included, 1000}}
	assert.True(t, query.Matches(IndexUID{}, split))
	query.MaxTimeRangeEnd = Some(int64(1 << 60))
	assert.False(t, query.Matches(IndexUID{}, split))
}

func TestAMatureSplitIsMatureAtAnyTime(t *testing.T) {
	t.Parallel()
	query, split := someFiltered()
	split.Metadata.Maturity = Maturity{}
	query.Maturity = MaturityFilter{MatureAt, -5}
	assert.True(t, query.Matches(IndexUID{}, split))
	query.Maturity.Kind = ImmatureAt
	assert.False(t, query.Matches(IndexUID{}, split))
}

func TestManySplitIDsAreLookedUpAsFewAre(t *testing.T) {
	t.Parallel()
	query := AllSplits()
	for i := range 100 {
		query.IncludedSplitIDs = append(query.IncludedSplitIDs, fmt.Sprint(i*7%100))
		query.ExcludedSplitIDs = append(query.ExcludedSplitIDs, fmt.Sprint(i*3))
	}
	matches := query.Matcher()
	for i := range 200 {
		split := &Split{Metadata: SplitMetadata{SplitID: fmt.Sprint(i)}}
		assert.Equal(t, i < 100 && i%3 != 0, matches(IndexUID{}, split), i)
		assert.Equal(t, query.Matches(IndexUID{}, split), matches(IndexUID{}, split), i)
	}
}

func TestOrdersFollowTheirKeys(t *testing.T) {
	t.Parallel()
	type row struct {
		index string
		split Split
	}
	make := func(index, id string, opstamp uint64, published Optional[int64], maturesAt int64) row {
		m := SplitMetadata{SplitID: id, DeleteOpstamp: opstamp, CreateTimestamp: maturesAt, Maturity: Maturity{Immature: maturesAt != 0}}
		return row{index, Split{PublishTimestamp: published, Metadata: m}}
	}
	never := Optional[int64]{}
	rows := []row{
		make("logs", "a", 2, never, 0),
		make("logs", "b", 1, never, 9),
		make("logs1", "c", 1, Some(int64(7)), 5),
		make("logs1", "a", 1, Some(int64(3)), -4),
		make("logs-x", "b", 1, Some(int64(7)), 0),
	}
	for _, test := range []struct {
		sort SortBy
		want []string
	}{
		{SortByNone, []string{"logs-x/b", "logs1/a", "logs1/c", "logs/a", "logs/b"}},
		{SortByIndexUID, []string{"logs-x/b", "logs1/a", "logs1/c", "logs/a", "logs/b"}},
		{SortByStaleness, []string{"logs1/a", "logs-x/b", "logs1/c", "logs/b", "logs/a"}},
		{SortByMaturityTimestamp, []string{"logs1/a", "logs/a", "logs-x/b", "logs1/c", "logs/b"}},
	} {
		t.Run(test.sort.String(), func(t *testing.T) {
			t.Parallel()
			query := &ListSplitsQuery{SortBy: test.sort}
			sorted := slices.Clone(rows)
			slices.SortFunc(sorted, func(a, b row) int {
				return query.Compare(IndexUID{IndexID: a.index}, &a.split, IndexUID{IndexID: b.index}, &b.split)
			})
			var got []string
			for _, r := range sorted {
				got = append(got, r.index+"/"+r.split.Metadata.SplitID)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestEveryOrderIsTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		query := &ListSplitsQuery{SortBy: SortBy(rapid.IntRange(0, 3).Draw(t, "sort"))}
		var uids [3]IndexUID
		var splits [3]*Split
		for i := range splits {
			uids[i].IndexID = rapid.SampledFrom([]string{"a", "a1"}).Draw(t, "index")
			split := &Split{Metadata: SplitMetadata{SplitID: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id")}}
			split.Metadata.DeleteOpstamp = uint64(rapid.IntRange(0, 1).Draw(t, "opstamp"))
			split.PublishTimestamp = anyOptional(t, rapid.Int64Range(0, 1))
			split.Metadata.CreateTimestamp = rapid.Int64Range(-1, 1).Draw(t, "created")
			split.Metadata.Maturity.Immature = rapid.Bool().Draw(t, "immature")
			splits[i] = split
		}
		compare := func(i, j int) int { return query.Compare(uids[i], splits[i], uids[j], splits[j]) }
		if compare(0, 1) != -compare(1, 0) {
			t.Fatal("not antisymmetric")
		}
		if compare(0, 1) <= 0 && compare(1, 2) <= 0 && compare(0, 2) > 0 {
			t.Fatal("not transitive")
		}
		sameSplit := uids[0] == uids[1] && splits[0].Metadata.SplitID == splits[1].Metadata.SplitID
		if compare(0, 1) == 0 && !sameSplit {
			t.Fatal("different splits compare equal")
		}
	})
}
