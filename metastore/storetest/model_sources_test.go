package storetest

import (
	"context"
	"maps"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func (m *model) changeMetadata(uid metastore.IndexUID, change func(*metastore.IndexMetadata) (*metastore.IndexMetadata, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	index, err := m.find(uid)
	if err != nil {
		return err
	}
	updated, err := change(index.metadata)
	if err != nil {
		return err
	}
	index.metadata = updated
	return nil
}

func (m *model) AddSource(_ context.Context, uid metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return m.changeMetadata(uid, func(metadata *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		return metadata.AddSource(source)
	})
}

func (m *model) UpdateSource(_ context.Context, uid metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return m.changeMetadata(uid, func(metadata *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		updated, _, err := metadata.UpdateSource(source)
		return updated, err
	})
}

func (m *model) ToggleSource(_ context.Context, uid metastore.IndexUID, sourceID string, enabled bool) error {
	return m.changeMetadata(uid, func(metadata *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		updated, _, err := metadata.ToggleSource(sourceID, enabled)
		return updated, err
	})
}

func (m *model) DeleteSource(_ context.Context, uid metastore.IndexUID, sourceID string) error {
	return m.changeMetadata(uid, func(metadata *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		updated, err := metadata.DeleteSource(sourceID)
		if err == nil {
			maps.DeleteFunc(m.indexes[uid.IndexID].shards, func(key modelShardKey, _ *metastore.Shard) bool { return key.sourceID == sourceID })
		}
		return updated, err
	})
}

func (m *model) ResetSourceCheckpoint(_ context.Context, uid metastore.IndexUID, sourceID string) error {
	return m.changeMetadata(uid, func(metadata *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		updated, _ := metadata.ResetCheckpoint(sourceID)
		return updated, nil
	})
}

// progress checks a delta and returns what makes its progress.
func (i *modelIndex) progress(delta *metastore.CheckpointDelta, token metastore.Optional[string]) (advance func(), err error) {
	if delta == nil {
		return func() {}, nil
	}
	inShards, err := delta.CheckSource(i.metadata, token)
	if err != nil {
		return nil, err
	}
	if !inShards {
		updated, _, err := i.metadata.WithDelta(delta)
		return func() { i.metadata = updated }, err
	}
	find := func(id string) *metastore.Shard { return i.shards[modelShardKey{delta.SourceID, id}] }
	return func() {
		for id, to := range delta.Positions() {
			*find(id) = find(id).Published(to, time.Now().Unix())
		}
	}, delta.CheckShards(i.metadata.IndexUID, token.Value, find)
}
