package metastore

import (
	"fmt"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/internal/strictjson"
)

// structShard is what errors call the peer's document of a shard.
const structShard = "Shard"

// defaultShardUpdateTimestamp is the update timestamp of shards that were stored before there was one:
// the beginning of 2024.
const defaultShardUpdateTimestamp = 1_704_067_200

var shardKeys = strictjson.Keys{
	{Name: "index_uid", Required: true},
	{Name: "source_id", Required: true},
	{Name: "shard_id", Required: true},
	{Name: "leader_id", Alias: "ingester_id", Required: true},
	{Name: "shard_state", Required: true},
	{Name: "publish_position_inclusive", Required: true},
	{Name: "publish_token"},
	{Name: "doc_mapping_uid"},
	{Name: "update_timestamp"},
}

// ParseShard reads the peer's document of a shard. A doc mapping UID that is null or missing is the nil
// ULID, a missing update timestamp the beginning of 2024; unknown keys are ignored. It fails with
// JsonDeserializeError.
func ParseShard(text []byte) (Shard, error) {
	s := Shard{UpdateTimestamp: defaultShardUpdateTimestamp}
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(shardKeys, strictjson.Ignore, func(key string) error { return s.read(r, key) })
	})
	if err != nil {
		return Shard{}, JSONDeserialize(structShard, err)
	}
	return s, nil
}

func (s *Shard) read(r *strictjson.Reader, key string) error {
	switch key {
	case "index_uid":
		return readIndexUID(r, &s.IndexUID)
	case "source_id":
		return r.String(&s.SourceID)
	case "shard_id":
		return r.String(&s.ShardID)
	case "leader_id":
		return r.String(&s.IngesterID)
	case "shard_state":
		var state uint8
		if err := r.Uint8(&state); err != nil {
			return err
		}
		s.State = ShardState(state)
		if s.State > ShardClosed {
			return fmt.Errorf("must be from 0 to %d, not %d", ShardClosed, state)
		}
		return nil
	case "publish_position_inclusive":
		var position string
		err := r.String(&position)
		s.Position = Position(position)
		return err
	case "publish_token":
		var token *string
		if err := strictjson.Optional(r, &token, r.String); err != nil || token == nil {
			return err
		}
		s.PublishToken = Some(*token)
		return nil
	case "doc_mapping_uid":
		return readOptionalULID(r, &s.DocMappingUID)
	default: // update_timestamp
		return r.Int64(&s.UpdateTimestamp)
	}
}

// readOptionalULID reads a ULID; null is the nil one.
func readOptionalULID(r *strictjson.Reader, into *ulid.ULID) error {
	var text *string
	if err := strictjson.Optional(r, &text, r.String); err != nil || text == nil {
		return err
	}
	parsed, err := ParseULID(*text)
	*into = parsed
	return err
}

// AppendJSON appends the document of the shard as the peer stores it:
//
//	{"index_uid":"<index id>:<ULID>","source_id":"id","shard_id":"id","leader_id":"<ingester id>",
//	 "shard_state":<number>,"publish_position_inclusive":"<position>","publish_token":"<token>",
//	 "doc_mapping_uid":"<ULID>","update_timestamp":<seconds>}
//
// A shard that was never acquired has no publish_token.
func (s *Shard) AppendJSON(dst []byte) []byte {
	w := strictjson.AppendTo(dst)
	w.Begin('{')
	w.Key("index_uid").String(s.IndexUID.String())
	w.Key("source_id").String(s.SourceID)
	w.Key("shard_id").String(s.ShardID)
	w.Key("leader_id").String(s.IngesterID)
	w.Key("shard_state").Uint64(uint64(s.State))
	w.Key("publish_position_inclusive").String(string(s.Position))
	if s.PublishToken.Set {
		w.Key("publish_token").String(s.PublishToken.Value)
	}
	w.Key("doc_mapping_uid").String(s.DocMappingUID.String())
	w.Key("update_timestamp").Int64(s.UpdateTimestamp)
	w.End('}')
	return w.Bytes()
}
