package file

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// BenchmarkTenThousandIdleIndexes lists the metadata of 10,000 indexes without splits in a local
// directory, where every index is asked for news, after a start that loads them all.
func BenchmarkTenThousandIdleIndexes(b *testing.B) {
	const indexes = 10_000
	directory := filepath.Join(b.TempDir(), "store")
	writeIdleIndexes(b, localBucket(b, directory), indexes)
	everything, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	if err != nil {
		b.Fatal(err)
	}
	before := liveHeap()
	start := time.Now()
	s := openOn(b, localBucket(b, directory))
	opened := time.Since(start)
	list := func() {
		found, err := s.ListIndexesMetadata(b.Context(), everything)
		if err != nil || len(found) != indexes {
			b.Fatal(len(found), err)
		}
	}
	start = time.Now()
	list()
	first := time.Since(start)
	live := liveHeap() - before
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64(opened.Milliseconds()), "ms/open")
	b.ReportMetric(float64(first.Milliseconds()), "ms/first-list")
	b.ReportMetric(float64(live)/indexes, "live-bytes/index")
	b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
}

// writeIdleIndexes writes the logs of indexes as creating them would, without syncing file by file.
func writeIdleIndexes(b *testing.B, bucket bucket, n int) {
	b.Helper()
	local := bucket.(*localDir)
	put := func(key string, ops ...op) {
		e := &entry{version: 1, time: 1, ops: ops}
		b.Helper()
		if err := writePlain(local.path(key), e.append(nil)); err != nil {
			b.Fatal(err)
		}
	}
	var root []op
	for _, id := range numbered("index", n) {
		uid := metastore.IndexUID{IndexID: id, Incarnation: ulid.ULID{1}}
		metadata := metastore.NewIndexMetadata(uid, metastore.CreateIndexRequest{Config: indexConfig(b, id)}, 1)
		put(logKeys{id + "/"}.entry(1), createOp{metadata})
		root = append(root, addIndexOp{rootIndex{indexID: id, generation: ulid.ULID{2}}})
	}
	put(logKeys{}.entry(1), root...)
}

func writePlain(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
