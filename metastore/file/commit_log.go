package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"holdfast/metastore"
)

// state is what the entries of a log build.
type state[S any] interface {
	// fork returns a state that can be changed while the original is read. Its cost does not depend on
	// the size.
	fork() S
	// apply makes the change of one operation of an entry of that time. After an error the state is
	// not to be used.
	apply(o op, time int64) error
	// recorded returns the idempotency records of the log.
	recorded() *recordSet
}

// head is a version of a log and the state after its entry. It does not change.
type head[S any] struct {
	version uint64
	writeID uuid.UUID
	state   S
}

// commitLog is one log as this process knows it.
type commitLog[S state[S]] struct {
	env  *environment
	keys logKeys
	// name says in errors what the log is about.
	name string
	// codec reads and writes snapshots.
	codec snapshotCodec[S]

	// current is the newest version that is known; nil before the log is loaded.
	current atomic.Pointer[head[S]]
	// advancing guards changes of current, and forks of its state.
	advancing sync.Mutex
	// loadTurn is held by the one goroutine that loads the log.
	loadTurn chan struct{}
	// checked is when the storage was last asked for the next entry; the zero value asks for it now.
	checked atomic.Pointer[time.Time]
	// confirmed is when a version, current or one before it, was last known to be the newest.
	confirmed atomic.Pointer[time.Time]
	// flight is the commit that is under way.
	flight atomic.Pointer[flight]

	queue      sync.Mutex
	waiting    []*request[S]
	committing bool

	snapshots snapshotSchedule
}

// flight is a commit under way: done is closed when it is over.
type flight struct {
	version uint64
	done    chan struct{}
}

// snapshotCodec is the layout of the snapshots of a kind of log.
type snapshotCodec[S any] struct {
	blank func() S
	write func(w io.Writer, h *head[S]) error
	read  func(r io.Reader) (*head[S], error)
	// check refuses a state that is of another log, as when objects were copied to where they do not belong. Nil
	// refuses none.
	check func(S) error
}

func newCommitLog[S state[S]](env *environment, keys logKeys, name string, codec snapshotCodec[S]) *commitLog[S] {
	return &commitLog[S]{env: env, keys: keys, name: name, codec: codec, loadTurn: make(chan struct{}, 1)}
}

// fresh returns the newest version that callers must see: not older than the refresh time allows.
func (l *commitLog[S]) fresh(ctx context.Context) (*head[S], error) {
	h := l.current.Load()
	if h == nil {
		return l.load(ctx)
	}
	if refresh := l.env.options.Refresh; refresh > 0 {
		if checked := l.checked.Load(); checked != nil && l.env.elapsed(*checked) < refresh {
			return h, nil
		}
	}
	return l.advance(ctx)
}

// known returns the newest version that this process has seen.
func (l *commitLog[S]) known(ctx context.Context) (*head[S], error) {
	if h := l.current.Load(); h != nil {
		return h, nil
	}
	return l.load(ctx)
}

// publish makes the state after an entry current, unless somebody else has done so.
func (l *commitLog[S]) publish(next *head[S]) {
	l.advancing.Lock()
	defer l.advancing.Unlock()
	if h := l.current.Load(); h != nil && h.version == next.version-1 {
		l.current.Store(next)
	}
}

// fork returns a changeable copy of the state of h.
func (l *commitLog[S]) fork(h *head[S]) S {
	l.advancing.Lock()
	defer l.advancing.Unlock()
	return h.state.fork()
}

// discard forgets a version that turned out not to be part of the log.
func (l *commitLog[S]) discard(h *head[S]) {
	l.advancing.Lock()
	defer l.advancing.Unlock()
	if l.current.Load() == h {
		l.current.Store(nil)
	}
}

// applyEntry applies all operations of an entry.
func applyEntry[S state[S]](s S, e *entry) error {
	for i := range e.ops {
		if err := s.apply(e.ops[i], e.time); err != nil {
			return fmt.Errorf("ops[%d]: %w", i, err)
		}
	}
	return nil
}

// applyRead applies an entry that was read from the storage, which need not fit.
func (l *commitLog[S]) applyRead(s S, e *entry) error {
	err := applyEntry(s, e)
	if err == nil {
		err = l.check(s)
	}
	if err != nil {
		return l.damaged(e.version, err)
	}
	return nil
}

// check refuses a state that the objects of another log have built.
func (l *commitLog[S]) check(s S) error {
	if l.codec.check == nil {
		return nil
	}
	return l.codec.check(s)
}

func (l *commitLog[S]) readEntry(ctx context.Context, version uint64) (*entry, int, error) {
	key := l.keys.entry(version)
	text, err := l.env.bucket.Read(ctx, key, maxEntryBytes)
	if errors.Is(err, errNotExist) {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, l.storageError(err, "reading", key)
	}
	e, err := parseEntry(text)
	if err == nil && e.version != version {
		err = fmt.Errorf("version is %d; by its name it must be %d", e.version, version)
	}
	if err != nil {
		return nil, 0, metastore.Internal(err, "the log of %s is damaged: object %s", l.name, key)
	}
	return e, len(text), nil
}

// storageError says what the storage refused.
func (l *commitLog[S]) storageError(err error, action, key string) error {
	return storageError(err, "%s object %s of %s", action, key, l.name)
}

func storageError(err error, format string, args ...any) error {
	switch {
	case errors.Is(err, errForbidden):
		return metastore.Forbidden(err, format, args...)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return metastore.Timeout(err, format, args...)
	}
	return metastore.Unavailable(err, format, args...)
}
