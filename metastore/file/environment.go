package file

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// environment is what the logs of one store share.
type environment struct {
	bucket  bucket
	logger  *slog.Logger
	options Options
	// clock returns the current time; it differs from time.Now in tests only.
	clock func() time.Time

	// confirmAge and removalAge are explained in the package comment; only tests change them.
	confirmAge, removalAge time.Duration

	// retryPause is how long to wait before an entry is offered again; only tests change it.
	retryPause func(attempt int) time.Duration

	// ctx ends when the store closes; what nobody waits for runs under it.
	ctx    context.Context
	cancel context.CancelFunc
	// work counts the goroutines that Close waits for. None is started once closed is set.
	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup

	// loading and snapshotting bound how many logs are loaded and written out at once.
	loading, snapshotting chan struct{}

	statistics recordStatistics
}

func newEnvironment(b bucket, options Options) *environment {
	e := &environment{
		bucket:     b,
		logger:     options.Logger,
		options:    options,
		clock:      time.Now,
		confirmAge: confirmAge,
		removalAge: removalAge,
		retryPause: func(attempt int) time.Duration {
			return rand.N(time.Duration(attempt) * 100 * time.Millisecond)
		},
		loading:      make(chan struct{}, maxConcurrentLoads),
		snapshotting: make(chan struct{}, 1),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// start runs work in a goroutine, unless the store is closed.
func (e *environment) start(work func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.work.Go(work)
	}
	return !e.closed
}

// close ends background work and waits for commits.
func (e *environment) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.work.Wait()
}

// elapsed returns the time since an earlier reading of the clock. A machine that was suspended may
// stop one of the two clocks, so the one that moved further counts.
func (e *environment) elapsed(since time.Time) time.Duration {
	now := e.clock()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

func acquire(ctx context.Context, semaphore chan struct{}) error {
	select {
	case semaphore <- struct{}{}:
		return nil
	default:
	}
	select {
	case semaphore <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func release(semaphore chan struct{}) { <-semaphore }

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
