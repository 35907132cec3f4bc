package file

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// UpdateIndex implements metastore.IndexStore.
func (s *Store) UpdateIndex(ctx context.Context, indexUID metastore.IndexUID, update indexconfig.Update) (*metastore.IndexMetadata, error) {
	var result *metastore.IndexMetadata
	err := s.change(ctx, indexUID, 4096, func(state *indexState) ([]op, error) {
		result = state.index
		config, changed, err := state.index.Config.Update(update)
		if err != nil {
			return nil, metastore.InvalidArgument("updating index %q: %v", indexUID.IndexID, err)
		}
		if !changed {
			return nil, nil
		}
		updated := *state.index
		updated.Config = config
		result = &updated
		return []op{updateOp{result}}, nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// IndexMetadata implements metastore.IndexStore.
func (s *Store) IndexMetadata(ctx context.Context, lookup metastore.IndexLookup) (*metastore.IndexMetadata, error) {
	if lookup.IndexUID.Set {
		lookup.IndexID = metastore.Optional[string]{}
	}
	return s.lookUp(ctx, lookup)
}

// IndexesMetadata implements metastore.IndexStore.
func (s *Store) IndexesMetadata(ctx context.Context, lookups []metastore.IndexLookup) ([]*metastore.IndexMetadata, []metastore.IndexLookupFailure, error) {
	answers := make([]struct {
		metadata *metastore.IndexMetadata
		err      error
	}, len(lookups))
	var group errgroup.Group
	group.SetLimit(s.env.options.MaxConcurrentChecks)
	for i, lookup := range lookups {
		group.Go(func() error {
			answers[i].metadata, answers[i].err = s.lookUp(ctx, lookup)
			return nil
		})
	}
	_ = group.Wait() // no function fails
	if err := ctx.Err(); err != nil {
		return nil, nil, metastore.Timeout(err, "looking up indexes")
	}
	var found []*metastore.IndexMetadata
	var failures []metastore.IndexLookupFailure
	seen := map[metastore.IndexUID]bool{}
	for i, answer := range answers {
		switch {
		case answer.err != nil:
			notFound := errors.Is(answer.err, metastore.ErrNotFound)
			failures = append(failures, metastore.IndexLookupFailure{Lookup: lookups[i], NotFound: notFound})
		case !seen[answer.metadata.IndexUID]:
			seen[answer.metadata.IndexUID] = true
			found = append(found, answer.metadata)
		}
	}
	return found, failures, nil
}

// lookUp finds the index that fits all of the lookup.
func (s *Store) lookUp(ctx context.Context, lookup metastore.IndexLookup) (*metastore.IndexMetadata, error) {
	id := lookup.IndexID.Value
	if !lookup.IndexID.Set {
		id = lookup.IndexUID.Value.IndexID
	}
	if !lookup.IndexID.Set && !lookup.IndexUID.Set {
		return nil, metastore.Internal(nil, "looking up an index: neither the index id nor the index UID is set")
	}
	state, err := s.stateOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if state.index == nil || lookup.IndexUID.Set && state.index.IndexUID != lookup.IndexUID.Value {
		return nil, metastore.NotFound(metastore.IndexEntity(id))
	}
	return state.index, nil
}

// ListIndexesMetadata implements metastore.IndexStore.
func (s *Store) ListIndexesMetadata(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
	states, err := s.indexes(ctx, patterns.Match)
	if err != nil {
		return nil, err
	}
	list := make([]*metastore.IndexMetadata, len(states))
	for i, state := range states {
		list[i] = state.index
	}
	return list, nil
}

// ListIndexStats implements metastore.IndexStore.
func (s *Store) ListIndexStats(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]metastore.IndexStats, error) {
	states, err := s.indexes(ctx, patterns.Match)
	if err != nil {
		return nil, err
	}
	list := make([]metastore.IndexStats, len(states))
	for i, state := range states {
		list[i] = metastore.IndexStats{
			IndexUID:          state.index.IndexUID,
			Staged:            state.splits.stats[metastore.Staged],
			Published:         state.splits.stats[metastore.Published],
			MarkedForDeletion: state.splits.stats[metastore.MarkedForDeletion],
		}
	}
	return list, nil
}
