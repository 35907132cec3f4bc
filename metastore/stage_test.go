package metastore

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func idsOf(splits []SplitMetadata) []string {
	ids := []string{}
	for _, split := range splits {
		ids = append(ids, split.SplitID)
	}
	return ids
}

func TestStagedSplitsAreSortedByTheBytesOfTheirIDs(t *testing.T) {
	t.Parallel()
	for _, createOnly := range []bool{false, true} {
		request := StageSplitsRequest{CreateOnly: createOnly, Splits: []SplitMetadata{{SplitID: "b"}, {SplitID: "é"}, {SplitID: ""}, {SplitID: "B"}}}
		splits, err := PrepareStage(request)
		require.NoError(t, err)
		assert.Equal(t, []string{"", "B", "b", "é"}, idsOf(splits))
		assert.Equal(t, []string{"b", "é", "", "B"}, idsOf(request.Splits), "the request is not changed")
	}
}

func TestOfARepeatedIDTheLastCountsForAnUpsertAndTheFirstInCreateOnlyMode(t *testing.T) {
	t.Parallel()
	request := StageSplitsRequest{Splits: []SplitMetadata{{SplitID: "x", NumDocs: 1}, {SplitID: "a", NumDocs: 2}, {SplitID: "x", NumDocs: 3}, {SplitID: "x", NumDocs: 4}}}

	upsert, err := PrepareStage(request)
	require.NoError(t, err)
	assert.Equal(t, []SplitMetadata{{SplitID: "a", NumDocs: 2}, {SplitID: "x", NumDocs: 4}}, upsert)

	request.CreateOnly = true
	createOnly, err := PrepareStage(request)
	require.NoError(t, err)
	assert.Equal(t, []SplitMetadata{{SplitID: "a", NumDocs: 2}, {SplitID: "x", NumDocs: 1}}, createOnly)
}

func TestStagingReplacesTheIndexUIDInEveryDocument(t *testing.T) {
	t.Parallel()
	uid := IndexUID{IndexID: "mine"}
	splits, err := PrepareStage(StageSplitsRequest{IndexUID: uid, Splits: []SplitMetadata{parseSplit(t, someSplit)}})
	require.NoError(t, err)
	assert.Equal(t, uid, splits[0].IndexUID)
	assert.Equal(t, edit(t, someSplit, `logs:01J9ZJX0A1B2C3D4E5F6G7H8J9`, uid.String()), splits[0].Document())
}

func TestAnEmptyStageIsFine(t *testing.T) {
	t.Parallel()
	splits, err := PrepareStage(StageSplitsRequest{})
	require.NoError(t, err)
	assert.Empty(t, splits)
}

func TestStagingRefusesWhatAStoreCannotHold(t *testing.T) {
	t.Parallel()
	immature := Maturity{Immature: true, PeriodMillis: math.MaxUint64}
	for _, test := range []struct {
		name, field string
		split       SplitMetadata
	}{
		{"51 characters of id", "split_id", SplitMetadata{SplitID: strings.Repeat("é", 51)}},
		{"254 characters of node", "node_id", SplitMetadata{SplitID: "s", NodeID: strings.Repeat("é", 254)}},
		{"an opstamp of 2^63", "delete_opstamp", SplitMetadata{SplitID: "s", DeleteOpstamp: 1 << 63}},
		{"a footer that ends at 2^63", "footer_offsets.end", SplitMetadata{SplitID: "s", FooterEnd: 1 << 63}},
		{"a maturity in 500 million years", "maturity", SplitMetadata{SplitID: "s", Maturity: immature}},
		{"a NUL in a tag", "U+0000", SplitMetadata{SplitID: "s", Tags: []string{"a\x00"}}},
		{"a NUL in the document", "U+0000", parseSplit(t, edit(t, someSplit, "tenant:42", `\u0000`))},
		{"a NUL in an unknown key", "U+0000", parseSplit(t, strings.TrimSuffix(someSplit, "}")+`,"x":"\\\u0000"}`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := PrepareStage(StageSplitsRequest{Splits: []SplitMetadata{{SplitID: "fine"}, test.split}})
			require.ErrorIs(t, err, ErrInvalidArgument)
			assert.ErrorContains(t, err, test.field)
			assert.ErrorContains(t, err, quoteBounded(test.split.SplitID))
		})
	}
}

func TestStagingTakesTheGreatestValuesThatAStoreCanHold(t *testing.T) {
	t.Parallel()
	_, err := PrepareStage(StageSplitsRequest{Splits: []SplitMetadata{
		{SplitID: strings.Repeat("é", 50), NodeID: strings.Repeat("é", 253), DeleteOpstamp: MaxOpstamp, FooterEnd: MaxOpstamp},
		{SplitID: "all 64 bits", NumDocs: math.MaxUint64, PartitionID: math.MaxUint64, FooterStart: math.MaxUint64, NumMergeOps: math.MaxUint64, CreateTimestamp: math.MinInt64},
		parseSplit(t, edit(t, someSplit, "tenant:42", `\\u0000`)),
	}})
	assert.NoError(t, err)
}

func TestUniqueSplitIDsKeepsFirstOccurrencesInOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ ids, want []string }{
		{nil, nil},
		{[]string{"b", "a"}, []string{"b", "a"}},
		{[]string{"b", "a", "b", "c", "a", ""}, []string{"b", "a", "c", ""}},
	} {
		given := append([]string(nil), test.ids...)
		assert.Equal(t, test.want, UniqueSplitIDs(given))
		assert.Equal(t, test.ids, given, "the argument is not changed")
	}
}
