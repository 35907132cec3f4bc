package reconcile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// legacyBucket writes a thousand files without recovery entries: nine hundred of indexers, a minute
// apart, of which the last four hundred were merged by tens a while ago and are still there, and as many
// merges of files that are gone as make the thousand full. It returns their root and their bytes.
func legacyBucket(b *testing.B, docs int) (root string, size int64) {
	b.Helper()
	root = b.TempDir()
	dir := filepath.Join(root, "web-access")
	require.NoError(b, os.MkdirAll(dir, 0o755))
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.Now()
	entropy := ulid.Monotonic(rngReader{rng}, 0)
	write := func(split *segmenttest.Split, at time.Time) {
		id := ulid.MustNew(ulid.Timestamp(at), entropy).String()
		content := split.File(id).Encode()
		size += int64(len(content))
		path := filepath.Join(dir, id+".split")
		require.NoError(b, os.WriteFile(path, content, 0o644))
		require.NoError(b, os.Chtimes(path, at, at))
	}
	settings := segmenttest.Settings{
		TimeField: "at", BlockSize: 20_000, Compression: segment.Zstd,
		Fields: []segmenttest.Field{{Name: "at", Type: "date", Indexed: true, Fast: true}},
	}
	next := func(at time.Time) *segmenttest.Split {
		all := make([]segmenttest.Document, docs)
		for i := range all {
			nanos := at.Add(-time.Duration(rng.IntN(60)) * time.Second).UnixNano()
			all[i] = segmenttest.Document{Time: &nanos, Raw: segmenttest.Text(fmt.Sprintf(
				"%d %016x GET /api/v1/orders/%d 200 %dms Mozilla/5.0 (X11; Linux x86_64) %016x", nanos, rng.Uint64(), rng.IntN(1e6), rng.IntN(500), rng.Uint64()))}
		}
		return segmenttest.Index(settings, all...)
	}
	for i := range 60 { // merges whose parents are gone
		var parents []*segmenttest.Split
		at := now.Add(-time.Duration(60-i)*time.Hour - 48*time.Hour)
		for j := range 5 {
			parents = append(parents, next(at.Add(time.Duration(j)*time.Minute)))
		}
		write(segmenttest.Merge(parents...), at.Add(10*time.Minute))
	}
	var parents []*segmenttest.Split
	for i := range 900 {
		at := now.Add(-time.Duration(900-i)*time.Minute - time.Hour)
		split := next(at)
		write(split, at)
		if i < 500 {
			continue
		}
		if parents = append(parents, split); len(parents) == 10 {
			write(segmenttest.Merge(parents...), now.Add(-50*time.Minute))
			parents = nil
		}
	}
	return root, size
}

type rngReader struct{ *rand.Rand }

func (r rngReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return len(p), nil
}

// BenchmarkPlanOfLegacyFiles measures a plan of a thousand files without recovery entries: seconds,
// requests, bytes read, and those of documents among them. Large files have more than six blocks, which merges
// copy; of small ones the documents are compared.
func BenchmarkPlanOfLegacyFiles(b *testing.B) {
	for name, docs := range map[string]int{"large": 1200, "small": 300} {
		for attested, healthy := range map[string]bool{"attested": true, "unattested": false} {
			b.Run(name+"/"+attested, func(b *testing.B) {
				root, size := legacyBucket(b, docs)
				store, err := file.Open(b.Context(), file.Options{URL: "mem://"})
				require.NoError(b, err)
				config := *legacy.benchConfig(b)
				options := Options{
					Store: store, Root: root, IndexConfigs: []*indexconfig.IndexConfig{&config}, MaxRead: metastore.Some[int64](1 << 40),
					Lineage: lineage.Options{GCHealthy: healthy, NoDeleteTasks: true},
				}
				var s IndexSummary
				for b.Loop() {
					summary, err := Plan(b.Context(), options)
					require.NoError(b, err)
					s = summary.Indexes[0]
				}
				require.Equal(b, int64(400), s.Decisions["superseded"], "%v", s.Decisions)
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/1000splits")
				b.ReportMetric(float64(size)/1e6, "MB-bucket")
				b.ReportMetric(float64(s.Reads.Bytes)/1e6, "MB-read")
				b.ReportMetric(float64(s.Contents.Bytes)/1e6, "MB-documents")
				b.ReportMetric(float64(s.Reads.Requests)/1000, "reads/split")
				require.NoError(b, store.Close())
			})
		}
	}
}

// benchConfig is the configuration of the fixture without what the files of the benchmark lack.
func (f fixture) benchConfig(b *testing.B) *indexconfig.IndexConfig {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", f.set+"-"+f.index+".index-config.json"))
	require.NoError(b, err)
	config, err := indexconfig.ParseIndexConfig(text, ulid.Make)
	require.NoError(b, err)
	config.DocMapping.PartitionKey = nil
	return config
}
