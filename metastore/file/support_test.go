package file

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// openOn opens a store on a bucket and closes it with the test.
func openOn(t testing.TB, b bucket, change ...func(*Options)) *Store {
	t.Helper()
	var options Options
	for _, c := range change {
		c(&options)
	}
	s, err := open(t.Context(), b, options)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// trimEagerly makes a store write snapshots often and remove entries at once.
func trimEagerly(s *Store) *Store {
	s.env.confirmAge, s.env.removalAge = 0, 0
	s.env.retryPause = func(int) time.Duration { return 0 }
	return s
}

func snapshotEvery(entries uint64) func(*Options) {
	return func(o *Options) { o.SnapshotEntries = entries }
}

func localBucket(t testing.TB, directory string) bucket {
	t.Helper()
	b, err := openLocalDir(directory)
	if err != nil {
		t.Fatalf("open directory: %v", err)
	}
	return b
}

func memBucket(t testing.TB) bucket {
	t.Helper()
	b, err := openBucket(context.Background(), "mem://", false)
	if err != nil {
		t.Fatalf("open mem: %v", err)
	}
	return keepOpen{b}
}

// keepOpen is a bucket that several stores share.
type keepOpen struct{ bucket }

func (keepOpen) Close() error { return nil }

func eachBucket(t *testing.T, run func(t *testing.T, b bucket)) {
	t.Run("local directory", func(t *testing.T) {
		t.Parallel()
		run(t, localBucket(t, filepath.Join(t.TempDir(), "store")))
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		run(t, memBucket(t))
	})
}

// countingBucket counts calls.
type countingBucket struct {
	bucket
	puts, reads, lists atomic.Int64

	mu   sync.Mutex
	keys []string // that were created
}

func (c *countingBucket) Create(ctx context.Context, key string, data []byte) error {
	c.puts.Add(1)
	c.mu.Lock()
	c.keys = append(c.keys, key)
	c.mu.Unlock()
	return c.bucket.Create(ctx, key, data)
}

func (c *countingBucket) CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error {
	c.puts.Add(1)
	return c.bucket.CreateFrom(ctx, key, write)
}

func (c *countingBucket) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	c.reads.Add(1)
	return c.bucket.Read(ctx, key, limit)
}

func (c *countingBucket) List(ctx context.Context, directory string) ([]string, error) {
	c.lists.Add(1)
	return c.bucket.List(ctx, directory)
}

func indexConfig(t testing.TB, id string) *indexconfig.IndexConfig {
	t.Helper()
	config, err := parseIndexConfig(id)
	if err != nil {
		t.Fatalf("index config: %v", err)
	}
	return config
}

func parseIndexConfig(id string) (*indexconfig.IndexConfig, error) {
	text := fmt.Sprintf(`{"version":"0.9","index_id":%q,"index_uri":"s3://bucket/%s","doc_mapping":{"field_mappings":[{"name":"at","type":"datetime","fast":true}],"timestamp_field":"at"}}`, id, id)
	return indexconfig.ParseIndexConfig([]byte(text), ulid.Make)
}

func createIndex(t testing.TB, s *Store, id string) metastore.IndexUID {
	t.Helper()
	metadata, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, id)})
	if err != nil {
		t.Fatalf("create index: %v", err)
	}
	return metadata.IndexUID
}

func newSplits(ids ...string) []metastore.SplitMetadata {
	splits := make([]metastore.SplitMetadata, len(ids))
	for i, id := range ids {
		splits[i] = metastore.SplitMetadata{
			SplitID: id, SourceID: "_ingest-source", NodeID: "node-1", NumDocs: 54, UncompressedDocsSize: 9290,
			PartitionID: 7771458265935901201, TimeRange: metastore.Some(metastore.TimeRange{Start: 1787300921, End: 1787301684}),
			CreateTimestamp: 1796036173, Maturity: metastore.Maturity{Immature: true, PeriodMillis: 90000},
			Tags: []string{"tenant!", "tenant:1001", "tenant:57"}, FooterStart: 11124, FooterEnd: 16735, DocMappingUID: ulid.ULID{1, 2, 3},
		}
	}
	return splits
}

func numbered(prefix string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%07d", prefix, i)
	}
	return ids
}

func stage(t testing.TB, s *Store, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	if _, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(ids...)}); err != nil {
		t.Fatalf("stage: %v", err)
	}
}

func publish(t testing.TB, s *Store, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	if err := s.PublishSplits(t.Context(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids}); err != nil {
		t.Fatalf("publish: %v", err)
	}
}

// listing returns the splits of all indexes as "index/split=state", in the order of the store.
func listing(t testing.TB, s *Store) []string {
	t.Helper()
	var lines []string
	err := s.ListSplits(t.Context(), metastore.AllSplits(), func(row *metastore.SplitRow) error {
		split, err := row.Split()
		if err != nil {
			return err
		}
		lines = append(lines, split.Metadata.IndexUID.IndexID+"/"+split.Metadata.SplitID+"="+split.State.String())
		return nil
	})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return lines
}

func wantListing(t testing.TB, s *Store, want ...string) {
	t.Helper()
	if got := listing(t, s); !slices.Equal(got, want) {
		t.Fatalf("listing:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func names(t testing.TB, b bucket, directory string) []string {
	t.Helper()
	list, err := b.List(t.Context(), directory)
	if err != nil {
		t.Fatalf("list %s: %v", directory, err)
	}
	return list
}

// isStageOf reports whether an operation stages one split, with this id.
func isStageOf(o op, id string) bool {
	stage, ok := o.(stageOp)
	return ok && len(stage) == 1 && stage[0].SplitID == id
}
