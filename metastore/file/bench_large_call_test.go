package file

import (
	"testing"
	"time"
)

// BenchmarkLargeCall marks, stamps and deletes 250,000 splits in one call each. Each is one entry of the log.
func BenchmarkLargeCall(b *testing.B) {
	const splits = 250_000
	for b.Loop() {
		counting := &countingBucket{bucket: memBucket(b)}
		s := openOn(b, counting, snapshotEvery(1<<40))
		uid := createIndex(b, s, "logs")
		fill(b, s, uid, splits)
		ids := numbered("01M8P1J7FR1XNB4CEK", splits)
		for _, call := range []struct {
			name string
			run  func() error
		}{
			{"stamp", func() error { return s.UpdateSplitsDeleteOpstamp(b.Context(), uid, ids, 7) }},
			{"mark", func() error { return s.MarkSplitsForDeletion(b.Context(), uid, ids) }},
			{"delete", func() error { return s.DeleteSplits(b.Context(), uid, ids) }},
		} {
			entries, live, start := counting.puts.Load(), liveHeap(), allocated()
			began := time.Now()
			if err := call.run(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(began).Seconds(), call.name+"-seconds")
			b.ReportMetric(float64(allocated()-start)/(1<<20), call.name+"-MiB-allocated")
			b.ReportMetric((float64(liveHeap())-float64(live))/(1<<20), call.name+"-MiB-more-live")
			if n := counting.puts.Load() - entries; n != 1 {
				b.Fatalf("%d entries", n)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
}
