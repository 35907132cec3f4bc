package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"holdfast/reconcile/splitfile"
)

// slowDown is an error as the AWS SDK has them.
type slowDown struct{}

func (slowDown) Error() string     { return "please reduce your request rate" }
func (slowDown) ErrorCode() string { return "SlowDown" }

func TestThrottlingIsKnownFromOtherFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{slowDown{}, true},
		{&splitfile.ReadError{Err: fmt.Errorf("get: %w", slowDown{})}, true},
		{&googleapi.Error{Code: http.StatusTooManyRequests}, true},
		{&azcore.ResponseError{StatusCode: http.StatusServiceUnavailable}, true},
		{&azcore.ResponseError{StatusCode: http.StatusForbidden}, false},
		{&googleapi.Error{Code: http.StatusNotFound}, false},
		{errors.New("the disk is broken"), false},
	} {
		require.Equal(t, c.want, isThrottling(c.err), "%v", c.err)
	}
}

func TestThrottledReadsArePausedAndRepeatedWithFewerAtOnce(t *testing.T) {
	t.Parallel()
	options := webAccess.options(t, memoryStore(t))
	var mu sync.Mutex
	refusals := map[string]int{}
	wrap(&options, func(w *wrapped) {
		w.open = func(ctx context.Context, name string) (splitfile.RangeReader, func() error, error) {
			mu.Lock()
			defer mu.Unlock()
			if refusals[name]++; refusals[name] == 1 && len(refusals) <= 3 {
				return nil, nil, slowDown{}
			}
			return w.Bucket.Open(ctx, name)
		}
	})

	s := only(t, run(t, options))

	require.EqualValues(t, 3, s.Reads.Throttled)
	require.EqualValues(t, 6, s.Published)
}

func TestTheBoundOfReadsIsHalvedOnceForAWaveOfRefusalsAndGrowsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(16)
		for range 16 {
			require.NoError(t, l.acquire(t.Context()))
		}
		begun := time.Now()
		for range 16 {
			l.release(true)
		}
		require.EqualValues(t, 8, l.bound)
		require.NoError(t, l.acquire(t.Context()))
		require.Equal(t, firstPause, time.Since(begun), "reads pause")
		l.release(false)
		for range 200 {
			require.NoError(t, l.acquire(t.Context()))
			l.release(false)
		}
		require.EqualValues(t, 16, l.bound)
	})
}

func TestWaitingForAPlaceEndsWithTheContext(t *testing.T) {
	t.Parallel()
	l := newLimiter(1)
	require.NoError(t, l.acquire(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.acquire(ctx), context.Canceled)
}
