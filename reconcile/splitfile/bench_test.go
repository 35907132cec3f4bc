package splitfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"gocloud.dev/blob/memblob"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// benchmarkOpen opens a file again and again and reports files per second, range reads and bytes a file.
func benchmarkOpen(b *testing.B, reader splitfile.RangeReader, options splitfile.Options) {
	reads, bytes, files := 0, int64(0), 0
	b.ReportAllocs()
	for b.Loop() {
		f, err := splitfile.Open(b.Context(), reader, options)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := f.Metadata(); err != nil {
			b.Fatal(err)
		}
		reads, bytes, files = reads+f.Reads, bytes+f.BytesRead, files+1
	}
	b.ReportMetric(float64(files)/b.Elapsed().Seconds(), "files/s")
	b.ReportMetric(float64(reads)/float64(files), "reads/file")
	b.ReportMetric(float64(bytes)/float64(files), "bytes-read/file")
}

const realFile = "testdata/main/web-access/01M8P1JX5KC1EW4MC315BG1YC1.split"

// BenchmarkARealFileInMemory is the cost of decoding alone.
func BenchmarkARealFileInMemory(b *testing.B) {
	file, err := os.ReadFile(realFile)
	if err != nil {
		b.Fatal(err)
	}
	id, _ := splitfile.SplitID(realFile)
	size := metastore.Some(int64(len(file)))
	b.Run("tail=64KiB", func(b *testing.B) {
		benchmarkOpen(b, splitfiletest.Memory(file), splitfile.Options{SplitID: id, Size: size})
	})
	b.Run("adaptive", func(b *testing.B) {
		benchmarkOpen(b, splitfiletest.Memory(file), splitfile.Options{SplitID: id, Size: size, Adaptive: &splitfile.Adaptive{}})
	})
	b.Run("bucket", func(b *testing.B) {
		bucket := memblob.OpenBucket(nil)
		defer func() { _ = bucket.Close() }()
		if err := bucket.WriteAll(b.Context(), "x", file, nil); err != nil {
			b.Fatal(err)
		}
		benchmarkOpen(b, splitfile.BucketObject{Bucket: bucket, Key: "x"}, splitfile.Options{SplitID: id, Size: size, Adaptive: &splitfile.Adaptive{}})
	})
}

// BenchmarkRealFilesInADirectory opens and closes each file, as a scan of a local directory does.
func BenchmarkRealFilesInADirectory(b *testing.B) {
	paths, err := filepath.Glob("testdata/[mt]*/*/*.split")
	if err != nil || len(paths) == 0 {
		b.Fatal(paths, err)
	}
	adaptive := &splitfile.Adaptive{}
	files := 0
	b.ReportAllocs()
	for b.Loop() {
		path := paths[files%len(paths)]
		files++
		id, _ := splitfile.SplitID(path)
		local, err := splitfile.OpenLocalFile(path)
		if err != nil {
			b.Fatal(err)
		}
		f, err := splitfile.Open(b.Context(), local, splitfile.Options{SplitID: id, Adaptive: adaptive})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := f.Metadata(); err != nil {
			b.Fatal(err)
		}
		if err := local.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(files)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkALargeHotcache is a file whose hotcache must not be read.
func BenchmarkALargeHotcache(b *testing.B) {
	file := someFile()
	file.HotcacheSize = 40 << 20
	sparse := file.Sparse()
	reader := splitfile.ReaderAt{Reader: sparse, Size: sparse.Size()}
	for name, adaptive := range map[string]*splitfile.Adaptive{"tail=64KiB": nil, "adaptive": {}} {
		b.Run(name, func(b *testing.B) {
			benchmarkOpen(b, reader, splitfile.Options{SplitID: someSplitID, Size: metastore.Some(sparse.Size()), Adaptive: adaptive})
		})
	}
}
