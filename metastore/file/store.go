package file

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/indexconfig"
)

// Store is a metastore.Store on a directory or a bucket. Any number of stores, in any number of
// processes, may be open on the same place.
type Store struct {
	env  *environment
	root *commitLog[*rootState]
	logs *indexLogs
	// record is that of the one call of a store that WithRecord returned.
	record *idempotency.Record
}

var _ idempotency.Store = (*Store)(nil)

// Open opens the store at options.URL, and creates it if there is none. It fails if the storage does
// not refuse to create an object twice, or if the place holds a file-backed store of Quickwit's. See
// Options.ReadOnly for a store that only reads.
func Open(ctx context.Context, options Options) (*Store, error) {
	b, err := openBucket(ctx, options.URL, options.ReadOnly)
	if err != nil {
		return nil, err
	}
	store, err := open(ctx, b, options)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return store, nil
}

// open opens a store on a bucket, which it closes when it is closed itself.
func open(ctx context.Context, b bucket, options Options) (*Store, error) {
	env := newEnvironment(b, options.withDefaults())
	if err := env.options.check(); err != nil {
		return nil, err
	}
	if err := refuseForeignStore(ctx, b, env.options.URL); err != nil {
		return nil, err
	}
	if options.ReadOnly {
		env.bucket = readOnlyBucket{b}
	} else if err := probe(ctx, b); err != nil {
		return nil, err
	}
	s := &Store{env: env}
	s.root = newCommitLog(env, logKeys{}, "the set of indexes", rootCodec)
	s.logs = &indexLogs{env: env, slots: map[string]*indexSlot{}}
	return s, nil
}

// Close waits for commits under way and gives up snapshots that are being written.
func (s *Store) Close() error {
	s.env.close()
	return s.env.bucket.Close()
}

// CheckConnectivity asks the storage for the next entry of the root log.
func (s *Store) CheckConnectivity(ctx context.Context) error {
	_, err := s.root.advance(ctx)
	return err
}

// ClusterIdentity implements metastore.Store.
func (s *Store) ClusterIdentity(ctx context.Context) (string, error) {
	find := s.root.known
	if s.env.options.ReadOnly {
		find = s.root.fresh // another process may have drawn it meanwhile
	}
	root, err := find(ctx)
	if err != nil {
		return "", err
	}
	if identity := root.state.identity; identity != "" {
		return identity, nil
	}
	var identity string
	drawn := uuid.New().String()
	err = s.root.submit(ctx, len(drawn), func(root *rootState, _ uint64, _ bool) ([]op, error) {
		if identity = root.identity; identity != "" {
			return nil, nil
		}
		identity = drawn
		return []op{identityOp(drawn)}, nil
	})
	if err != nil {
		return "", err
	}
	return identity, nil
}

// indexes returns the current states of the indexes whose ids match, in the order of their UIDs. Ids
// without an index are left out.
func (s *Store) indexes(ctx context.Context, matches func(indexID string) bool) ([]*indexState, error) {
	root, err := s.root.fresh(ctx)
	if err != nil {
		return nil, err
	}
	states, err := s.statesOf(ctx, root.state.indexIDs(matches))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(states, func(state *indexState) bool { return state.index == nil }), nil
}

// statesOf returns the current state of each id, in their order.
func (s *Store) statesOf(ctx context.Context, indexIDs []string) ([]*indexState, error) {
	states := make([]*indexState, len(indexIDs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.env.options.MaxConcurrentChecks)
	for i, id := range indexIDs {
		group.Go(func() (err error) {
			states[i], err = s.stateOf(ctx, id)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return states, nil
}

// stateOf returns the current state of an index id. An id that cannot be one has no index.
func (s *Store) stateOf(ctx context.Context, indexID string) (*indexState, error) {
	if indexconfig.ValidateIndexID(indexID) != nil {
		return newIndexState(), nil
	}
	log, done := s.logs.use(indexID)
	defer done()
	h, err := log.fresh(ctx)
	if err != nil {
		return nil, err
	}
	return h.state, nil
}

// change has a change of one incarnation of an index committed. decide is told the state of an index
// that has this UID; otherwise the change is refused with NotFound.
func (s *Store) change(ctx context.Context, uid metastore.IndexUID, bytes int, decide func(*indexState) ([]op, error)) error {
	if indexconfig.ValidateIndexID(uid.IndexID) != nil {
		return metastore.NotFound(metastore.IndexEntity(uid.IndexID))
	}
	log, done := s.logs.use(uid.IndexID)
	defer done()
	return log.once(ctx, s.record, bytes, func(state *indexState, _ uint64, _ bool) ([]op, error) {
		if _, err := state.current(uid); err != nil {
			return nil, err
		}
		return decide(state)
	})
}
