package reconcile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/integration/objectstore"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// writeFiles writes files of splits without parents, and returns their root.
func writeFiles(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	require.NoError(b, os.MkdirAll(filepath.Join(root, "web-access"), 0o755))
	uid := metastore.IndexUID{IndexID: "web-access", Incarnation: ulid.MustParse("01M8P1J1J1GT6BJNXDVR91X815")}
	for i := range n {
		m := metastore.SplitMetadata{
			SplitID: fmt.Sprintf("01M8P1J7E98JP8BEK9KR%06d", i), IndexUID: uid, SourceID: "_ingest-source", NodeID: "node-fb",
			NumDocs: 1000, UncompressedDocsSize: 1 << 20, CreateTimestamp: 1_796_036_000 + int64(i),
			TimeRange: metastore.Some(metastore.TimeRange{Start: 1_796_036_000, End: 1_796_037_000}),
			Tags:      []string{"tenant!", "tenant:42", "tenant:7"},
		}
		file := splitfiletest.New(&m, nil)
		file.Hotcache = make([]byte, 5000)
		require.NoError(b, os.WriteFile(filepath.Join(root, "web-access", m.SplitID+".split"), file.Encode(), 0o644))
	}
	return root
}

// BenchmarkPlanOfALocalDirectory measures objects decided per second, end to end.
func BenchmarkPlanOfALocalDirectory(b *testing.B) {
	benchmark(b, func(b *testing.B, options Options) {
		_, err := Plan(b.Context(), options)
		require.NoError(b, err)
	})
}

// BenchmarkRunOfALocalDirectory measures it with staging and publishing in a store in memory.
func BenchmarkRunOfALocalDirectory(b *testing.B) {
	benchmark(b, func(b *testing.B, options Options) {
		store, err := file.Open(b.Context(), file.Options{URL: "mem://"})
		require.NoError(b, err)
		options.Store = store
		text, err := os.ReadFile(filepath.Join("testdata", "main-web-access.index-config.json"))
		require.NoError(b, err)
		config, err := indexconfig.ParseIndexConfig(text, ulid.Make)
		require.NoError(b, err)
		options.IndexConfigs = []*indexconfig.IndexConfig{config}
		summary, err := Run(b.Context(), options)
		require.NoError(b, err)
		require.EqualValues(b, summary.Indexes[0].Objects, summary.Indexes[0].Published)
		require.NoError(b, store.Close())
	})
}

// BenchmarkPlanOfABucketOnS3 measures it with an S3 server in the same process, which takes most of
// the time.
func BenchmarkPlanOfABucketOnS3(b *testing.B) {
	const n = 2000
	root := filepath.Join(writeFiles(b, n), "web-access")
	bucket := objectstore.S3(b).Open(b)
	names, err := os.ReadDir(root)
	require.NoError(b, err)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name.Name()))
		require.NoError(b, err)
		require.NoError(b, bucket.WriteAll(b.Context(), "indexes/web-access/"+name.Name(), content, nil))
	}
	store, err := file.Open(b.Context(), file.Options{URL: "mem://"})
	require.NoError(b, err)
	options := Options{Store: store, Root: "s3://bucket/indexes", OpenBucket: func(_ context.Context, at Location) (Bucket, error) {
		return &shared{NewBlobBucket(bucket, at.path)}, nil
	}}
	requests := int64(0)
	for b.Loop() {
		summary, err := Plan(b.Context(), options)
		require.NoError(b, err)
		requests += summary.Indexes[0].Reads.Requests
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "objects/s")
	b.ReportMetric(float64(requests)/float64(n*b.N), "reads/object")
	require.NoError(b, store.Close())
}

// benchmark runs do on as many files as the variable HOLDFAST_BENCH_OBJECTS says, 10,000 if it is not set.
func benchmark(b *testing.B, do func(b *testing.B, options Options)) {
	n := 10_000
	if text := os.Getenv("HOLDFAST_BENCH_OBJECTS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	options := Options{Root: writeFiles(b, n)}
	store, err := file.Open(b.Context(), file.Options{URL: "mem://"})
	require.NoError(b, err)
	options.Store = store
	b.ReportAllocs()
	for b.Loop() {
		do(b, options)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "objects/s")
	b.ReportMetric(peakMiB(b), "MiB-peak")
	require.NoError(b, store.Close())
}

// peakMiB returns the most memory that was resident in the life of this process.
func peakMiB(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Maxrss) / 1024
}
