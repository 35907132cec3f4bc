package file

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"holdfast/metastore"
)

const (
	// maxGroupRequests and maxGroupBytes bound what is committed as one entry. A single request may
	// exceed the bytes.
	maxGroupRequests = 1024
	maxGroupBytes    = 8 << 20
	// putAttempts bounds how often the same entry is offered to the storage.
	putAttempts = 4
)

// request is a change that waits to be committed.
type request[S any] struct {
	// decide returns the operations that the request takes on a state, none if it changes nothing, or
	// why it is refused. It may be called several times; the last call counts. It must not change the
	// state. changed says that the state is not that of the version, but has changes of requests before this one.
	decide func(s S, version uint64, changed bool) ([]op, error)
	// bytes is about how much the request adds to an entry.
	bytes int

	done chan struct{}
	err  error // set before done is closed
}

// submit has a change decided and committed, together with others that wait, and returns once it is
// durable, refused, or found to change nothing. If it returns a kind of error that is not
// CertainlyAborted the outcome is unknown. What decide has set may be read if submit returns nil or the error of decide.
func (l *commitLog[S]) submit(ctx context.Context, bytes int, decide func(s S, version uint64, changed bool) ([]op, error)) error {
	if l.env.options.ReadOnly {
		return metastore.Forbidden(nil, "changing %s: the store is opened read-only", l.name)
	}
	if err := ctx.Err(); err != nil {
		return metastore.Timeout(err, "changing %s", l.name)
	}
	r := &request[S]{decide: decide, bytes: bytes, done: make(chan struct{})}
	if err := l.enqueue(r); err != nil {
		return err
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if l.withdraw(r) {
		return metastore.Timeout(ctx.Err(), "changing %s: the change was not begun", l.name)
	}
	select {
	case <-r.done: // both were ready
		return r.err
	default:
		return metastore.Timeout(ctx.Err(), "changing %s: the outcome is unknown", l.name)
	}
}

func (l *commitLog[S]) enqueue(r *request[S]) error {
	l.queue.Lock()
	defer l.queue.Unlock()
	if !l.committing && !l.env.start(l.commitWaiting) {
		return metastore.Unavailable(nil, "changing %s: the store is closed", l.name)
	}
	l.committing = true
	l.waiting = append(l.waiting, r)
	return nil
}

// withdraw takes a request back that no commit has begun with.
func (l *commitLog[S]) withdraw(r *request[S]) bool {
	l.queue.Lock()
	defer l.queue.Unlock()
	i := slices.Index(l.waiting, r)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// commitWaiting commits until nobody waits.
func (l *commitLog[S]) commitWaiting() {
	for {
		group := l.nextGroup()
		if group == nil {
			return
		}
		bytes := 0
		for _, r := range group {
			bytes += r.bytes
		}
		timeout := l.env.options.CommitTimeout + transferTime(bytes)
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		err := l.commit(ctx, group)
		cancel()
		for _, r := range group {
			if err != nil {
				r.err = err
			}
			close(r.done)
		}
	}
}

// transferTime is what bytes may take on a slow line, at 1 MiB a second.
func transferTime(bytes int) time.Duration {
	return time.Duration(bytes>>20) * time.Second
}

func (l *commitLog[S]) nextGroup() []*request[S] {
	l.queue.Lock()
	defer l.queue.Unlock()
	count, bytes := 0, 0
	for count < len(l.waiting) && count < maxGroupRequests {
		bytes += l.waiting[count].bytes
		if count > 0 && bytes > maxGroupBytes {
			break
		}
		count++
	}
	if count == 0 {
		l.committing = false
		return nil
	}
	group := slices.Clone(l.waiting[:count])
	l.waiting = slices.Delete(l.waiting, 0, count)
	return group
}

// commit decides the requests of a group in order, each on the state that the ones before it leave,
// and commits what they change as one entry. It returns nil when the error of each request is set, or
// an error for all of them.
func (l *commitLog[S]) commit(ctx context.Context, group []*request[S]) error {
	h, err := l.known(ctx)
	if err != nil {
		return err
	}
	for attempt := 0; ctx.Err() == nil; attempt++ {
		next := &head[S]{version: h.version + 1, writeID: uuid.New(), state: l.fork(h)}
		before := next.state.recorded().len()
		e := &entry{version: next.version, writeID: next.writeID, time: l.env.clock().Unix()}
		if err := l.decide(next.state, e, group); err != nil {
			return err
		}
		if len(e.ops) == 0 {
			// Nothing to write, if what was decided on is the newest state.
			newest, err := l.advance(ctx)
			if err != nil || newest.version == h.version {
				return err
			}
			h = newest
			continue
		}
		text := e.append(nil)
		after := next.state.recorded().len()
		won, err := l.offer(ctx, h, next, e, text)
		if added := e.numRecords(); won && added > 0 {
			l.env.statistics.committed(before, added, after)
		}
		if err != nil || won {
			return err
		}
		l.env.statistics.retried(retryConflict)
		if attempt > 1 {
			// Several processes write this log: give the others a moment. When time is up the loop ends.
			_ = pause(ctx, rand.N(time.Duration(min(attempt, 20))*time.Millisecond))
		}
		if h, err = l.advance(ctx); err != nil {
			return err
		}
	}
	return metastore.Unavailable(ctx.Err(), "changing %s: other writers were faster each time", l.name)
}

// offer puts an entry, and makes the state after it current if it became part of the log.
func (l *commitLog[S]) offer(ctx context.Context, base, next *head[S], e *entry, text []byte) (won bool, err error) {
	f := &flight{version: e.version, done: make(chan struct{})}
	l.flight.Store(f)
	defer close(f.done)
	won, err = l.put(ctx, base, e, text)
	if won {
		l.publish(next)
		l.snapshots.grew(1, len(text))
		l.snapshotIfDue()
	}
	return won, err
}

// decide asks each request of a group and applies what it takes to the working state.
func (l *commitLog[S]) decide(working S, e *entry, group []*request[S]) error {
	for _, r := range group {
		var ops []op
		ops, r.err = r.decide(working, e.version-1, len(e.ops) > 0)
		if r.err != nil {
			continue
		}
		for i := range ops {
			if err := working.apply(ops[i], e.time); err != nil {
				return metastore.Internal(err, "changing %s", l.name)
			}
		}
		e.ops = append(e.ops, ops...)
	}
	return nil
}

// put offers an entry to the storage until it is known whether it, or another one of its version, is
// part of the log.
func (l *commitLog[S]) put(ctx context.Context, base *head[S], e *entry, text []byte) (won bool, err error) {
	key := l.keys.entry(e.version)
	begun := l.env.clock()
	for attempt := 1; ; attempt++ {
		won, err = l.putOnce(ctx, key, e, text)
		switch {
		case won:
			return l.settleCommit(ctx, base, e, begun)
		case err == nil:
			return false, nil
		case attempt == 1 && errors.Is(err, errForbidden):
			return false, l.storageError(err, "creating", key)
		}
		// The entry may still arrive. Offering the very same entry again cannot commit it twice.
		if attempt == putAttempts || pause(ctx, l.env.retryPause(attempt)) != nil {
			l.checked.Store(nil)
			return false, metastore.Unavailable(err, "changing %s: creating object %s: the outcome is unknown", l.name, key)
		}
		l.env.statistics.retried(retryStorage)
	}
}

// putOnce returns neither if another entry of the version is part of the log, and an error if it
// could not be found out whether one is.
func (l *commitLog[S]) putOnce(ctx context.Context, key string, e *entry, text []byte) (won bool, err error) {
	attempt, cancel := context.WithTimeout(ctx, putTimeout+transferTime(len(text)))
	defer cancel()
	putErr := l.env.bucket.Create(attempt, key, text)
	if putErr == nil {
		return true, nil
	}
	// Also when the storage says that the object exists it may be ours: from an attempt without
	// answer, of this function or of the storage client's own.
	after, cancelAfter := context.WithTimeout(context.WithoutCancel(ctx), putTimeout)
	defer cancelAfter()
	found, _, err := l.readEntry(after, e.version)
	switch {
	case err == nil && found.writeID == e.writeID:
		if err := l.env.bucket.Settle(after, key); err != nil {
			return false, err
		}
		return true, nil
	case err == nil:
		return false, nil
	case !errors.Is(err, errNotExist):
		return false, errors.Join(putErr, err)
	}
	return false, putErr
}

// settleCommit makes sure that a created entry is part of the log; see the package comment.
func (l *commitLog[S]) settleCommit(ctx context.Context, base *head[S], e *entry, begun time.Time) (won bool, err error) {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), putTimeout)
	defer cancel()
	genuine, err := l.confirm(after, base)
	if err != nil {
		l.checked.Store(nil)
		return false, metastore.Unavailable(err, "changing %s: object %s was created, but the outcome is unknown", l.name, l.keys.entry(e.version))
	}
	if genuine {
		l.isNewest(begun)
		return true, nil
	}
	if l.env.elapsed(begun) >= removalAge {
		l.discard(base)
		return false, metastore.Unavailable(nil, "changing %s: creating object %s took so long that the outcome is unknown", l.name, l.keys.entry(e.version))
	}
	// The object stands where the log was removed long ago; no process takes it for an entry.
	l.discard(base)
	if err := l.env.bucket.Delete(after, l.keys.entry(e.version)); err != nil {
		return false, l.storageError(err, "removing", l.keys.entry(e.version))
	}
	return false, nil
}
