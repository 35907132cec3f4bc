package metastore

import (
	"slices"

	"holdfast/metastore/indexconfig"
)

// Source returns the config of a source of the index. An unknown one gives NotFound(source).
func (m *IndexMetadata) Source(sourceID string) (*indexconfig.SourceConfig, error) {
	i := m.sourceAt(sourceID)
	if i < 0 {
		return nil, NotFound(SourceEntity(m.IndexUID.IndexID, sourceID))
	}
	return m.Sources[i], nil
}

func (m *IndexMetadata) sourceAt(sourceID string) int {
	return slices.IndexFunc(m.Sources, func(source *indexconfig.SourceConfig) bool { return source.SourceID == sourceID })
}

// AddSource returns the metadata with one more source. It gets an empty entry in the checkpoint unless
// there is one. A source of this id, whatever its config, gives AlreadyExists(source).
func (m *IndexMetadata) AddSource(source *indexconfig.SourceConfig) (*IndexMetadata, error) {
	if m.sourceAt(source.SourceID) >= 0 {
		return nil, AlreadyExists(SourceEntity(m.IndexUID.IndexID, source.SourceID))
	}
	updated := m
	if _, known := m.Checkpoint[source.SourceID]; !known {
		updated = m.withCheckpoint(source.SourceID, SourceCheckpoint{})
	}
	return updated.withSources(append(slices.Clone(m.Sources), source)), nil
}

// UpdateSource returns the metadata with the config of the source of this id replaced, and whether
// that changed anything. The checkpoint stays. An unknown source gives NotFound(source).
func (m *IndexMetadata) UpdateSource(source *indexconfig.SourceConfig) (updated *IndexMetadata, changed bool, err error) {
	i := m.sourceAt(source.SourceID)
	if i < 0 {
		return nil, false, NotFound(SourceEntity(m.IndexUID.IndexID, source.SourceID))
	}
	if m.Sources[i].Equal(source) {
		return m, false, nil
	}
	sources := slices.Clone(m.Sources)
	sources[i] = source
	return m.withSources(sources), true, nil
}

// ToggleSource returns the metadata with a source enabled or disabled, and whether that changed
// anything. An unknown source gives NotFound(source).
func (m *IndexMetadata) ToggleSource(sourceID string, enabled bool) (updated *IndexMetadata, changed bool, err error) {
	source, err := m.Source(sourceID)
	if err != nil {
		return nil, false, err
	}
	return m.UpdateSource(source.WithEnabled(enabled))
}

// DeleteSource returns the metadata without a source and without its checkpoint. An unknown source
// gives NotFound(source).
func (m *IndexMetadata) DeleteSource(sourceID string) (*IndexMetadata, error) {
	i := m.sourceAt(sourceID)
	if i < 0 {
		return nil, NotFound(SourceEntity(m.IndexUID.IndexID, sourceID))
	}
	return m.withCheckpoint(sourceID, nil).withSources(slices.Delete(slices.Clone(m.Sources), i, i+1)), nil
}

// ResetCheckpoint returns the metadata without the checkpoint of a source, which need not exist, and
// whether that changed anything. The shards of the source are not part of it.
func (m *IndexMetadata) ResetCheckpoint(sourceID string) (updated *IndexMetadata, changed bool) {
	if _, known := m.Checkpoint[sourceID]; !known {
		return m, false
	}
	return m.withCheckpoint(sourceID, nil), true
}

func (m *IndexMetadata) withSources(sources []*indexconfig.SourceConfig) *IndexMetadata {
	updated := *m
	updated.Sources = sources
	return &updated
}
