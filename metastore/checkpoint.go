package metastore

import (
	"maps"
	"slices"
)

// IndexCheckpoint maps source ids to the progress of the source. A source without entry has made none.
type IndexCheckpoint map[string]SourceCheckpoint

// SourceCheckpoint maps partition ids to the last position that is published.
type SourceCheckpoint map[string]Position

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

// Validate checks that every partition moves forward. No client of the peer can build another delta;
// the peer would let it move a checkpoint back. It fails with InvalidArgument.
func (d *CheckpointDelta) Validate() error {
	for _, id := range d.PartitionIDs() {
		if delta := d.Partitions[id]; delta.To.Compare(delta.From) <= 0 {
			return InvalidArgument("checkpoint delta of source %q: partition %q goes from %q to %q, which is not forward", d.SourceID, id, delta.From, delta.To)
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
	return FailedPrecondition(entity, "incompatible checkpoint delta: partition %q is published up to %q, and the delta begins behind %q",
		partition, current, d.Partitions[partition].From)
}

// WithDelta returns the metadata after a publish with a delta of a source that keeps its progress in
// the index metadata, and whether anything changed. All partitions are checked before any is written;
// a delta that begins before what is published gives FailedPrecondition(checkpoint delta). A gap is accepted.
func (m *IndexMetadata) WithDelta(d *CheckpointDelta) (updated *IndexMetadata, changed bool, err error) {
	if len(d.Partitions) == 0 {
		return m, false, nil
	}
	current := m.Checkpoint[d.SourceID]
	for _, id := range d.PartitionIDs() {
		if position, known := current[id]; known && !d.Partitions[id].accepts(position) {
			return nil, false, incompatibleDelta(m.IndexUID.IndexID, d, id, position)
		}
	}
	source := maps.Clone(current)
	if source == nil {
		source = make(SourceCheckpoint, len(d.Partitions))
	}
	for id, partition := range d.Partitions {
		source[id] = partition.To
	}
	return m.withCheckpoint(d.SourceID, source), true, nil
}

// withCheckpoint returns the metadata with the checkpoint of one source replaced; nil removes it.
func (m *IndexMetadata) withCheckpoint(sourceID string, source SourceCheckpoint) *IndexMetadata {
	updated := *m
	updated.Checkpoint = maps.Clone(m.Checkpoint)
	if source == nil {
		delete(updated.Checkpoint, sourceID)
		return &updated
	}
	if updated.Checkpoint == nil {
		updated.Checkpoint = IndexCheckpoint{}
	}
	updated.Checkpoint[sourceID] = source
	return &updated
}
