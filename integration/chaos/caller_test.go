package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// counts say what happened to the calls of one run.
type counts struct {
	answered atomic.Int64
	// succeeded are those of these that were not refused.
	succeeded atomic.Int64
	// repeated calls were sent again because an attempt had no definite answer.
	repeated atomic.Int64
	// replayed of these had been executed by an attempt whose answer was lost.
	replayed atomic.Int64
	// checked calls were sent again although they had been answered.
	checked atomic.Int64
}

// caller sends the calls of one client to two servers.
type caller struct {
	servers [2]*rpc.Client
	turn    int // the server that the next attempt goes to
	// single is set if every attempt is one of ours: the clients of the servers repeat nothing, and neither do the servers, as
	// they do when their database crashes.
	single bool
	random *rand.Rand
	counts *counts
	// progress is told how many calls are answered.
	progress func(answered int64)
}

// newCaller dials the servers. Each caller has connections of its own, so that one that is cut concerns one call.
func newCaller(t *testing.T, servers [2]*server, retryAttempts int, random *rand.Rand) *caller {
	t.Helper()
	c := &caller{random: random}
	options := rpc.ClientOptions{RetryAttempts: retryAttempts, RetryDelay: 5 * time.Millisecond}
	// A killed server is back soon; the default waits a second before it looks.
	quick := backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 100 * time.Millisecond}
	options.DialOptions = []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{Backoff: quick, MinConnectTimeout: 5 * time.Second})}
	for i, server := range servers {
		client, err := rpc.Dial(server.proxy.address(), options)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		c.servers[i] = client
	}
	return c
}

// call sends one logical call, always with the same key, until it is answered definitely, and returns the
// refusal. Some that succeeded are sent once more, which must be told as a repetition.
func (c *caller) call(ctx context.Context, about string, do func(ctx context.Context, store metastore.Store) error) (rpc.Repetition, error) {
	key, err := idempotency.NewKey()
	if err != nil {
		return rpc.Repetition{}, err
	}
	told, attempts, err := c.untilAnswered(ctx, key, do)
	switch {
	case outcomeUnknown(err):
		return told, fmt.Errorf("%s: not answered after %d attempts with key %s: %w", about, attempts, key, err)
	case attempts > 1:
		c.counts.repeated.Add(1)
	case c.single && told.Replayed:
		return told, fmt.Errorf("%s: the first attempt with key %s was told as a repetition", about, key)
	}
	if told.Replayed {
		c.counts.replayed.Add(1)
	}
	if err == nil {
		c.counts.succeeded.Add(1)
	}
	c.progress(c.counts.answered.Add(1))
	const chanceOfCheck = 0.05
	if err != nil || c.random.Float64() >= chanceOfCheck {
		return told, err
	}
	c.counts.checked.Add(1)
	told, _, err = c.untilAnswered(ctx, key, do)
	switch {
	case err != nil:
		return told, fmt.Errorf("%s: succeeded, and the same with its key %s: %w", about, key, err)
	case !told.Replayed:
		return told, fmt.Errorf("%s: succeeded twice with key %s: the second answer was not told as a repetition", about, key)
	}
	return told, nil
}

// untilAnswered makes attempts at one server after the other. Its error is of unknown outcome only if it ran out of time.
func (c *caller) untilAnswered(ctx context.Context, key idempotency.Key, do func(ctx context.Context, store metastore.Store) error) (told rpc.Repetition, attempts int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pause := time.Millisecond
	for {
		attempts++
		told = rpc.Repetition{}
		server := c.servers[c.turn]
		c.turn = 1 - c.turn
		err = do(rpc.WithRepetition(rpc.WithIdempotencyKey(ctx, key), &told), server)
		if !outcomeUnknown(err) || ctx.Err() != nil {
			return told, attempts, err
		}
		// As every client should, so that servers that cannot answer now are not asked all the time.
		select {
		case <-time.After(time.Duration(c.random.Int64N(int64(pause)))):
		case <-ctx.Done():
		}
		pause = min(2*pause, 100*time.Millisecond)
	}
}

// outcomeUnknown reports whether a call has to be sent again with its key.
func outcomeUnknown(err error) bool {
	var refused *idempotency.Error
	switch {
	case err == nil, errors.As(err, new(wrongAnswer)):
		return false
	case errors.As(err, &refused):
		switch refused.Reason {
		case idempotency.KeyInFlight, idempotency.OutcomeUnknown, idempotency.KeyQuota:
			return true
		}
		return false
	}
	return errors.Is(err, metastore.ErrTooManyRequests) || !metastore.AsError(err).Kind.CertainlyAborted()
}

// wrongAnswer says what is wrong with the answer to a call that succeeded.
type wrongAnswer string

func (w wrongAnswer) Error() string { return string(w) }

func wrong(format string, args ...any) error { return wrongAnswer(fmt.Sprintf(format, args...)) }
