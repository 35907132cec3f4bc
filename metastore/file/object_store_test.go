package file

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob"

	"holdfast/integration/objectstore"
	"holdfast/metastore"
	"holdfast/metastore/storetest"
)

var services = map[string]func(testing.TB) *objectstore.Store{"S3": objectstore.S3, "GCS": objectstore.GCS, "Azure": objectstore.Azure}

// eachService runs a test on a server of each service.
func eachService(t *testing.T, run func(t *testing.T, connect func() bucket, service *objectstore.Store)) {
	for name, start := range services {
		t.Run(name, func(t *testing.T) {
			service := start(t)
			run(t, func() bucket { return keepOpen{&blobBucket{bucket: service.Open(t)}} }, service)
		})
	}
}

// Each store has a server of its own: the cost of a request to these grows with the objects they hold.
func TestTheStoreOnAnObjectStoreConforms(t *testing.T) {
	t.Parallel()
	for name, start := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, fileProfile, func(t *testing.T) metastore.Store {
				return openOn(t, keepOpen{&blobBucket{bucket: start(t).Open(t)}})
			})
		})
	}
}

func TestSeveralStoresOnAnObjectStoreLoseNothing(t *testing.T) {
	t.Parallel()
	eachService(t, func(t *testing.T, connect func() bucket, _ *objectstore.Store) {
		t.Parallel()
		uid := createIndex(t, openOn(t, connect()), "logs")
		var wg sync.WaitGroup
		const stores, each = 4, 8
		for i := range stores {
			s := openOn(t, connect(), snapshotEvery(5))
			wg.Go(func() {
				for n := range each {
					request := metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(fmt.Sprintf("split-%d-%d", i, n))}
					if _, err := s.StageSplits(context.Background(), request); err != nil {
						t.Errorf("stage: %v", err)
					}
				}
			})
		}
		wg.Wait()
		if got := len(listing(t, openOn(t, connect()))); got != stores*each {
			t.Errorf("%d splits, want %d", got, stores*each)
		}
		versionsOf(t, connect(), logKeys{"logs/"})
	})
}

// A snapshot is uploaded in parts when it is large; it appears whole or not at all.
func TestALargeSnapshotOnAnObjectStoreIsReadBack(t *testing.T) {
	t.Parallel()
	eachService(t, func(t *testing.T, connect func() bucket, _ *objectstore.Store) {
		t.Parallel()
		b := connect()
		s := openOn(t, b, snapshotEvery(1<<40), func(o *Options) { o.SnapshotBytes = 1 << 40 })
		uid := createIndex(t, s, "logs")
		ids := numbered(strings.Repeat("x", 40), 30_000)
		for batch := range slices.Chunk(ids, 10_000) {
			stage(t, s, uid, batch...)
		}
		log, done := s.logs.use("logs")
		defer done()
		if err := log.snapshot(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		h, size, err := log.readSnapshot(t.Context(), 4)
		if err != nil || h.state.splits.len() != len(ids) || size < 16<<20 {
			t.Fatalf("%d bytes, %v", size, err)
		}
	})
}

// Not parallel: it sets the environment of the process.
func TestAStoreOpensByTheURLOfABucketWithAPrefix(t *testing.T) {
	eachService(t, func(t *testing.T, connect func() bucket, service *objectstore.Store) {
		for _, variable := range service.Environment {
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
		}
		place, query, _ := strings.Cut(service.URL, "?")
		if rest, azure := strings.CutPrefix(place, "azblob:"); azure {
			place = "azure:" + rest // objectstore's own test opens the other spelling
		}
		s := openURL(t, place+"/some/prefix/?"+query)
		if _, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}); err != nil {
			t.Fatal(err)
		}
		if got := names(t, connect(), "some/prefix/logs/_log/"); len(got) != 1 {
			t.Fatalf("objects %q", got)
		}
	})
}

func TestAStorageThatCannotBeReachedIsReported(t *testing.T) {
	t.Parallel()
	opened, err := blob.OpenBucket(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), &blobBucket{bucket: opened}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckConnectivity(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckConnectivity(t.Context()); metastore.AsError(err) == nil || metastore.AsError(err).Kind != metastore.KindUnavailable {
		t.Fatalf("error %v, want Unavailable", err)
	}
}
