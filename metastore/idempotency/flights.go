package idempotency

import (
	"context"
	"sync"
	"time"
)

// Flights are the calls with keys that run in this process. A second call with a key waits here for the
// first, where it costs neither a connection nor a lock. The zero value is not usable; see NewFlights.
type Flights struct {
	wait       time.Duration
	maxWaiters int

	mu      sync.Mutex
	running map[flightKey]*flight
	waiters int
}

type flightKey struct {
	key       Key
	principal Principal
}

type flight struct {
	record Record
	over   chan struct{}
}

// NewFlights lets at most maxWaiters calls wait, each at most this long.
func NewFlights(wait time.Duration, maxWaiters int) *Flights {
	return &Flights{wait: wait, maxWaiters: maxWaiters, running: map[flightKey]*flight{}}
}

// Begin returns when no other call of this process has the record's key. The caller calls done when its
// own call is over, whatever became of it. waited says that another call was waited for. It fails with an
// *Error if the other call is another request, does not end in time, or too many wait already.
func (f *Flights) Begin(ctx context.Context, record *Record) (done func(), waited bool, err error) {
	var timeout <-chan time.Time
	for {
		other, done := f.take(record)
		if other == nil {
			return done, waited, nil
		}
		if err := other.record.Check(record.Binding); err != nil {
			return nil, waited, err
		}
		if !waited {
			if !f.enter() {
				return nil, false, f.inFlight(record)
			}
			defer f.leave()
			waited = true
			timer := time.NewTimer(f.wait)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-other.over:
		case <-timeout:
			return nil, waited, f.inFlight(record)
		case <-ctx.Done():
			return nil, waited, ctx.Err()
		}
	}
}

// take begins the call unless another one with its key runs, which it returns then.
func (f *Flights) take(record *Record) (other *flight, done func()) {
	key := flightKey{record.Key, record.Principal}
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.running[key]; other != nil {
		return other, nil
	}
	taken := &flight{record: *record, over: make(chan struct{})}
	f.running[key] = taken
	return nil, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, key)
		close(taken.over)
	}
}

func (f *Flights) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiters >= f.maxWaiters {
		return false
	}
	f.waiters++
	return true
}

func (f *Flights) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiters--
}

func (f *Flights) inFlight(record *Record) error {
	return &Error{
		Reason:     KeyInFlight,
		Message:    "a call with this idempotency key is under way: repeat the call with the same key",
		Metadata:   map[string]string{"operation": record.Operation},
		RetryAfter: f.wait,
	}
}
