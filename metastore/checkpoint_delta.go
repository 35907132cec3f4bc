package metastore

import (
	"maps"
	"slices"
	"unicode/utf8"
)

// CheckpointDelta is the progress that a publish makes in one source. Without partitions it makes none.
type CheckpointDelta struct {
	SourceID   string
	Partitions map[string]PartitionDelta
}

// PartitionDelta is progress in one partition: what lies behind From, up to and including To.
type PartitionDelta struct {
	From, To Position
}

// PartitionIDs returns the ids of the partitions, sorted by bytes.
func (d *CheckpointDelta) PartitionIDs() []string { return slices.Sorted(maps.Keys(d.Partitions)) }

// Positions returns where the delta leads to, by partition id.
func (d *CheckpointDelta) Positions() map[string]Position {
	positions := make(map[string]Position, len(d.Partitions))
	for id, partition := range d.Partitions {
		positions[id] = partition.To
	}
	return positions
}

// Validate checks that every partition moves forward and that all texts are valid UTF-8. No client of
// the peer can build another delta; the peer would let it move a checkpoint back. It fails with InvalidArgument.
func (d *CheckpointDelta) Validate() error {
	source := quoteBounded(d.SourceID)
	if !utf8.ValidString(d.SourceID) {
		return InvalidArgument("checkpoint delta: source id %s is not valid UTF-8", source)
	}
	for _, id := range d.PartitionIDs() {
		delta := d.Partitions[id]
		if !utf8.ValidString(id) || !utf8.ValidString(string(delta.To)) {
			return InvalidArgument("checkpoint delta of source %s: partition %s or its position %s is not valid UTF-8",
				source, quoteBounded(id), quotePosition(delta.To))
		}
		if delta.To.Compare(delta.From) <= 0 {
			return InvalidArgument("checkpoint delta of source %s: partition %s goes from %s to %s, which is not forward",
				source, quoteBounded(id), quotePosition(delta.From), quotePosition(delta.To))
		}
	}
	return nil
}

// CheckSource reports whether the progress belongs into shards, and not into the metadata of the index.
// An unknown source gives NotFound(source); a source that uses shards needs a token, also if no
// partition moves, else InvalidArgument.
func (d *CheckpointDelta) CheckSource(index *IndexMetadata, token Optional[string]) (inShards bool, err error) {
	source, err := index.Source(d.SourceID)
	if err != nil {
		return false, err
	}
	if source.UsesShards() && !token.Set {
		return false, InvalidArgument("publish_token_opt is missing: source %s keeps its progress in shards, which need a publish token", quoteBounded(d.SourceID))
	}
	return source.UsesShards(), nil
}

// CheckShards checks that a publish with the token may make the progress in the shards that find returns, nil for an
// absent one, as PublishSplitsRequest says.
func (d *CheckpointDelta) CheckShards(indexUID IndexUID, token string, find func(shardID string) *Shard) error {
	ids := d.PartitionIDs()
	for _, id := range ids {
		if find(id) == nil {
			return NotFound(ShardEntity(indexUID, d.SourceID, id))
		}
	}
	for _, id := range ids {
		if err := find(id).CheckPublish(token, d.Partitions[id]); err != nil {
			return err
		}
	}
	return nil
}

// accepts reports whether progress may be made from the current position: the part that was published
// must not begin before it. A gap is accepted.
func (d PartitionDelta) accepts(current Position) bool { return current.Compare(d.From) <= 0 }

// incompatibleDelta is the refusal of a delta that begins before what is published, for sources whose
// checkpoint is in the index metadata.
func incompatibleDelta(indexID string, d *CheckpointDelta, partition string, current Position) error {
	entity := Entity{Kind: EntityCheckpointDelta, IndexID: indexID, SourceID: d.SourceID}
	return FailedPrecondition(entity, "incompatible checkpoint delta: partition %s is published up to %s, and the delta begins behind %s",
		quoteBounded(partition), quotePosition(current), quotePosition(d.Partitions[partition].From))
}

func quotePosition(p Position) string { return quoteBounded(string(p)) }
