package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"holdfast/metastore"
)

// versionsOf fails the test unless the versions of a log are contiguous, and returns the last one.
func versionsOf(t *testing.T, b bucket, keys logKeys) uint64 {
	t.Helper()
	versions := parseVersions(names(t, b, keys.entries()))
	for i, version := range versions {
		if version != versions[0]+uint64(i) {
			t.Fatalf("versions %v are not contiguous", versions)
		}
	}
	return versions[len(versions)-1]
}

func TestSeveralStoresOnOneDirectoryLoseNoUpdateAndDoNothingTwice(t *testing.T) {
	t.Parallel()
	for _, stores := range []int{2, 8} {
		t.Run(fmt.Sprint(stores, " stores"), func(t *testing.T) {
			t.Parallel()
			directory := filepath.Join(t.TempDir(), "store")
			uid := createIndex(t, openOn(t, localBucket(t, directory)), "logs")
			const splits = 40
			var mu sync.Mutex
			staged, published := map[string]int{}, map[string]int{}
			count := func(counts map[string]int, ids ...string) {
				mu.Lock()
				defer mu.Unlock()
				for _, id := range ids {
					counts[id]++
				}
			}
			everyStore := func(work func(ctx context.Context, s *Store)) {
				var wg sync.WaitGroup
				for range stores {
					s := openOn(t, localBucket(t, directory), snapshotEvery(20))
					wg.Go(func() { work(context.Background(), s) })
				}
				wg.Wait()
			}
			everyStore(func(ctx context.Context, s *Store) {
				for _, id := range numbered("split", splits) {
					request := metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(id), CreateOnly: true}
					result, err := s.StageSplits(ctx, request)
					if err != nil {
						t.Errorf("stage: %v", err)
					}
					count(staged, result.Staged...)
					if err := s.PublishSplits(ctx, publishing(uid, id)); err == nil {
						count(published, id)
					} else if !errors.Is(err, metastore.ErrFailedPrecondition) {
						t.Errorf("publish: %v", err)
					}
				}
			})
			everyStore(func(ctx context.Context, s *Store) {
				for _, id := range numbered("split", splits)[:splits/2] {
					if err := s.MarkSplitsForDeletion(ctx, uid, []string{id}); err != nil {
						t.Errorf("mark: %v", err)
					}
					if err := s.DeleteSplits(ctx, uid, []string{id}); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
			})
			for _, id := range numbered("split", splits) {
				if staged[id] != 1 || published[id] != 1 {
					t.Errorf("split %s was staged %d times and published %d times", id, staged[id], published[id])
				}
			}
			b := localBucket(t, directory)
			versionsOf(t, b, logKeys{"logs/"})
			got := listing(t, openOn(t, b))
			var want []string
			for _, id := range numbered("split", splits)[splits/2:] {
				want = append(want, "logs/"+id+"=Published")
			}
			if !slices.Equal(got, want) {
				t.Errorf("listing %q, want %q", got, want)
			}
		})
	}
}

func TestAWriteIsSeenAtOnceByEveryStoreUnlessARefreshTimeAllowsOtherwise(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	writer, reader := openOn(t, b), openOn(t, b)
	lazy := openOn(t, b, func(o *Options) { o.Refresh = 1 << 60 })
	uid := createIndex(t, writer, "logs")
	wantListing(t, lazy)
	stage(t, writer, uid, "a")
	wantListing(t, reader, "logs/a=Staged")
	wantListing(t, lazy)
	// What a store decides is decided on the newest state nevertheless, and read afterwards.
	publish(t, lazy, uid, "a")
	wantListing(t, lazy, "logs/a=Published")
	wantListing(t, reader, "logs/a=Published")
}

func TestAReadAsksTheStorageOnceForEachLog(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a")
	reads, lists := counting.reads.Load(), counting.lists.Load()
	query := metastore.AllSplits(uid)
	if err := s.ListSplits(t.Context(), query, func(*metastore.SplitRow) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := counting.reads.Load() - reads; got != 1 || counting.lists.Load() != lists {
		t.Fatalf("%d reads and %d listings, want 1 and 0", got, counting.lists.Load()-lists)
	}
}

func TestAskingForUnknownIndexesTakesNoMemoryAndInvalidIdsNoStorage(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	for i := range 100 {
		lookup := metastore.IndexLookup{IndexID: metastore.Some(fmt.Sprint("unknown-", i))}
		if _, err := s.IndexMetadata(t.Context(), lookup); !errors.Is(err, metastore.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if len(s.logs.slots) != 0 {
		t.Errorf("%d logs are kept", len(s.logs.slots))
	}
	reads := counting.reads.Load()
	for _, id := range []string{"", "..", "../x", "a/b", "_log", "a\x00b", "a b"} {
		uid := metastore.IndexUID{IndexID: id}
		_, err := s.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)})
		if !errors.Is(err, metastore.ErrNotFound) || !errors.Is(s.DeleteIndex(t.Context(), uid), metastore.ErrNotFound) ||
			!errors.Is(s.MarkSplitsForDeletion(t.Context(), uid, []string{"a"}), metastore.ErrNotFound) {
			t.Errorf("id %q: %v, want NotFound", id, err)
		}
	}
	if got := counting.reads.Load() - reads; got != 0 {
		t.Errorf("%d reads, want none", got)
	}
}

func TestTheIdentityIsDrawnOnceForAllStores(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	identities := make([]string, 8)
	var wg sync.WaitGroup
	for i := range identities {
		s := openOn(t, b)
		wg.Go(func() {
			var err error
			if identities[i], err = s.ClusterIdentity(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if slices.Sort(identities); identities[0] == "" || identities[0] != identities[7] {
		t.Fatalf("identities %q", identities)
	}
}

func TestAClosedStoreRefusesChanges(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: "mem://"})
	if err != nil {
		t.Fatal(err)
	}
	uid := createIndex(t, s, "logs")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("a")})
	if err == nil || metastore.AsError(err).Kind != metastore.KindUnavailable {
		t.Fatalf("stage: %v", err)
	}
}
