package metastore

import (
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

const someDelta = `{"source_id":"edge-kafka","source_delta":{"per_partition":{` +
	`"00000000000000000000":{"from":"00000000000000071234","to":"00000000000000071300"},"00000000000000000002":{"from":"","to":"~"}}}}`

func TestACheckpointDeltaIsReadAndWrittenAsThePeerDoes(t *testing.T) {
	t.Parallel()
	delta, err := ParseCheckpointDelta([]byte(someDelta))
	require.NoError(t, err)
	require.Equal(t, &CheckpointDelta{SourceID: "edge-kafka", Partitions: map[string]PartitionDelta{
		"00000000000000000000": {From: "00000000000000071234", To: "00000000000000071300"},
		"00000000000000000002": {From: Beginning, To: "~"},
	}}, delta)
	require.Equal(t, someDelta, string(delta.AppendJSON(nil)))
	require.NoError(t, delta.Validate())
}

func TestOfAPartitionThatIsGivenTwiceTheLastCountsAndUnknownKeysAreIgnored(t *testing.T) {
	t.Parallel()
	delta, err := ParseCheckpointDelta([]byte(`{"new":[1],"source_delta":{"x":{},"per_partition":{"p":{"from":"9","to":"5"},"p":{"to":"2","from":"1","at":3}}},"source_id":"s"}`))
	require.NoError(t, err)
	require.Equal(t, map[string]PartitionDelta{"p": {From: "1", To: "2"}}, delta.Partitions)
}

func TestADocumentThatIsNoDeltaIsRefusedWithItsPlaceAndProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                      "the text is empty",
		`null`:                                  "null",
		`[]`:                                    "array",
		`{}`:                                    `required key "source_id" is missing`,
		`{"source_id":"s"}`:                     `required key "source_delta" is missing`,
		`{"source_id":1}`:                       "source_id",
		`{"source_id":"s","source_id":""}`:      "source_id: the key is given twice",
		`{"source_id":"s","source_delta":null}`: "source_delta",
		`{"source_id":"s","source_delta":{}}`:   `source_delta: required key "per_partition" is missing`,
		`{"source_id":"s","source_delta":{"per_partition":[]}}`:                              "per_partition",
		`{"source_id":"s","source_delta":{"per_partition":{"p":{"from":""}}}}`:               `source_delta.per_partition["p"]: required key "to" is missing`,
		`{"source_id":"s","source_delta":{"per_partition":{"p":{"from":null,"to":"1"}}}}`:    `["p"].from`,
		`{"source_id":"s","source_delta":{"per_partition":{"p":{"from":"1","to":2}}}}`:       `["p"].to`,
		`{"source_id":"s","source_delta":{"per_partition":{"p":null}}}`:                      `["p"]`,
		`{"source_id":"s","source_delta":{"per_partition":{"p":{"from":"1","to":"2"}}}} 1`:   "text after the end",
		`{"source_id":"s","source_delta":{"per_partition":{"p":{"from":"1","to":"\ud800"}}}`: "",
	} {
		_, err := ParseCheckpointDelta([]byte(text))
		require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError, StructName: structCheckpointDelta, Message: AsError(err).Message}, text)
		require.Contains(t, err.Error(), want, text)
	}
}

func TestADeltaMustGoForwardInEveryPartition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to Position
		forward  bool
	}{
		{"", "0", true}, {"", "~", true}, {"1", "2", true}, {"9", "~", true}, {"~", "~0", true}, {"~1", "~2", true}, {"x", "é", true}, {"é", "~", true},
		{"", "", false}, {"1", "1", false}, {"2", "1", false}, {"1", "", false}, {"9", "10", false}, {"~", "9", false}, {"~0", "~", false}, {"~1", "~1", false},
	} {
		delta := CheckpointDelta{SourceID: "s", Partitions: map[string]PartitionDelta{"a": {To: "1"}, "p": {From: c.from, To: c.to}}}
		err := delta.Validate()
		if c.forward {
			require.NoError(t, err, "from %q to %q", c.from, c.to)
			continue
		}
		require.ErrorIs(t, err, ErrInvalidArgument)
		require.Contains(t, err.Error(), `"p"`)
	}
	require.NoError(t, (&CheckpointDelta{}).Validate())
}

func TestTextsOfADeltaThatAreNotUTF8AreRefused(t *testing.T) {
	t.Parallel()
	for _, delta := range []CheckpointDelta{
		{SourceID: "\xff"},
		{Partitions: map[string]PartitionDelta{"\xff": {To: "1"}}},
		{Partitions: map[string]PartitionDelta{"p": {To: "\xff"}}},
	} {
		require.ErrorIs(t, delta.Validate(), ErrInvalidArgument)
	}
}

func TestAnErrorAboutADeltaIsShortHoweverLongThePositionsAre(t *testing.T) {
	t.Parallel()
	long := Position(strings.Repeat("9", 1<<20))
	delta := CheckpointDelta{SourceID: string(long), Partitions: map[string]PartitionDelta{string(long): {From: long, To: "1"}}}
	require.Less(t, len(delta.Validate().Error()), 1000)
	index := &IndexMetadata{Checkpoint: IndexCheckpoint{string(long): {string(long): "~"}}}
	_, _, err := index.WithDelta(&delta)
	require.ErrorIs(t, err, ErrFailedPrecondition)
	require.Less(t, len(AsError(err).Message), 1000)
}

func TestMakingProgressLeavesTheMetadataBeforeAlone(t *testing.T) {
	t.Parallel()
	before := &IndexMetadata{Checkpoint: IndexCheckpoint{"s": {"p": "1"}, "other": {}}}
	after, changed, err := before.WithDelta(&CheckpointDelta{SourceID: "s", Partitions: map[string]PartitionDelta{"p": {"1", "2"}, "q": {"7", "8"}}})
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, IndexCheckpoint{"s": {"p": "1"}, "other": {}}, before.Checkpoint)
	require.Equal(t, IndexCheckpoint{"s": {"p": "2", "q": "8"}, "other": {}}, after.Checkpoint)
	same, changed, err := after.WithDelta(&CheckpointDelta{SourceID: "new"})
	require.NoError(t, err)
	require.False(t, changed)
	require.Same(t, after, same)
}

func TestUnknownShardsAreReportedBeforeTokensAndTokensBeforePositions(t *testing.T) {
	t.Parallel()
	uid := IndexUID{IndexID: "logs", Incarnation: ulid.ULID{1}}
	shards := map[string]*Shard{}
	for _, id := range []string{"a", "b"} {
		shards[id] = &Shard{IndexUID: uid, SourceID: "s", ShardID: id, Position: "5", PublishToken: Some("token")}
	}
	find := func(id string) *Shard { return shards[id] }
	check := func(token string, partitions map[string]PartitionDelta) error {
		return (&CheckpointDelta{SourceID: "s", Partitions: partitions}).CheckShards(uid, token, find)
	}
	require.NoError(t, check("token", map[string]PartitionDelta{"a": {"5", "6"}, "b": {"8", "~"}}))
	require.NoError(t, check("token", nil))
	require.ErrorIs(t, check("x", map[string]PartitionDelta{"a": {"1", "6"}, "c": {}, "d": {}}), NotFound(ShardEntity(uid, "s", "c")))
	err := check("x", map[string]PartitionDelta{"b": {"1", "6"}})
	require.Equal(t, KindInvalidPublishToken, AsError(err).Kind)
	require.Equal(t, QueueID(uid, "s", "b"), AsError(err).QueueID)
	require.ErrorIs(t, check("token", map[string]PartitionDelta{"a": {"5", "6"}, "b": {"4", "6"}}), ErrInvalidArgument)
}

func FuzzParseCheckpointDelta(f *testing.F) {
	addRecordedSeeds(f, "PublishSplits", "indexCheckpointDeltaJsonOpt")
	f.Add([]byte(someDelta))
	f.Fuzz(func(t *testing.T, text []byte) {
		delta, err := ParseCheckpointDelta(text)
		if err != nil {
			require.Equal(t, structCheckpointDelta, AsError(err).StructName)
			return
		}
		written := delta.AppendJSON(nil)
		again, err := ParseCheckpointDelta(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, delta, again)
		require.Equal(t, written, again.AppendJSON(nil))
		if err := delta.Validate(); err != nil {
			require.ErrorIs(t, err, ErrInvalidArgument)
			return
		}
		metadata, changed, err := (&IndexMetadata{}).WithDelta(delta)
		require.NoError(t, err)
		require.Equal(t, len(delta.Partitions) > 0, changed)
		if _, _, err = metadata.WithDelta(delta); changed {
			require.ErrorIs(t, err, ErrFailedPrecondition, "the same delta must not fit twice")
		}
	})
}
