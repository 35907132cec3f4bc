package file

import (
	"context"
	"errors"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Which indexes exist is decided by the log of each index id alone; it goes on across incarnations.
// The root log holds the ids for listings. It may hold an id without an index, which listings skip,
// but never lack one that has an index.
//
//	create: C1  find the index missing at version n of its log
//	        C2  root log: add the id with a fresh generation, whether it is there or not
//	        C3  log of the index: the create entry, at version n+1 exactly; otherwise start over at C1
//	delete: D1  root log: read the id's generation g
//	        D2  log of the index: the drop entry; this is the deletion
//	        D3  root log: remove the id if its generation is still g
//
// What a crash leaves: after C2 an id without an index; after D2 the same. The next create adds the
// id again, the next delete removes it (see below).
//
// Why no interleaving loses an id. Take a create that succeeded, with its generation c, and any D3 that
// removed the id after C2. That D3 had read c at its D1 (generations are never drawn twice), so
// C2 < D1 < D2. If D2 < C3, then the log of the index got an entry between C1 and C3, and C3 was
// not at n+1: a contradiction. So C3 < D2: the deletion is of this incarnation, or of a later one that
// replaced it; in that case the later create had added the id with another generation after C3, and
// D3 removed that one's generation or nothing. Either way D3 takes away nothing that has an index.
//
// Two creates at once: both do C2, one does C3; the other starts over and finds the index. Two deletes
// at once: one finds no index any more at D2. A create and a delete: either C1 sees the
// index (AlreadyExists), or it comes after D2, and then D3 does not fit the generation of C2, or comes
// before C2.
//
// A delete that finds no index but an id in the root log cleans up as follows. Removing the id at once could
// hit a create between its C2 and C3. So it first makes that create start over, by an entry without
// effect (a fence) in the log of the index, at the version where it found no index:
//
//	        F1  root log: read the id's generation g
//	        F2  log of the index: find no index, and commit a fence
//	        F3  root log: remove the id if its generation is still g
//
// With D2 replaced by F2 the reasoning above holds: if C2 < F1 and F2 < C3, C3 is not at n+1.

// errStartOver says that the log of an index has moved between C1 and C3.
var errStartOver = errors.New("the log of the index has moved")

// CreateIndex implements metastore.IndexStore.
func (s *Store) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	if err := metastore.ValidateCreateIndex(request); err != nil {
		return nil, err
	}
	id := request.Config.IndexID
	if err := indexconfig.ValidateIndexID(id); err != nil {
		return nil, metastore.InvalidArgument("creating an index: %v", err)
	}
	log, done := s.logs.use(id)
	defer done()
	for {
		uid := metastore.IndexUID{IndexID: id, Incarnation: ulid.Make()}
		if request.Incarnation.Set {
			uid.Incarnation = request.Incarnation.Value
		}
		metadata := metastore.NewIndexMetadata(uid, request, s.env.clock().Unix())
		err := s.create(ctx, log, metadata)
		if err == nil {
			return metadata, nil
		}
		if !errors.Is(err, errStartOver) {
			return nil, err
		}
	}
}

func (s *Store) create(ctx context.Context, log *commitLog[*indexState], metadata *metastore.IndexMetadata) error {
	id := metadata.IndexUID.IndexID
	h, err := log.advance(ctx)
	if err != nil {
		return err
	}
	if s.record != nil {
		if err := h.state.records.refuseExecuted(s.record); err != nil {
			return err
		}
	}
	if h.state.index != nil {
		return metastore.AlreadyExists(metastore.IndexEntity(id))
	}
	add := addIndexOp{rootIndex{indexID: id, generation: ulid.Make()}}
	err = s.root.submit(ctx, 2*len(id), func(*rootState, uint64, bool) ([]op, error) { return []op{add}, nil })
	if err != nil {
		return err
	}
	return log.once(ctx, s.record, 4096, func(state *indexState, version uint64, changed bool) ([]op, error) {
		switch {
		case state.index != nil:
			return nil, metastore.AlreadyExists(metastore.IndexEntity(id))
		case version != h.version || changed:
			return nil, errStartOver
		}
		return []op{createOp{metadata}}, nil
	})
}
