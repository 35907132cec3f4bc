package metastore

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const plainQuery = `{"index_uids":["logs:01J9ZJX0A1B2C3D4E5F6G7H8J9"],"node_id":null,"limit":null,"offset":null,"split_states":[],"tags":null,` +
	`"time_range":{"start":"Unbounded","end":"Unbounded"},"max_time_range_end":null,"delete_opstamp":{"start":"Unbounded","end":"Unbounded"},` +
	`"update_timestamp":{"start":"Unbounded","end":"Unbounded"},"create_timestamp":{"start":"Unbounded","end":"Unbounded"},"mature":"Unbounded",` +
	`"sort_by":"None","after_split":null,"excluded_split_ids":[]}`

const fullQuery = `{"index_uids":["web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9"],"node_id":"indexer-2","limit":18446744073709551615,"offset":0,"split_states":["Published","Staged"],` +
	`"tags":{"And":[{"Or":[{"Tag":{"is_present":false,"tag":"tenant!"}},{"Tag":{"is_present":true,"tag":"tenant:\"42\""}}]},{"Or":[]}]},` +
	`"time_range":{"start":{"Included":-9223372036854775808},"end":{"Excluded":1787310000}},"max_time_range_end":5,` +
	`"delete_opstamp":{"start":"Unbounded","end":{"Excluded":18446744073709551615}},"update_timestamp":{"start":{"Excluded":1},"end":"Unbounded"},` +
	`"create_timestamp":{"start":"Unbounded","end":{"Included":1787400000}},"mature":{"Excluded":[2026,233,14,5,9,0,0,0,0]},"sort_by":"IndexUid",` +
	`"after_split":["web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9","01J9"],"included_split_ids":["b","a"],"excluded_split_ids":["c"]}`

func TestQueriesOfThePeersClientsAreWrittenBackByteForByte(t *testing.T) {
	t.Parallel()
	for _, text := range []string{plainQuery, fullQuery} {
		query, err := ParseListSplitsQuery([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, text, string(query.AppendJSON(nil)))
	}
}

func TestAQueryHasTheFieldsOfItsDocument(t *testing.T) {
	t.Parallel()
	query, err := ParseListSplitsQuery([]byte(fullQuery))
	require.NoError(t, err)
	uid, err := ParseIndexUID("web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9")
	require.NoError(t, err)
	assert.Equal(t, &ListSplitsQuery{
		IndexUIDs: []IndexUID{uid}, NodeID: Some("indexer-2"), Limit: Some(uint64(1<<64 - 1)), Offset: Some(uint64(0)), States: []SplitState{Published, Staged},
		Tags: &TagFilter{Op: TagAnd, Children: []TagFilter{
			{Op: TagOr, Children: []TagFilter{{Tag: "tenant!"}, {Tag: `tenant:"42"`, Present: true}}},
			{Op: TagOr},
		}},
		TimeRange:       FilterRange[int64]{Bound[int64]{Included, -1 << 63}, Bound[int64]{Excluded, 1787310000}},
		MaxTimeRangeEnd: Some(int64(5)),
		DeleteOpstamp:   FilterRange[uint64]{End: Bound[uint64]{Excluded, 1<<64 - 1}},
		UpdateTimestamp: FilterRange[int64]{Start: Bound[int64]{Excluded, 1}},
		CreateTimestamp: FilterRange[int64]{End: Bound[int64]{Included, 1787400000}},
		Maturity:        MaturityFilter{Kind: ImmatureAt, At: time.Date(2026, 8, 21, 14, 5, 9, 0, time.UTC).Unix()},
		SortBy:          SortByIndexUID, After: Some(SplitCursor{IndexUID: uid, SplitID: "01J9"}),
		IncludedSplitIDs: []string{"b", "a"}, ExcludedSplitIDs: []string{"c"},
	}, query)
}

func TestAQueryWithoutIndexUIDsIsForAllIndexesAndWithNoneForNone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		replacement string
		all         bool
	}{{``, true}, {`"index_uids":null,`, true}, {`"index_uids":[],`, false}} {
		query, err := ParseListSplitsQuery([]byte(edit(t, plainQuery, `"index_uids":["logs:01J9ZJX0A1B2C3D4E5F6G7H8J9"],`, test.replacement)))
		require.NoError(t, err)
		assert.Equal(t, test.all, query.AllIndexes)
		assert.Empty(t, query.IndexUIDs)
	}
}

func TestTheDateTimeOfAQueryIsReadAsThePeerDoes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2020, 9, 13, 12, 26, 40, 0, time.UTC).Unix()
	for _, test := range []struct {
		text string
		want int64
	}{
		{`[2020,257,12,26,40,999999999,0,0,0]`, noon},
		{`[2020,257,13,26,40,0,1,0,0]`, noon},
		{`[2020,257,9,56,40,0,-2,-30,0]`, noon},
		{`[2020,257,9,56,40,0,-2,30,0]`, noon}, // the sign of the hours counts
		{`[2020,257,12,26,0,0,0,0,-40]`, noon},
		{`[2020,366,0,0,0,0,0,0,0]`, time.Date(2020, 12, 31, 0, 0, 0, 0, time.UTC).Unix()},
		{`[2000,366,0,0,0,0,0,0,0]`, time.Date(2000, 12, 31, 0, 0, 0, 0, time.UTC).Unix()},
		{`[1970,1,0,0,0,0,0,0,0]`, 0},
		{`[-9999,1,0,0,0,0,0,0,0]`, minDateTime},
		{`[9999,365,23,59,59,0,0,0,0]`, maxDateTime},
	} {
		query, err := ParseListSplitsQuery([]byte(edit(t, plainQuery, `"mature":"Unbounded"`, `"mature":{"Included":`+test.text+`}`)))
		require.NoError(t, err, test.text)
		assert.Equal(t, MaturityFilter{Kind: MatureAt, At: test.want}, query.Maturity, test.text)
	}
}

func TestAQueryThatIsWrongIsRefusedNamingTheField(t *testing.T) {
	t.Parallel()
	datetime := func(text string) string { return `"mature":{"Included":` + text + `}` }
	for _, test := range []struct{ name, old, new, want string }{
		{"no states", `"split_states":[],`, ``, "split_states"},
		{"no time range", `"time_range":{"start":"Unbounded","end":"Unbounded"},`, ``, "time_range"},
		{"no sort", `"sort_by":"None",`, ``, "sort_by"},
		{"no maturity", `"mature":"Unbounded",`, ``, "mature"},
		{"another sort", `"None"`, `"none"`, "sort_by"},
		{"another state", `"split_states":[]`, `"split_states":["New"]`, "split_states[0]"},
		{"half a range", `"time_range":{"start":"Unbounded","end":"Unbounded"}`, `"time_range":{"start":"Unbounded"}`, "time_range"},
		{"another bound", `"Unbounded"`, `"unbounded"`, "time_range.start"},
		{"a bound with two keys", `"Unbounded"`, `{"Included":1,"Excluded":2}`, "time_range.start"},
		{"a bound with no key", `"Unbounded"`, `{}`, "time_range.start"},
		{"a fractional bound", `"Unbounded"`, `{"Included":1.5}`, "time_range.start"},
		{"a tag filter with no key", `"tags":null`, `"tags":{}`, "tags"},
		{"a tag without presence", `"tags":null`, `"tags":{"And":[{"Tag":{"tag":"a"}}]}`, `tags["And"][0]["Tag"]`},
		{"another tag filter", `"tags":null`, `"tags":{"Not":[]}`, "tags"},
		{"a negative limit", `"limit":null`, `"limit":-1`, "limit"},
		{"null ids", `"excluded_split_ids":[]`, `"excluded_split_ids":null`, "excluded_split_ids"},
		{"a cursor of one", `"after_split":null`, `"after_split":["logs:01J9ZJX0A1B2C3D4E5F6G7H8J9"]`, "after_split"},
		{"a cursor of three", `"after_split":null`, `"after_split":["logs:01J9ZJX0A1B2C3D4E5F6G7H8J9","a","b"]`, "after_split"},
		{"a uid without ULID", `logs:01J9ZJX0A1B2C3D4E5F6G7H8J9`, `logs`, "index_uids[0]"},
		{"a maturity as text", `"mature":"Unbounded"`, datetime(`"2020-09-13T12:26:40Z"`), "mature"},
		{"a maturity as a number", `"mature":"Unbounded"`, datetime(`1600000000`), "mature"},
		{"eight integers", `"mature":"Unbounded"`, datetime(`[2020,257,12,26,40,0,0,0]`), "mature"},
		{"ten integers", `"mature":"Unbounded"`, datetime(`[2020,257,12,26,40,0,0,0,0,0]`), "mature"},
		{"day 0", `"mature":"Unbounded"`, datetime(`[2020,0,12,26,40,0,0,0,0]`), "day of the year"},
		{"day 366 of a common year", `"mature":"Unbounded"`, datetime(`[2021,366,12,26,40,0,0,0,0]`), "365 days"},
		{"day 366 of 1900", `"mature":"Unbounded"`, datetime(`[1900,366,12,26,40,0,0,0,0]`), "365 days"},
		{"hour 24", `"mature":"Unbounded"`, datetime(`[2020,257,24,26,40,0,0,0,0]`), "hour"},
		{"second 60", `"mature":"Unbounded"`, datetime(`[2020,257,12,26,60,0,0,0,0]`), "second"},
		{"a billion nanoseconds", `"mature":"Unbounded"`, datetime(`[2020,257,12,26,40,1000000000,0,0,0]`), "nanosecond"},
		{"an offset of 26 hours", `"mature":"Unbounded"`, datetime(`[2020,257,12,26,40,0,26,0,0]`), "offset hour"},
		{"the year 10000", `"mature":"Unbounded"`, datetime(`[9999,365,23,59,59,0,-1,0,0]`), "years"},
		{"text behind it", `"excluded_split_ids":[]}`, `"excluded_split_ids":[]},`, "after the end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseListSplitsQuery([]byte(edit(t, plainQuery, test.old, test.new)))
			var typed *Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, KindJSONDeserializeError, typed.Kind)
			assert.Equal(t, "quickwit_metastore::metastore::ListSplitsQuery", typed.StructName)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestTagFiltersAreReadToALimitedDepth(t *testing.T) {
	t.Parallel()
	nested := func(n int) []byte { // each level opens an object and an array
		filter := strings.Repeat(`{"And":[`, n) + strings.Repeat(`]}`, n)
		return []byte(edit(t, plainQuery, `"tags":null`, `"tags":`+filter))
	}
	_, err := ParseListSplitsQuery(nested(63))
	require.NoError(t, err)
	_, err = ParseListSplitsQuery(nested(64))
	require.ErrorContains(t, err, "nested too deeply")
	_, err = ParseListSplitsQuery(nested(1_000_000))
	require.ErrorContains(t, err, "nested too deeply")
}

// anyQuery draws queries as the domain type can hold them.
func anyQuery(t *rapid.T) *ListSplitsQuery {
	ids := rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID)
	query := &ListSplitsQuery{
		AllIndexes:      rapid.Bool().Draw(t, "all"),
		NodeID:          anyOptional(t, rapid.String()),
		Limit:           anyOptional(t, rapid.Uint64()),
		Offset:          anyOptional(t, rapid.Uint64()),
		States:          rapid.SliceOfNDistinct(rapid.SampledFrom([]SplitState{Staged, Published, MarkedForDeletion}), 0, 3, rapid.ID).Draw(t, "states"),
		TimeRange:       anyRange(t, rapid.Int64()),
		MaxTimeRangeEnd: anyOptional(t, rapid.Int64()),
		DeleteOpstamp:   anyRange(t, rapid.Uint64()),
		UpdateTimestamp: anyRange(t, rapid.Int64()),
		CreateTimestamp: anyRange(t, rapid.Int64()),
		SortBy:          SortBy(rapid.IntRange(0, 3).Draw(t, "sort")),
	}
	query.Maturity.Kind = MaturityFilterKind(rapid.IntRange(0, 2).Draw(t, "maturity"))
	if query.Maturity.Kind != AnyMaturity {
		query.Maturity.At = rapid.Int64Range(minDateTime, maxDateTime).Draw(t, "at")
	}
	if !query.AllIndexes {
		query.IndexUIDs = []IndexUID{{IndexID: rapid.StringMatching(`[^:]*`).Draw(t, "index")}}
	}
	if rapid.Bool().Draw(t, "tags") {
		query.Tags = anyTagFilter(t, 3)
	}
	if rapid.Bool().Draw(t, "cursor") {
		query.After = Some(SplitCursor{IndexUID{IndexID: "i"}, rapid.String().Draw(t, "after")})
	}
	if query.IncludedSplitIDs = ids.Draw(t, "included"); len(query.IncludedSplitIDs) == 0 {
		query.IncludedSplitIDs = nil
	}
	if query.ExcludedSplitIDs = ids.Draw(t, "excluded"); len(query.ExcludedSplitIDs) == 0 {
		query.ExcludedSplitIDs = nil
	}
	if len(query.States) == 0 {
		query.States = nil
	}
	return query
}

func anyOptional[T any](t *rapid.T, value *rapid.Generator[T]) Optional[T] {
	if rapid.Bool().Draw(t, "set") {
		return Some(value.Draw(t, "value"))
	}
	return Optional[T]{}
}

func anyRange[T int64 | uint64](t *rapid.T, value *rapid.Generator[T]) FilterRange[T] {
	bound := func() (b Bound[T]) {
		if b.Kind = BoundKind(rapid.IntRange(0, 2).Draw(t, "bound")); b.Kind != Unbounded {
			b.Value = value.Draw(t, "value")
		}
		return b
	}
	return FilterRange[T]{Start: bound(), End: bound()}
}

func anyTagFilter(t *rapid.T, depth int) *TagFilter {
	op := TagFilterOp(rapid.IntRange(0, 2).Draw(t, "op"))
	if op == TagLeaf || depth == 0 {
		return &TagFilter{Tag: rapid.String().Draw(t, "tag"), Present: rapid.Bool().Draw(t, "present")}
	}
	filter := &TagFilter{Op: op}
	for range rapid.IntRange(0, 3).Draw(t, "children") {
		filter.Children = append(filter.Children, *anyTagFilter(t, depth-1))
	}
	return filter
}

func TestEveryQuerySurvivesTheWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		query := anyQuery(t)
		text := query.AppendJSON(nil)
		received, err := ParseListSplitsQuery(text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if !assert.ObjectsAreEqual(query, received) {
			t.Fatalf("%s came back as %s", text, received.AppendJSON(nil))
		}
	})
}
