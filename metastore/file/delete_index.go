package file

import (
	"context"
	"errors"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// DeleteIndex implements metastore.IndexStore. For its steps see create_index.go.
func (s *Store) DeleteIndex(ctx context.Context, indexUID metastore.IndexUID) error {
	id := indexUID.IndexID
	notFound := metastore.NotFound(metastore.IndexEntity(id))
	if indexconfig.ValidateIndexID(id) != nil {
		return notFound
	}
	root, err := s.root.advance(ctx)
	if err != nil {
		return err
	}
	generation := root.state.generation(id)
	log, done := s.logs.use(id)
	defer done()
	dangling := false // the id is in the set of indexes, and has no index
	err = log.once(ctx, s.record, 64, func(state *indexState, _ uint64, _ bool) ([]op, error) {
		if state.index != nil && state.index.IndexUID == indexUID {
			return []op{dropOp{indexUID}}, nil
		}
		dangling = state.index == nil && generation != ulid.ULID{}
		return nil, notFound
	})
	if dangling && errors.Is(err, notFound) {
		// Not in the commit of the call: one that is refused leaves no record.
		if fenceErr := log.submit(ctx, 64, func(state *indexState, _ uint64, _ bool) ([]op, error) {
			if state.index != nil {
				return nil, notFound
			}
			return []op{fenceOp{}}, nil
		}); fenceErr != nil {
			return fenceErr
		}
	} else if err != nil {
		return err
	}
	if err := s.removeIndexID(ctx, id, generation); err != nil {
		// The index is gone. An id without one does no harm.
		s.env.logger.WarnContext(ctx, "the id of a deleted index stays in the set of indexes", "index", id, "error", err)
	}
	return err
}

// removeIndexID takes an id out of the set of indexes unless it was added again.
func (s *Store) removeIndexID(ctx context.Context, id string, generation ulid.ULID) error {
	remove := removeIndexOp{rootIndex{indexID: id, generation: generation}}
	return s.root.submit(ctx, 2*len(id), func(root *rootState, _ uint64, _ bool) ([]op, error) {
		if root.generation(id) != generation || generation == (ulid.ULID{}) {
			return nil, nil
		}
		return []op{remove}, nil
	})
}
