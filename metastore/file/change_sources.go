package file

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// AddSource implements metastore.SourceStore.
func (s *Store) AddSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return s.changeSources(ctx, indexUID, func(state *indexState) ([]op, error) {
		updated, err := state.index.AddSource(source)
		if err != nil {
			return nil, err
		}
		return append(withoutShards(state, source.SourceID), updateOp{updated}), nil
	})
}

// UpdateSource implements metastore.SourceStore.
func (s *Store) UpdateSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return s.changeSources(ctx, indexUID, func(state *indexState) ([]op, error) {
		updated, changed, err := state.index.UpdateSource(source)
		return updateIfChanged(updated, changed), err
	})
}

// ToggleSource implements metastore.SourceStore.
func (s *Store) ToggleSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string, enabled bool) error {
	return s.changeSources(ctx, indexUID, func(state *indexState) ([]op, error) {
		updated, changed, err := state.index.ToggleSource(sourceID, enabled)
		return updateIfChanged(updated, changed), err
	})
}

// DeleteSource implements metastore.SourceStore.
func (s *Store) DeleteSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	return s.changeSources(ctx, indexUID, func(state *indexState) ([]op, error) {
		updated, err := state.index.DeleteSource(sourceID)
		if err != nil {
			return nil, err
		}
		return append(withoutShards(state, sourceID), updateOp{updated}), nil
	})
}

// ResetSourceCheckpoint implements metastore.SourceStore.
func (s *Store) ResetSourceCheckpoint(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	return s.changeSources(ctx, indexUID, func(state *indexState) ([]op, error) {
		return updateIfChanged(state.index.ResetCheckpoint(sourceID)), nil
	})
}

// changeSources has a change committed that rewrites the metadata of an index.
func (s *Store) changeSources(ctx context.Context, indexUID metastore.IndexUID, decide func(*indexState) ([]op, error)) error {
	const bytes = 4096 // about what metadata take in an entry
	return s.change(ctx, indexUID, bytes, decide)
}

func updateIfChanged(updated *metastore.IndexMetadata, changed bool) []op {
	if !changed {
		return nil
	}
	return []op{updateOp{updated}}
}

// withoutShards returns the operation that removes the shards of a source, if there are any.
func withoutShards(state *indexState, sourceID string) []op {
	ids := state.shards.ids(sourceID)
	if len(ids) == 0 {
		return nil
	}
	return []op{deleteShardsOp{sourceID: sourceID, shardIDs: ids}}
}
