package metastore

import "maps"

// IndexCheckpoint maps source ids to the progress of the source. A source without entry has made none.
type IndexCheckpoint map[string]SourceCheckpoint

// SourceCheckpoint maps partition ids to the last position that is published.
type SourceCheckpoint map[string]Position

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
	return m.WithPositions(d.SourceID, d.Positions()), true, nil
}

// WithPositions returns the metadata with positions in the checkpoint of a source replaced or added.
func (m *IndexMetadata) WithPositions(sourceID string, positions map[string]Position) *IndexMetadata {
	source := maps.Clone(m.Checkpoint[sourceID])
	if source == nil {
		source = make(SourceCheckpoint, len(positions))
	}
	maps.Copy(source, positions)
	return m.withCheckpoint(sourceID, source)
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
