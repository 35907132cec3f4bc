package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Run measures the targets. It makes an index in each of them and deletes it at the end. If ctx ends
// it stops early and returns what was measured until then. Calls that fail are counted; only what
// makes the run senseless is an error.
func Run(ctx context.Context, options Options) (_ *Report, err error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	progress := options.Progress
	if progress == nil {
		progress = func(string) {}
	}
	var targets []*target
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.close(ctx))
		}
	}()
	// All targets get the same splits.
	seed := rand.Uint64()
	for _, address := range options.Targets {
		progress(fmt.Sprintf("%s: preparing an index with %d splits", address, options.Splits))
		t, err := open(ctx, address, seed, &options)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	for turn := 0; ; turn++ {
		order := slices.Clone(targets)
		if turn%2 == 1 {
			slices.Reverse(order) // so that none always follows the same one
		}
		busy := false
		for _, t := range order {
			if ctx.Err() != nil || t.finished() {
				continue
			}
			busy = true
			t.takeTurn(ctx)
			progress(fmt.Sprintf("%s: %.0f of %.0f s", t.address, t.elapsed.Seconds(), options.Duration.Seconds()))
		}
		if !busy {
			break
		}
	}
	return newReport(&options, targets), nil
}

func (t *target) finished() bool {
	return t.elapsed >= t.options.Duration || t.callsLeft.Load() <= 0 || t.exhausted.Load()
}

// takeTurn lets all clients of the target work for one slice. Calls that have begun are finished, and
// the time they need counts.
func (t *target) takeTurn(ctx context.Context) {
	begin := time.Now()
	end := begin.Add(min(t.options.Slice, t.options.Duration-t.elapsed))
	var clients sync.WaitGroup
	for _, c := range t.clients {
		clients.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil && t.callsLeft.Add(-1) >= 0 {
				next, ok := t.nextCall(c)
				if !ok {
					return
				}
				t.measure(ctx, c, next)
			}
		})
	}
	clients.Wait()
	t.elapsed += time.Since(begin)
}

func (t *target) measure(ctx context.Context, c *client, next call) {
	callCtx, cancel := context.WithTimeout(ctx, t.options.CallTimeout)
	defer cancel()
	begin := time.Now()
	rows, err := next.send(callCtx)
	latency := time.Since(begin)
	if err != nil && ctx.Err() != nil {
		return // the run was stopped, the target did not fail
	}
	s := c.stats[next.operation]
	if s == nil {
		s = newStats()
		c.stats[next.operation] = s
	}
	s.add(latency, rows, err)
}
