package file

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

// writeShards writes the member "shards" of a snapshot behind what the buffer holds, and returns the buffer with
// what is not written yet. The member is an object with a list for each source that has shards:
//
//	{"<source id>":[<shard document>]}
func writeShards(w io.Writer, buffer []byte, shards *shardSet) ([]byte, error) {
	if shards.len() == 0 {
		return buffer, nil
	}
	buffer = append(buffer, `,"shards":{`...)
	var source metastore.Optional[string]
	var err error
	shards.ascend(func(shard *metastore.Shard) bool {
		switch {
		case !source.Set:
			buffer = append(strictjson.AppendString(buffer, shard.SourceID), ":["...)
		case source.Value != shard.SourceID:
			buffer = append(strictjson.AppendString(append(buffer, "],"...), shard.SourceID), ":["...)
		default:
			buffer = append(buffer, ',')
		}
		source = metastore.Some(shard.SourceID)
		buffer = shard.AppendJSON(buffer)
		if len(buffer) >= snapshotPiece {
			_, err = w.Write(buffer)
			buffer = buffer[:0]
		}
		return err == nil
	})
	return append(buffer, "]}"...), err
}

// shards reads the member "shards".
func (d *snapshotDecoder) shards(shards *shardSet) error {
	return d.members(func(sourceID string) error {
		return d.elements(func(text jsontext.Value) error {
			shard, err := metastore.ParseShard(text)
			switch {
			case err != nil:
				return err
			case shard.SourceID != sourceID:
				return fmt.Errorf("the shard is of source %s", strictjson.Quote(shard.SourceID))
			case shards.get(sourceID, shard.ShardID) != nil:
				return fmt.Errorf("shard %s is given twice", strictjson.Quote(shard.ShardID))
			}
			shards.put(&shard)
			return d.lost.Compare(losses.Shard, text, shard.AppendJSON)
		})
	})
}

// checkShards checks that all shards are of the index that the state has.
func checkShards(s *indexState) (err error) {
	s.shards.ascend(func(shard *metastore.Shard) bool {
		switch {
		case s.index == nil:
			err = errors.New("there are shards, but member index is missing")
		case shard.IndexUID != s.index.IndexUID:
			err = fmt.Errorf("member \"shards\": shard %s of source %s is of index %s, not %s",
				strictjson.Quote(shard.ShardID), strictjson.Quote(shard.SourceID), strictjson.Quote(shard.IndexUID.String()), s.index.IndexUID)
		}
		return err == nil
	})
	return err
}
