package postgres

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// AddSource implements metastore.SourceStore.
func (s *Store) AddSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return s.changeSourceWithShards(ctx, "adding a source", indexUID, source.SourceID, func(index *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		return index.AddSource(source)
	})
}

// UpdateSource implements metastore.SourceStore.
func (s *Store) UpdateSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	_, err := s.changeIndex(ctx, "updating a source", indexUID, func(index *metastore.IndexMetadata) (*metastore.IndexMetadata, bool, error) {
		return index.UpdateSource(source)
	})
	return err
}

// ToggleSource implements metastore.SourceStore.
func (s *Store) ToggleSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string, enabled bool) error {
	_, err := s.changeIndex(ctx, "toggling a source", indexUID, func(index *metastore.IndexMetadata) (*metastore.IndexMetadata, bool, error) {
		return index.ToggleSource(sourceID, enabled)
	})
	return err
}

// DeleteSource implements metastore.SourceStore.
func (s *Store) DeleteSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	return s.changeSourceWithShards(ctx, "deleting a source", indexUID, sourceID, func(index *metastore.IndexMetadata) (*metastore.IndexMetadata, error) {
		return index.DeleteSource(sourceID)
	})
}

// ResetSourceCheckpoint implements metastore.SourceStore.
func (s *Store) ResetSourceCheckpoint(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	_, err := s.changeIndex(ctx, "resetting the checkpoint of a source", indexUID, func(index *metastore.IndexMetadata) (*metastore.IndexMetadata, bool, error) {
		updated, changed := index.ResetCheckpoint(sourceID)
		return updated, changed, nil
	})
	return err
}

// changeSourceWithShards changes the metadata of an index so that a source appears or disappears, and removes the shards
// of that source id. Nobody can open a shard meanwhile: that needs a key share lock on the index row.
func (s *Store) changeSourceWithShards(ctx context.Context, operation string, indexUID metastore.IndexUID, sourceID string, change func(*metastore.IndexMetadata) (*metastore.IndexMetadata, error)) error {
	row := lockedIndex{uid: indexUID}
	source := [][]byte{textArgument(indexUID.String()), textArgument(sourceID)}
	var numShards int64
	return s.changeLocked(ctx, operation, indexUID.IndexID,
		func() []query {
			numShards = 0
			queries := []query{{sql: lockWholeIndexSQL, args: source[:1]}, row.lock()}
			// PostgreSQL cannot hold other ids, and cannot search for them.
			if isStorable(sourceID) {
				queries = append(queries, query{sql: lockShardsOfSourceSQL, args: source, affected: &numShards})
			}
			return queries
		},
		func() (decided decision, err error) {
			if row.metadata == nil {
				return decided, metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
			}
			if row.metadata, err = change(row.metadata); err != nil {
				return decided, err
			}
			decided.writes = append(decided.writes, row.write())
			if numShards > 0 {
				decided.writes = append(decided.writes, query{sql: deleteShardsOfSourceSQL, args: source})
			}
			return decided, nil
		})
}
