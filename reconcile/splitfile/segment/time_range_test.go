package segment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

func timesOf(t *testing.T, field string, times ...time.Time) (segment.Times, bool) {
	t.Helper()
	docs := someDocs(max(1, len(times)))
	for i, at := range times {
		nanos := at.UnixNano()
		docs[i].Time = &nanos
	}
	s, _ := opened(t, segmenttest.Index(segmenttest.Settings{TimeField: field, Compression: segment.Zstd}, docs...).File("some"))
	found, plausible, err := s.Times(t.Context(), field)
	require.NoError(t, err)
	return found, plausible
}

func TestBothEndsOfATimeRangeAreTruncatedTowardZero(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"at", "nested.at"} {
		times, plausible := timesOf(t, field, time.Unix(-6, 300_000_000), time.Unix(7, 900_000_000), time.Unix(0, 1))
		require.True(t, plausible)
		require.Equal(t, metastore.TimeRange{Start: -5, End: 7}, times.Range())
	}
}

func TestWithoutTimesThereIsNoRange(t *testing.T) {
	t.Parallel()
	times, _ := timesOf(t, "at")
	require.False(t, times.Found)
}

func TestTimesThatCanOnlyBeMicrosecondsAreNotPlausible(t *testing.T) {
	t.Parallel()
	recent := time.Date(2023, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		nanos     int64
		version   uint32
		plausible bool
	}{
		"microseconds of an early release": {recent.UnixMicro(), 5, false},
		"nanoseconds of an early release":  {recent.UnixNano(), 5, true},
		"microseconds of a later release":  {recent.UnixMicro(), 6, true},
		"before 1970 in an early release":  {-recent.UnixNano(), 5, true},
	} {
		times := segment.Times{Found: true, Min: c.nanos, Max: c.nanos}
		require.Equal(t, c.plausible, times.Plausible(c.version), name)
	}
}
