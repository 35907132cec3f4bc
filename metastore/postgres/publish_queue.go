package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"holdfast/metastore"
)

// A transaction of publishes is closed at this many calls or split ids. A single call may exceed the ids.
const (
	maxGroupPublishes = 256
	maxGroupSplits    = 10_000
)

// publishQueues holds the publishes with a checkpoint delta. Such publishes of one index exclude each other from the read
// of the checkpoint to the commit, so one transaction of an index runs at a time, and makes all publishes that have come
// meanwhile. They wait here, where it costs nothing, and not in the database for the lock on the index row.
type publishQueues struct {
	mu sync.Mutex
	// waiting has an entry for each index that has a running transaction, with what waits behind it.
	waiting map[metastore.IndexUID][]*queuedPublish
	running sync.WaitGroup
	closed  bool
}

// queuedPublish is a publish that waits for its outcome.
type queuedPublish struct {
	*publication
	ctx  context.Context
	done chan struct{}
	err  error // set before done is closed
}

// publishInQueue has a publish made together with others of its index, each with its own outcome.
func (s *Store) publishInQueue(ctx context.Context, p *publication) error {
	if err := s.refuseReadOnly(publishOperation); err != nil {
		return err
	}
	queued := &queuedPublish{publication: p, ctx: ctx, done: make(chan struct{})}
	if !s.publishes.add(queued, s.publishWaiting) {
		return metastore.Unavailable(nil, "%s: the store is closed", publishOperation)
	}
	select {
	case <-queued.done:
		return queued.err
	case <-ctx.Done():
	}
	if s.publishes.withdraw(queued) {
		return metastore.Timeout(context.Cause(ctx), "%s: the publish was not begun", publishOperation)
	}
	// The transaction ends soon if nobody else is in it.
	select {
	case <-queued.done: // both were ready
		return queued.err
	default:
		return metastore.Timeout(context.Cause(ctx), "%s: the outcome is unknown", publishOperation)
	}
}

// add has run make the publish, and what comes meanwhile, unless it runs already for the index.
func (q *publishQueues) add(p *queuedPublish, run func(metastore.IndexUID)) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	queue, runs := q.waiting[p.indexUID]
	q.waiting[p.indexUID] = append(queue, p)
	if !runs {
		q.running.Go(func() { run(p.indexUID) })
	}
	return true
}

// withdraw takes a publish back that no transaction has begun with.
func (q *publishQueues) withdraw(p *queuedPublish) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	queue := q.waiting[p.indexUID]
	i := slices.Index(queue, p)
	if i >= 0 {
		q.waiting[p.indexUID] = slices.Delete(queue, i, i+1)
	}
	return i >= 0
}

// next returns the publishes for the next transaction of an index, nil if none waits.
func (q *publishQueues) next(uid metastore.IndexUID) []*queuedPublish {
	q.mu.Lock()
	defer q.mu.Unlock()
	queue := q.waiting[uid]
	count, splits := 0, 0
	for count < min(len(queue), maxGroupPublishes) {
		splits += len(queue[count].all)
		if count > 0 && splits > maxGroupSplits {
			break
		}
		count++
	}
	if count == 0 {
		delete(q.waiting, uid)
		return nil
	}
	group := slices.Clone(queue[:count])
	q.waiting[uid] = slices.Delete(queue, 0, count)
	return group
}

// close waits for what runs. Later publishes are refused.
func (q *publishQueues) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.running.Wait()
}

// publishWaiting makes publishes of an index until none waits.
func (s *Store) publishWaiting(uid metastore.IndexUID) {
	for {
		group := s.publishes.next(uid)
		if group == nil {
			return
		}
		ctx, cancel := contextOfAny(group)
		publications := make([]*publication, len(group))
		for i, p := range group {
			publications[i] = p.publication
		}
		s.publishEach(ctx, uid, publications)
		cancel()
		for _, p := range group {
			p.err = p.refused
			close(p.done)
		}
	}
}

// contextOfAny returns a context that ends when all callers of a group have gone.
func contextOfAny(group []*queuedPublish) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(group[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(group)))
	stops := make([]func() bool, len(group))
	for i, p := range group {
		stops[i] = context.AfterFunc(p.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
