package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
)

// work has the clients make all calls. The channel is closed when they are done.
func work(t *testing.T, clients []*client, calls int) <-chan struct{} {
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan struct{})
	var working sync.WaitGroup
	for _, c := range clients {
		working.Go(func() {
			if err := c.run(ctx, calls/len(clients)); err != nil {
				if ctx.Err() == nil {
					t.Errorf("%s: %v", c.name, err)
				}
				cancel(errors.New("another client failed"))
			}
		})
	}
	// Also if the test ends early: clients must not outlive it.
	t.Cleanup(func() {
		cancel(errors.New("the test ended"))
		working.Wait()
	})
	go func() {
		working.Wait()
		close(done)
	}()
	return done
}

// disturb kills servers and crashes the database, whenever that is due, until the clients are done.
func (r *run) disturb(t *testing.T, servers [2]*server, due <-chan struct{}, done <-chan struct{}) (kills, crashes int) {
	random := rand.New(rand.NewPCG(r.seed, 2*numClients))
	for n := 1; ; n++ {
		select {
		case <-due:
		case <-done:
			return kills, crashes
		}
		crash := r.crash != nil && n%crashEvery == 1
		victims := random.Perm(len(servers))[:1]
		switch {
		case crash:
			victims = victims[:random.IntN(2)]
		case random.IntN(4) == 0:
			victims = []int{0, 1}
		}
		for _, i := range victims {
			servers[i].kill()
			kills++
		}
		if crash {
			r.crash(t, random)
			crashes++
		}
		for _, i := range victims {
			servers[i].start(t)
		}
	}
}
