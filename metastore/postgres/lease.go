package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lease is the hold of a listing on its connection. It takes the connection away from a listing whose
// consumer does not come back in time.
//
// The connection is touched by one goroutine at a time: by the timer only between visiting and visited, when
// the listing does not use it.
type lease struct {
	ctx     context.Context // of the listing
	timeout time.Duration

	mu    sync.Mutex
	conn  *pgxpool.Conn // nil when it was given back
	since time.Time     // when the consumer got the split that it has now; zero when it has none
	timer *time.Timer
}

func newLease(ctx context.Context, conn *pgxpool.Conn, timeout time.Duration) *lease {
	l := &lease{ctx: ctx, conn: conn, timeout: timeout}
	l.mu.Lock() // the timer may fire before it is assigned
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(timeout, l.check)
	return l
}

// check runs on the timer, which is not set anew for each split: that would cost more than the split.
func (l *lease) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return
	}
	next := l.timeout
	if !l.since.IsZero() {
		next -= time.Since(l.since)
		if next <= 0 {
			l.giveBack()
			return
		}
	}
	l.timer.Reset(next)
}

// visiting says that the consumer gets a split.
func (l *lease) visiting() {
	l.mu.Lock()
	l.since = time.Now()
	l.mu.Unlock()
}

// visited says that the consumer is back. It returns false if that took too long and the connection is gone.
func (l *lease) visited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since = time.Time{}
	return l.conn != nil
}

// end gives the connection back.
func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
	if l.conn != nil {
		l.giveBack()
	}
}

// giveBack returns the connection to the pool, which closes it if its result was not read to the end.
func (l *lease) giveBack() {
	release(l.ctx, l.conn)
	l.conn = nil
}
