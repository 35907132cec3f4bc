package file

import (
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// openShardsOp creates shards.
//
//	"open_shards":{"shards":[<shard document>]}
type openShardsOp []*metastore.Shard

func (openShardsOp) name() string { return "open_shards" }

func (o openShardsOp) append(dst []byte) []byte {
	dst = append(dst, `{"shards":[`...)
	for i, shard := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = shard.AppendJSON(dst)
	}
	return append(dst, `]}`...)
}

func readOpenShardsOp(r *strictjson.Reader) (op, error) {
	o := openShardsOp{}
	err := readMember(r, "shards", func() error {
		return r.Array(func(int) error {
			var text []byte
			if err := r.Raw(&text); err != nil {
				return err
			}
			shard, err := metastore.ParseShard(text)
			o = append(o, &shard)
			return err
		})
	})
	return o, err
}

func (o openShardsOp) applyToIndex(s *indexState, _ int64) error {
	for _, shard := range o {
		if shard.IndexUID != s.index.IndexUID {
			return fmt.Errorf("open_shards: shard %q is of %s, the index is %s", shard.ShardID, shard.IndexUID, s.index.IndexUID)
		}
		if s.shards.get(shard.SourceID, shard.ShardID) != nil {
			return fmt.Errorf("open_shards: source %q has a shard %q already", shard.SourceID, shard.ShardID)
		}
		s.shards.put(shard)
	}
	return nil
}

// acquireShardsOp records a token in shards of one source.
//
//	"acquire_shards":{"source_id":"id","shard_ids":["id"],"publish_token":"token"}
type acquireShardsOp struct {
	sourceID string
	shardIDs []string
	token    string
}

func (acquireShardsOp) name() string { return "acquire_shards" }

func (o acquireShardsOp) append(dst []byte) []byte {
	dst = appendShardIDs(dst, o.sourceID, o.shardIDs)
	return append(strictjson.AppendString(append(dst, `,"publish_token":`...), o.token), '}')
}

func readAcquireShardsOp(r *strictjson.Reader) (op, error) {
	var o acquireShardsOp
	keys := append(shardIDsKeys(), strictjson.Key{Name: "publish_token", Required: true})
	err := r.Object(keys, strictjson.Reject, func(key string) error {
		if key == "publish_token" {
			return r.String(&o.token)
		}
		return readShardIDs(r, key, &o.sourceID, &o.shardIDs)
	})
	return o, err
}

func (o acquireShardsOp) applyToIndex(s *indexState, _ int64) error {
	return s.changeShards(o.name(), o.sourceID, o.shardIDs, func(shard *metastore.Shard) {
		acquired := *shard
		acquired.PublishToken = metastore.Some(o.token)
		s.shards.put(&acquired)
	})
}

// publishShardsOp makes progress in shards of one source.
//
//	"publish_shards":{"source_id":"id","positions":[{"shard_id":"id","position":"<position>"}]}
type publishShardsOp struct {
	sourceID  string
	positions []shardPosition
}

type shardPosition struct {
	shardID  string
	position metastore.Position
}

func (publishShardsOp) name() string { return "publish_shards" }

func (o publishShardsOp) append(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"source_id":`...), o.sourceID)
	dst = append(dst, `,"positions":[`...)
	for i, p := range o.positions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(append(dst, `{"shard_id":`...), p.shardID)
		dst = append(strictjson.AppendString(append(dst, `,"position":`...), string(p.position)), '}')
	}
	return append(dst, `]}`...)
}

var (
	publishShardsKeys = strictjson.Keys{{Name: "source_id", Required: true}, {Name: "positions", Required: true}}
	shardPositionKeys = strictjson.Keys{{Name: "shard_id", Required: true}, {Name: "position", Required: true}}
)

func readPublishShardsOp(r *strictjson.Reader) (op, error) {
	var o publishShardsOp
	err := r.Object(publishShardsKeys, strictjson.Reject, func(key string) error {
		if key == "source_id" {
			return r.String(&o.sourceID)
		}
		return strictjson.List(r, &o.positions, func(p *shardPosition) error {
			return r.Object(shardPositionKeys, strictjson.Reject, func(key string) error {
				if key == "shard_id" {
					return r.String(&p.shardID)
				}
				var position string
				err := r.String(&position)
				p.position = metastore.Position(position)
				return err
			})
		})
	})
	return o, err
}

func (o publishShardsOp) applyToIndex(s *indexState, time int64) error {
	for _, p := range o.positions {
		shard := s.shards.get(o.sourceID, p.shardID)
		if shard == nil {
			return fmt.Errorf("publish_shards: source %q has no shard %q", o.sourceID, p.shardID)
		}
		published := shard.Published(p.position, time)
		s.shards.put(&published)
	}
	return nil
}

// deleteShardsOp removes shards of one source.
//
//	"delete_shards":{"source_id":"id","shard_ids":["id"]}
type deleteShardsOp struct {
	sourceID string
	shardIDs []string
}

func (deleteShardsOp) name() string { return "delete_shards" }

func (o deleteShardsOp) append(dst []byte) []byte {
	return append(appendShardIDs(dst, o.sourceID, o.shardIDs), '}')
}

func readDeleteShardsOp(r *strictjson.Reader) (op, error) {
	var o deleteShardsOp
	err := r.Object(shardIDsKeys(), strictjson.Reject, func(key string) error {
		return readShardIDs(r, key, &o.sourceID, &o.shardIDs)
	})
	return o, err
}

func (o deleteShardsOp) applyToIndex(s *indexState, _ int64) error {
	return s.changeShards(o.name(), o.sourceID, o.shardIDs, s.shards.remove)
}

func (s *indexState) changeShards(operation, sourceID string, shardIDs []string, change func(*metastore.Shard)) error {
	for _, id := range shardIDs {
		shard := s.shards.get(sourceID, id)
		if shard == nil {
			return fmt.Errorf("%s: source %q has no shard %q", operation, sourceID, id)
		}
		change(shard)
	}
	return nil
}

// appendShardIDs leaves the object open.
func appendShardIDs(dst []byte, sourceID string, shardIDs []string) []byte {
	dst = strictjson.AppendString(append(dst, `{"source_id":`...), sourceID)
	return strictjson.AppendStrings(append(dst, `,"shard_ids":`...), shardIDs)
}

func shardIDsKeys() strictjson.Keys {
	return strictjson.Keys{{Name: "source_id", Required: true}, {Name: "shard_ids", Required: true}}
}

func readShardIDs(r *strictjson.Reader, key string, sourceID *string, shardIDs *[]string) error {
	if key == "source_id" {
		return r.String(sourceID)
	}
	return strictjson.List(r, shardIDs, r.String)
}
