package reconcile

import (
	"context"
	"sync"
	"time"
)

// limiter bounds how many reads are under way. When the storage throttles it halves the bound and
// pauses all reads; each read that succeeds lets it grow again slowly.
type limiter struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a place may be free
	running int
	bound   float64
	most    float64
	resume  time.Time // no read starts before it
	pause   time.Duration
	now     func() time.Time
}

const (
	firstPause = 200 * time.Millisecond
	mostPause  = 20 * time.Second
)

func newLimiter(most int) *limiter {
	return &limiter{changed: make(chan struct{}), bound: float64(most), most: float64(most), now: time.Now}
}

// acquire waits for a place. Each success needs a call of release.
func (l *limiter) acquire(ctx context.Context) error {
	for {
		l.mu.Lock()
		wait := l.resume.Sub(l.now())
		if wait <= 0 && l.running < int(l.bound) {
			l.running++
			l.mu.Unlock()
			return ctx.Err()
		}
		changed := l.changed
		l.mu.Unlock()
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-timer:
		}
	}
}

// release gives the place back and says how the read ended.
func (l *limiter) release(throttled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	switch now := l.now(); {
	case !throttled:
		l.bound = min(l.most, l.bound+1/l.bound)
		if now.After(l.resume) {
			l.pause = 0
		}
	case now.After(l.resume): // the answers to reads that started before the last cut do not count
		l.bound = max(1, l.bound/2)
		l.pause = min(mostPause, max(firstPause, 2*l.pause))
		l.resume = now.Add(l.pause)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}
