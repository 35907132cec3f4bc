package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/metastore"
)

// A transaction takes in at most this many calls.
const maxGroupCalls = 256

// callGroups has calls of one index share transactions, each call with its own outcome. A call begins at once while fewer
// than lanes transactions of its index run, by itself: nobody waits for others to come. What comes while these run waits
// here, where it costs nothing, and goes into the next transaction together.
type callGroups[C any] struct {
	operation string
	// lanes is how many transactions of an index run at a time.
	lanes int
	// patience is how long a transaction holds its lane. One that takes longer, for it waits for a lock, goes on while
	// another takes its place. 0 means as long as it takes.
	patience time.Duration
	// fits reports whether a call may join those of a group, of which there is at least one.
	fits func(group []C, next C) bool
	// run makes the calls of a group and leaves the outcome of each in it.
	run func(ctx context.Context, uid metastore.IndexUID, group []C)

	mu sync.Mutex
	// queues has an entry for each index that has a lane taken.
	queues  map[metastore.IndexUID]*callQueue[C]
	running sync.WaitGroup
	closed  bool
}

// callQueue are the calls of an index that wait, and the number of its lanes that are taken.
type callQueue[C any] struct {
	waiting []*waitingCall[C]
	lanes   int
}

type waitingCall[C any] struct {
	call C
	ctx  context.Context
	done chan struct{}
}

// join has a call made, perhaps together with others of its index. It fails if the call was not begun or if its outcome is
// not known; else the outcome is in the call.
func (g *callGroups[C]) join(ctx context.Context, uid metastore.IndexUID, call C) error {
	w := &waitingCall[C]{call: call, ctx: ctx, done: make(chan struct{})}
	if !g.add(uid, w) {
		return metastore.Unavailable(nil, "%s: the store is closed", g.operation)
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	if g.withdraw(uid, w) {
		return metastore.Timeout(context.Cause(ctx), "%s: it was not begun", g.operation)
	}
	// The transaction ends soon if nobody else is in it.
	select {
	case <-w.done: // both were ready
		return nil
	default:
		return metastore.Timeout(context.Cause(ctx), "%s: the outcome is unknown", g.operation)
	}
}

// add puts a call into the queue of its index, and opens a lane unless all are taken.
func (g *callGroups[C]) add(uid metastore.IndexUID, w *waitingCall[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	queue := g.queues[uid]
	if queue == nil {
		queue = &callQueue[C]{}
		if g.queues == nil {
			g.queues = map[metastore.IndexUID]*callQueue[C]{}
		}
		g.queues[uid] = queue
	}
	queue.waiting = append(queue.waiting, w)
	if queue.lanes < g.lanes {
		g.open(uid, queue)
	}
	return true
}

// open opens a lane.
func (g *callGroups[C]) open(uid metastore.IndexUID, queue *callQueue[C]) {
	queue.lanes++
	g.running.Go(func() { g.runLane(uid, queue) })
}

// leave gives a lane up.
func (g *callGroups[C]) leave(uid metastore.IndexUID, queue *callQueue[C]) {
	queue.lanes--
	if queue.lanes == 0 {
		delete(g.queues, uid)
	}
}

// withdraw takes a call back that no transaction has begun with.
func (g *callGroups[C]) withdraw(uid metastore.IndexUID, w *waitingCall[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := g.queues[uid]
	if queue == nil {
		return false
	}
	i := slices.Index(queue.waiting, w)
	if i >= 0 {
		queue.waiting = slices.Delete(queue.waiting, i, i+1)
	}
	return i >= 0
}

// next takes the calls for the next transaction of a lane out of its queue. If none waits it returns nil, and the lane is
// given up.
func (g *callGroups[C]) next(uid metastore.IndexUID, queue *callQueue[C]) (taken []*waitingCall[C], group []C) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(queue.waiting) == 0 {
		g.leave(uid, queue)
		return nil, nil
	}
	group = []C{queue.waiting[0].call}
	for _, w := range queue.waiting[1:min(len(queue.waiting), maxGroupCalls)] {
		if !g.fits(group, w.call) {
			break
		}
		group = append(group, w.call)
	}
	taken = slices.Clone(queue.waiting[:len(group)])
	queue.waiting = slices.Delete(queue.waiting, 0, len(group))
	return taken, group
}

// close waits for what runs. Later calls are refused.
func (g *callGroups[C]) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.running.Wait()
}

// runLane runs one transaction after the other, until no call waits or until another lane has taken its place.
func (g *callGroups[C]) runLane(uid metastore.IndexUID, queue *callQueue[C]) {
	for replaced := false; !replaced; {
		taken, group := g.next(uid, queue)
		if taken == nil {
			return
		}
		stop := g.replaceLater(uid, queue)
		ctx, cancel := contextOfAny(taken)
		g.run(ctx, uid, group)
		cancel()
		replaced = stop()
		for _, w := range taken {
			close(w.done)
		}
	}
}

// replaceLater has another take the place of a lane whose transaction takes long. What it returns tells whether that has
// happened, and keeps it from happening later.
func (g *callGroups[C]) replaceLater(uid metastore.IndexUID, queue *callQueue[C]) (stop func() (replaced bool)) {
	if g.patience == 0 {
		return func() bool { return false }
	}
	done := make(chan struct{})
	timer := time.AfterFunc(g.patience, func() {
		defer close(done)
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(queue.waiting) > 0 {
			g.open(uid, queue)
		}
		g.leave(uid, queue)
	})
	return func() bool {
		if timer.Stop() {
			return false
		}
		<-done // before close can end its wait
		return true
	}
}

// contextOfAny returns a context that ends when all callers of a group have gone.
func contextOfAny[C any](group []*waitingCall[C]) (context.Context, context.CancelFunc) {
	if len(group) == 1 {
		return context.WithCancel(group[0].ctx)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(group[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(group)))
	stops := make([]func() bool, len(group))
	for i, w := range group {
		stops[i] = context.AfterFunc(w.ctx, func() {
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
