package gossip

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silence returns for how long a member may be silent after so many intervals, and be alive.
func silence(count int, interval time.Duration) time.Duration {
	var d detector
	now := epoch
	d.arrived(now)
	for range count {
		now = now.Add(interval)
		d.arrived(now)
	}
	const step = 10 * time.Millisecond
	for quiet := time.Duration(0); ; quiet += step {
		if !d.alive(now.Add(quiet + step)) {
			return quiet
		}
	}
}

func TestSilenceThatIsPutUpWithShrinksWithAge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		intervals int
		interval  time.Duration
		want      time.Duration
	}{
		{5, 300 * time.Millisecond, 21200 * time.Millisecond},
		{60, 300 * time.Millisecond, 5290 * time.Millisecond},
		{1_000, 300 * time.Millisecond, 2580 * time.Millisecond},
		{5, time.Second, 24 * time.Second},
		{60, time.Second, 10460 * time.Millisecond},
		{1_000, time.Second, 8150 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%d intervals of %s", test.intervals, test.interval), func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, test.want.Seconds(), silence(test.intervals, test.interval).Seconds(), 0.02)
		})
	}
}

func TestOnlyTheLastThousandIntervalsCount(t *testing.T) {
	t.Parallel()
	var d detector
	now := epoch
	arrive := func(count int, interval time.Duration) {
		for range count {
			now = now.Add(interval)
			d.arrived(now)
		}
	}
	arrive(500, 9*time.Second)
	arrive(1_000, time.Second)
	require.Len(t, d.intervals, 1_000)
	require.Equal(t, 1_000*time.Second, d.sum)
	arrive(1, 3*time.Second)
	require.Equal(t, 1_002*time.Second, d.sum)
}

func TestIntervalLongerThanTenSecondsIsNotRecordedButItsEndIs(t *testing.T) {
	t.Parallel()
	var d detector
	d.arrived(epoch)
	d.arrived(epoch.Add(10*time.Second + 1))
	require.Empty(t, d.intervals)
	require.False(t, d.alive(epoch.Add(10*time.Second+1)))
	d.arrived(epoch.Add(20*time.Second + 1))
	require.Equal(t, []time.Duration{10 * time.Second}, d.intervals)
	require.True(t, d.alive(epoch.Add(20*time.Second+1)))
}
