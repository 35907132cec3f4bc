package file

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/storetest"
)

// indexWithSource creates an index with a source "source" that keeps its progress in the metadata.
func indexWithSource(t testing.TB, s *Store, id string) metastore.IndexUID {
	t.Helper()
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"source","source_type":"void","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := s.CreateIndex(context.Background(), metastore.CreateIndexRequest{Config: indexConfig(t, id), Sources: []*indexconfig.SourceConfig{source}})
	if err != nil {
		t.Fatal(err)
	}
	return metadata.IndexUID
}

// progressOf asks to publish splits with progress in one partition.
func progressOf(uid metastore.IndexUID, partition string, from, to metastore.Position, staged ...string) metastore.PublishSplitsRequest {
	return metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: staged,
		Delta: &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{partition: {From: from, To: to}}}}
}

func TestProgressIsThereAfterARestartFromTheLogAndFromASnapshot(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "store")
	s := openOn(t, localBucket(t, directory))
	uid := indexWithSource(t, s, "logs")
	stage(t, s, uid, "s1")
	if err := s.PublishSplits(t.Context(), progressOf(uid, `p "1"`, "", "5", "s1")); err != nil {
		t.Fatal(err)
	}
	for _, snapshot := range []bool{false, true} {
		if snapshot {
			log, done := s.logs.use("logs")
			if err := log.snapshot(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			done()
		}
		again := openOn(t, localBucket(t, directory))
		wantListing(t, again, "logs/s1=Published")
		metadata, err := again.IndexMetadata(t.Context(), metastore.IndexLookup{IndexUID: metastore.Some(uid)})
		if err != nil || metadata.Checkpoint["source"][`p "1"`] != "5" {
			t.Errorf("the checkpoint is %v, %v", metadata.Checkpoint, err)
		}
	}
}

func TestADeltaThatIsRefusedOrMovesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := indexWithSource(t, s, "logs")
	if err := s.PublishSplits(t.Context(), progressOf(uid, "p", "", "5")); err != nil {
		t.Fatal(err)
	}
	before := counting.puts.Load()
	for _, request := range []metastore.PublishSplitsRequest{progressOf(uid, "p", "4", "6"), progressOf(uid, "p", "5", "6", "unknown"), progressOf(uid, "p", "6", "5")} {
		if err := s.PublishSplits(t.Context(), request); err == nil {
			t.Errorf("%+v was accepted", request)
		}
	}
	empty := progressOf(uid, "p", "5", "6")
	clear(empty.Delta.Partitions)
	if err := s.PublishSplits(t.Context(), empty); err != nil {
		t.Error(err)
	}
	if n := counting.puts.Load() - before; n != 0 {
		t.Errorf("%d objects were written", n)
	}
}

// publishElsewhere publishes in turn through two stores, as two servers on one bucket do.
type publishElsewhere struct {
	metastore.Store
	other metastore.Store
	calls atomic.Int64
}

func (p *publishElsewhere) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	if p.calls.Add(1)%2 == 0 {
		return p.other.PublishSplits(ctx, request)
	}
	return p.Store.PublishSplits(ctx, request)
}

func TestEveryRecordIsPublishedExactlyOnceThroughTwoServersOnAFaultyBucket(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		net := newNetwork(memBucket(t), seed)
		net.setFaulty(false)
		servers := &publishElsewhere{Store: openOn(t, net), other: openOn(t, net)}
		storetest.CheckExactlyOnce(t.Context(), t, servers, fmt.Sprint("logs-", seed), 10, func(done <-chan struct{}) {
			net.setFaulty(true)
			<-done
			net.setFaulty(false)
			if err := net.deliver(); err != nil {
				t.Error(err)
			}
		})
	}
}

// BenchmarkPublishWithProgress has 16 clients publish one split after the other on one index in a local directory, each
// with progress in a partition of its own, in turns with publishes without progress.
func BenchmarkPublishWithProgress(b *testing.B) {
	s := openOn(b, localBucket(b, filepath.Join(b.TempDir(), "store")))
	uid := indexWithSource(b, s, "logs")
	const clients, each = 16, 20
	seconds := map[bool]float64{}
	for turn := 0; b.Loop(); turn++ {
		for _, progress := range []bool{turn%2 == 0, turn%2 != 0} {
			var staged []string
			for client := range clients {
				staged = append(staged, numbered(fmt.Sprintf("t%d-%v-c%d", turn, progress, client), each)...)
			}
			stage(b, s, uid, staged...)
			var group errgroup.Group
			start := time.Now()
			for client := range clients {
				group.Go(func() error {
					for i := range each {
						request := metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: staged[client*each+i : client*each+i+1]}
						if progress {
							position := metastore.Position(fmt.Sprintf("%020d", turn*each+i))
							request.Delta = progressOf(uid, fmt.Sprint(client), position, position+"1").Delta
						}
						if err := s.PublishSplits(context.Background(), request); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				b.Fatal(err)
			}
			seconds[progress] += time.Since(start).Seconds()
		}
	}
	b.ReportMetric(float64(b.N*clients*each)/seconds[true], "with/s")
	b.ReportMetric(float64(b.N*clients*each)/seconds[false], "without/s")
	b.ReportMetric(seconds[false]/seconds[true], "with/without")
}
