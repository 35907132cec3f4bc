package file

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/metastore"
)

// fill stages n splits in batches.
func fill(b testing.TB, s *Store, uid metastore.IndexUID, n int) {
	b.Helper()
	ids := numbered("01M8P1J7FR1XNB4CEK", n)
	for from := 0; from < n; from += 10_000 {
		stage(b, s, uid, ids[from:min(from+10_000, n)]...)
	}
}

// BenchmarkCommitOneSplit has one client commit one split after the other, in turns into an index of
// 1,000 and into one of 100,000 splits, so that noise hits both. The times are medians of one commit.
func BenchmarkCommitOneSplit(b *testing.B) {
	for name, newBucket := range map[string]func() bucket{
		"local directory": func() bucket { return localBucket(b, filepath.Join(b.TempDir(), "store")) },
		"memory":          func() bucket { return memBucket(b) },
	} {
		b.Run(name, func(b *testing.B) {
			s := openOn(b, newBucket())
			small, large := createIndex(b, s, "small"), createIndex(b, s, "large")
			fill(b, s, small, 1_000)
			fill(b, s, large, 100_000)
			times := map[metastore.IndexUID][]time.Duration{}
			b.ResetTimer()
			for i := range b.N {
				for _, uid := range []metastore.IndexUID{small, large} {
					start := time.Now()
					stage(b, s, uid, fmt.Sprintf("bench-%09d", i))
					times[uid] = append(times[uid], time.Since(start))
				}
			}
			median := func(uid metastore.IndexUID) float64 {
				slices.Sort(times[uid])
				return float64(times[uid][len(times[uid])/2].Nanoseconds()) / 1000
			}
			b.ReportMetric(median(small), "µs/commit-at-1000")
			b.ReportMetric(median(large), "µs/commit-at-100000")
			b.ReportMetric(median(large)/median(small), "ratio")
		})
	}
}

// BenchmarkCommitFromClients has 16 clients stage one split after the other, each on its own, on one
// index in a local directory.
func BenchmarkCommitFromClients(b *testing.B) {
	s := openOn(b, localBucket(b, filepath.Join(b.TempDir(), "store")))
	uid := createIndex(b, s, "logs")
	fill(b, s, uid, 1000)
	b.SetParallelism(16 / runtime.GOMAXPROCS(0))
	var client atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		me := client.Add(1)
		for i := 0; pb.Next(); i++ {
			stage(b, s, uid, fmt.Sprintf("bench-%02d-%09d", me, i))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkAllSkipped repeats a create-only batch of 1,000 splits that all exist.
func BenchmarkAllSkipped(b *testing.B) {
	s := openOn(b, localBucket(b, filepath.Join(b.TempDir(), "store")))
	uid := createIndex(b, s, "logs")
	ids := numbered("split", 1000)
	stage(b, s, uid, ids...)
	request := metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(ids...), CreateOnly: true}
	for i := range request.Splits {
		parsed, err := metastore.ParseSplitMetadata([]byte(request.Splits[i].Document()))
		if err != nil {
			b.Fatal(err)
		}
		request.Splits[i] = parsed
	}
	for b.Loop() {
		if result, err := s.StageSplits(b.Context(), request); err != nil || result.Mutation {
			b.Fatal(result, err)
		}
	}
	b.ReportMetric(float64(b.N*len(ids))/b.Elapsed().Seconds(), "splits/s")
}

// BenchmarkList lists every split of one index. Memory is what the heap grew during a listing.
func BenchmarkList(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(size, "-splits"), func(b *testing.B) {
			s := openOn(b, memBucket(b))
			log, done := s.logs.use("logs")
			defer done()
			uid := createIndex(b, s, "logs")
			before := liveHeap()
			h := log.current.Load()
			state := log.fork(h)
			for _, split := range numberedSplits(uid, size) {
				state.splits.load(newSplitRecord(split))
			}
			log.current.Store(&head[*indexState]{version: h.version, writeID: h.writeID, state: state})
			perSplit := float64(liveHeap()-before) / float64(size)
			rows := 0
			var buffer []byte
			b.ResetTimer()
			start := allocated()
			for range b.N {
				err := s.ListSplits(context.Background(), metastore.AllSplits(uid), func(row *metastore.SplitRow) error {
					rows++
					buffer = row.AppendJSON(buffer[:0])
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(perSplit, "heap-bytes/split")
			b.ReportMetric(float64(allocated()-start)/float64(b.N), "allocated-bytes/list")
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func numberedSplits(uid metastore.IndexUID, n int) func(func(int, *metastore.Split) bool) {
	return func(yield func(int, *metastore.Split) bool) {
		for i := range n {
			split := newSplits(fmt.Sprintf("01M8P1J7FR1XNB4CEK%08d", i))[0].WithIndexUID(uid)
			parsed, err := metastore.ParseSplitMetadata([]byte(split.Document()))
			if err != nil {
				panic(err)
			}
			if !yield(i, &metastore.Split{State: metastore.Published, UpdateTimestamp: 1, PublishTimestamp: metastore.Some[int64](1), Metadata: parsed}) {
				return
			}
		}
	}
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// BenchmarkLoad opens an index of 100,000 splits from a snapshot and 100 entries.
func BenchmarkLoad(b *testing.B) {
	directory := filepath.Join(b.TempDir(), "store")
	s := openOn(b, localBucket(b, directory))
	uid := createIndex(b, s, "logs")
	fill(b, s, uid, 100_000)
	log, done := s.logs.use("logs")
	if err := log.snapshot(b.Context(), 0); err != nil {
		b.Fatal(err)
	}
	done()
	for i := range 100 {
		stage(b, s, uid, fmt.Sprint("late-", i))
	}
	for b.Loop() {
		again := openOn(b, localBucket(b, directory))
		start := time.Now()
		stats, err := again.stateOf(b.Context(), "logs")
		if err != nil || stats.splits.len() != 100_100 {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/load")
	}
}
