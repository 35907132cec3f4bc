package metastore

import (
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// MaxShardPositionLength is the greatest length of a shard's position, in characters, in both stores that of
// the peer's PostgreSQL schema.
const MaxShardPositionLength = 255

// Shard is a shard of a source and the progress that is published of it.
type Shard struct {
	IndexUID      IndexUID
	SourceID      string
	ShardID       string
	IngesterID    string // may be empty
	State         ShardState
	Position      Position // the last position that is published
	PublishToken  Optional[string]
	DocMappingUID ulid.ULID
	// UpdateTimestamp is when the shard was opened or last published to, in seconds.
	UpdateTimestamp int64
}

// QueueID names a shard in errors: "<index id>:<ULID>/<source id>/<shard id>".
func QueueID(indexUID IndexUID, sourceID, shardID string) string {
	return indexUID.String() + "/" + sourceID + "/" + shardID
}

// ShardEntity is a shard of a source of an index.
func ShardEntity(indexUID IndexUID, sourceID, shardID string) Entity {
	return Entity{Kind: EntityShard, QueueID: QueueID(indexUID, sourceID, shardID)}
}

// MayAcquire reports whether a token may take a shard over. Tokens of plans begin with the time of the
// plan, so that a newer plan takes a shard from an older one, by the bytes of the tokens. Tokens with
// a slash have no such order: they, and whoever meets one, always may.
func (s *Shard) MayAcquire(token string) bool {
	recorded := s.PublishToken.Value
	return recorded == "" || strings.Contains(token, "/") || strings.Contains(recorded, "/") || token >= recorded
}

// CheckPublish checks that a publish with this token may make progress in the shard. A token that is
// not exactly the recorded one gives InvalidPublishToken, a shard without token too; then a part that
// begins before what is published, or a position that a store cannot hold, gives InvalidArgument. A gap is accepted.
func (s *Shard) CheckPublish(token string, delta PartitionDelta) error {
	if !s.PublishToken.Set || s.PublishToken.Value != token {
		return &Error{Kind: KindInvalidPublishToken, QueueID: QueueID(s.IndexUID, s.SourceID, s.ShardID)}
	}
	if !delta.accepts(s.Position) {
		return InvalidArgument("incompatible checkpoint delta: shard %s is published up to %s, and the delta begins behind %s",
			quoteBounded(QueueID(s.IndexUID, s.SourceID, s.ShardID)), quotePosition(s.Position), quotePosition(delta.From))
	}
	if n := utf8.RuneCountInString(string(delta.To)); n > MaxShardPositionLength {
		return InvalidArgument("checkpoint delta: shard %s: the position has %d characters; at most %d are allowed",
			quoteBounded(QueueID(s.IndexUID, s.SourceID, s.ShardID)), n, MaxShardPositionLength)
	}
	if strings.Contains(string(delta.To), "\x00") {
		return InvalidArgument("checkpoint delta: shard %s: position %s holds the character U+0000, which a store cannot hold",
			quoteBounded(QueueID(s.IndexUID, s.SourceID, s.ShardID)), quotePosition(delta.To))
	}
	return nil
}

// Published returns the shard after a publish up to a position, at now in seconds. A position at the
// end closes it.
func (s Shard) Published(to Position, now int64) Shard {
	s.Position = to
	s.UpdateTimestamp = now
	if to.IsEOF() {
		s.State = ShardClosed
	}
	return s
}
