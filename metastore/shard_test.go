package metastore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Documents that the peer wrote, without the white space that it leaves between tokens.
var recordedShards = []string{
	`{"index_uid":"events:01M8P1VJ12CZSQ3K9AG2SRQJB7","source_id":"_ingest-source","shard_id":"01","leader_id":"indexer-1","shard_state":1,"publish_position_inclusive":"","publish_token":"token-1","doc_mapping_uid":"01J9ZKWX000000000000000000","update_timestamp":1796036479}`,
	`{"index_uid":"web-access:01M8P1J1J1GT6BJNXDVR91X815","source_id":"_ingest-source","shard_id":"01M8P1J3WQHNMQC1V6CPQCT72R","leader_id":"node-fb","shard_state":1,"publish_position_inclusive":"00000000000000000846","publish_token":"01M8P1J5FBG16QQZKVZ49YHWHK-node-fb","doc_mapping_uid":"01M8P1J1J1RZHMM9MGFJ374HGN","update_timestamp":1796036199}`,
}

func TestAShardDocumentOfThePeerIsWrittenBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, text := range recordedShards {
		shard, err := ParseShard([]byte(text))
		require.NoError(t, err)
		require.Equal(t, text, string(shard.AppendJSON(nil)))
	}
}

func TestAShardDocumentIsRead(t *testing.T) {
	t.Parallel()
	uid := IndexUID{IndexID: "logs", Incarnation: ulid.ULID{15: 1}}
	const begin = `{"index_uid":"logs:00000000000000000000000001","source_id":"s","shard_id":"1",`
	for name, c := range map[string]struct {
		text string
		want Shard
	}{
		"with everything": {
			begin + `"leader_id":"i","shard_state":3,"publish_position_inclusive":"~7","publish_token":"","doc_mapping_uid":"00000000000000000000000002","update_timestamp":-9}`,
			Shard{IngesterID: "i", State: ShardClosed, Position: "~7", PublishToken: Some(""), DocMappingUID: ulid.ULID{15: 2}, UpdateTimestamp: -9},
		},
		"with what must be there only": {
			begin + `"ingester_id":"i","shard_state":1,"publish_position_inclusive":""}`,
			Shard{IngesterID: "i", State: ShardOpen, UpdateTimestamp: 1704067200},
		},
		"with null for what may be, and unknown keys": {
			begin + `"follower_id":"f","leader_id":"","shard_state":2,"publish_position_inclusive":"x","publish_token":null,"doc_mapping_uid":null}`,
			Shard{State: ShardUnavailable, Position: "x", UpdateTimestamp: 1704067200},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.want.IndexUID, c.want.SourceID, c.want.ShardID = uid, "s", "1"
			got, err := ParseShard([]byte(c.text))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestABadShardDocumentIsRefusedWithTheNameOfTheKey(t *testing.T) {
	t.Parallel()
	good := recordedShards[0]
	for _, c := range []struct{ old, new, want string }{
		{`"index_uid":"events:01M8P1VJ12CZSQ3K9AG2SRQJB7",`, ``, `"index_uid" is missing`},
		{`"events:01M8P1VJ12CZSQ3K9AG2SRQJB7"`, `null`, `index_uid: must be a string`},
		{`"source_id":"_ingest-source",`, ``, `"source_id" is missing`},
		{`"shard_id":"01",`, ``, `"shard_id" is missing`},
		{`"shard_id":"01"`, `"shard_id":null`, `shard_id: must be a string`},
		{`"leader_id":"indexer-1",`, ``, `"leader_id" is missing`},
		{`"leader_id":`, `"ingester_id":"x","leader_id":`, `given twice`},
		{`"shard_state":1`, `"shard_state":"open"`, `shard_state: must be a number`},
		{`"shard_state":1`, `"shard_state":4`, `shard_state: must be from 0 to 3`},
		{`"publish_position_inclusive":"",`, ``, `"publish_position_inclusive" is missing`},
		{`"publish_position_inclusive":""`, `"publish_position_inclusive":7`, `publish_position_inclusive: must be a string`},
		{`"01J9ZKWX000000000000000000"`, `"81J9ZKWX000000000000000000"`, `doc_mapping_uid: `},
		{`1796036479`, `1796036479.5`, `update_timestamp: must be an integer`},
		{`1796036479}`, `1796036479`, `ends too early`},
		{good, `null`, `must be an object`},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		_, err := ParseShard([]byte(text))
		require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError}, text)
		require.ErrorContains(t, err, c.want, text)
	}
}

func FuzzParseShard(f *testing.F) {
	for _, text := range recordedShards {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"index_uid":"logs:00000000000000000000000001","source_id":"s","shard_id":"1","ingester_id":"i","shard_state":3,"publish_position_inclusive":"~","doc_mapping_uid":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		shard, err := ParseShard(text)
		if err != nil {
			return
		}
		written := shard.AppendJSON(nil)
		again, err := ParseShard(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, shard, again)
		require.Equal(t, string(written), string(again.AppendJSON(nil)))
	})
}

func TestTheSpellingsOfShardStatesAreReadBack(t *testing.T) {
	t.Parallel()
	for _, state := range []ShardState{ShardUnspecified, ShardOpen, ShardUnavailable, ShardClosed} {
		read, err := ParseShardState(state.String())
		require.NoError(t, err)
		require.Equal(t, state, read)
	}
	for _, text := range []string{"", "Open", "ShardState(4)", "closed "} {
		_, err := ParseShardState(text)
		require.Error(t, err, text)
	}
	require.Equal(t, "ShardState(4)", ShardState(4).String())
}

func TestPruningRemovesByAgeAndThenKeepsTheLatest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const now = 100
		var shards []*Shard
		for i, at := range rapid.SliceOfN(rapid.Int64Range(80, 101), 0, 12).Draw(t, "update timestamps") {
			shards = append(shards, &Shard{ShardID: fmt.Sprintf("%02d", i*7%13), UpdateTimestamp: at})
		}
		request := PruneShardsRequest{}
		if rapid.Bool().Draw(t, "by age") {
			request.MaxAge = Some(rapid.Uint32Range(0, 25).Draw(t, "age"))
		}
		if rapid.Bool().Draw(t, "by count") {
			request.MaxCount = Some(rapid.Uint32Range(0, 14).Draw(t, "count"))
		}
		left := slices.Clone(shards)
		if request.MaxAge.Set {
			left = slices.DeleteFunc(left, func(s *Shard) bool { return s.UpdateTimestamp < now-int64(request.MaxAge.Value) })
		}
		slices.SortFunc(left, func(a, b *Shard) int {
			return cmp.Or(cmp.Compare(a.UpdateTimestamp, b.UpdateTimestamp), cmp.Compare(a.ShardID, b.ShardID))
		})
		if request.MaxCount.Set && int(request.MaxCount.Value) < len(left) {
			left = left[len(left)-int(request.MaxCount.Value):]
		}
		var want []string
		for _, shard := range shards {
			if !slices.Contains(left, shard) {
				want = append(want, shard.ShardID)
			}
		}
		slices.Sort(want)
		var got []string
		for _, shard := range request.Pruned(shards, now) {
			got = append(got, shard.ShardID)
		}
		require.Equal(t, want, got)
	})
}
