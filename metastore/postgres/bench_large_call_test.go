package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"holdfast/metastore"
)

// BenchmarkLargeCalls changes many splits in one call of each sort. A piece is a transaction, so the longest one is
// how long locks were held at most, with the round trip and the commit. The last iteration counts: in the first one the server
// makes the files of its write-ahead log, 16 MiB at a time, which later ones use again, and a commit waits for that.
func BenchmarkLargeCalls(b *testing.B) {
	splits := sizeFromEnvironment(b, "HOLDFAST_BENCH_LARGE_CALL", 20_000)
	store, uid := benchStore(b, Options{})
	conn := connect(b, store.options.DSN)
	for b.Loop() {
		ids := fill(b, store, uid, splits)
		for _, call := range []struct {
			name string
			run  func(ctx context.Context) error
		}{
			{"stamp", func(ctx context.Context) error { return store.UpdateSplitsDeleteOpstamp(ctx, uid, ids, 7) }},
			{"mark", func(ctx context.Context) error { return store.MarkSplitsForDeletion(ctx, uid, ids) }},
			{"delete", func(ctx context.Context) error { return store.DeleteSplits(ctx, uid, ids) }},
		} {
			var pieces []time.Duration
			ctx := metastore.WithPieces(context.Background(), func(ctx context.Context) (context.Context, context.CancelFunc) {
				began := time.Now()
				return ctx, func() { pieces = append(pieces, time.Since(began)) }
			})
			exec(b, conn, "CHECKPOINT") // or one that is due falls into the call, and every transaction waits for its beginning
			began := time.Now()
			if err := call.run(ctx); err != nil {
				b.Fatal(err)
			}
			took := time.Since(began)
			slices.Sort(pieces)
			b.ReportMetric(float64(splits)/took.Seconds(), call.name+"-splits/s")
			b.ReportMetric(float64(pieces[len(pieces)/2].Microseconds())/1000, call.name+"-ms-median-piece")
			b.ReportMetric(float64(pieces[len(pieces)*99/100].Microseconds())/1000, call.name+"-ms-p99-piece")
			b.ReportMetric(float64(pieces[len(pieces)-1].Microseconds())/1000, call.name+"-ms-longest-piece")
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
}
