package file

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

func newRecord(t testing.TB, operation string) idempotency.Record {
	t.Helper()
	key, err := idempotency.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return idempotency.Record{Key: key, Binding: idempotency.Binding{
		Principal: idempotency.Anonymous, Operation: operation, Resource: "index/logs",
		Fingerprint: idempotency.Fingerprint{1}, FingerprintVersion: idempotency.FingerprintVersion,
	}}
}

func wantReplayed(t testing.TB, err error, record idempotency.Record) {
	t.Helper()
	var replayed *idempotency.Replayed
	if !errors.As(err, &replayed) {
		t.Fatalf("the call was not replayed: %v", err)
	}
	if replayed.Record.Key != record.Key || replayed.Record.Binding != record.Binding || replayed.Record.CreateTimestamp == 0 {
		t.Fatalf("record %+v, want that of %+v", replayed.Record, record)
	}
}

func TestAKeyedCallIsExecutedOnce(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a", "b")
	publish(t, s, uid, "a")
	record := newRecord(t, "MarkSplitsForDeletion")
	puts := counting.puts.Load()
	if err := s.WithRecord(record).MarkSplitsForDeletion(t.Context(), uid, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if took := counting.puts.Load() - puts; took != 1 {
		t.Fatalf("the call took %d puts, want the one of its effect", took)
	}
	if err := s.DeleteSplits(t.Context(), uid, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	stage(t, s, uid, "a")
	puts = counting.puts.Load()
	wantReplayed(t, s.WithRecord(record).MarkSplitsForDeletion(t.Context(), uid, []string{"a"}), record)
	if counting.puts.Load() != puts {
		t.Fatal("the replay wrote something")
	}
	wantListing(t, s, "logs/a=Staged", "logs/b=Staged")
}

func TestARecordIsFoundByOtherProcessesAndAfterARestart(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b)
	uid := createIndex(t, s, "logs")
	other := openOn(t, b)
	stage(t, other, uid, "a")
	record := newRecord(t, "PublishSplits")
	if err := s.WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")); err != nil {
		t.Fatal(err)
	}
	wantReplayed(t, other.WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")), record)
	wantReplayed(t, openOn(t, b).WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")), record)

	log, done := s.logs.use("logs")
	defer done()
	writeSnapshot(t, log)
	for version := uint64(1); version < log.current.Load().version; version++ {
		if err := b.Delete(t.Context(), log.keys.entry(version)); err != nil {
			t.Fatal(err)
		}
	}
	wantReplayed(t, openOn(t, b).WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")), record)
}

func TestARecordOutlivesItsIndex(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	created := newRecord(t, "CreateIndex")
	request := metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}
	request.Incarnation = metastore.Some(created.Key.ULID(created.Principal, "logs"))
	first, err := s.WithRecord(created).CreateIndex(t.Context(), request)
	if err != nil || first.IndexUID.Incarnation != request.Incarnation.Value {
		t.Fatalf("created as %v, %v; want incarnation %s", first, err, request.Incarnation.Value)
	}
	_, err = s.WithRecord(created).CreateIndex(t.Context(), request)
	wantReplayed(t, err, created)

	deleted := newRecord(t, "DeleteIndex")
	if err := s.WithRecord(deleted).DeleteIndex(t.Context(), first.IndexUID); err != nil {
		t.Fatal(err)
	}
	wantReplayed(t, s.WithRecord(deleted).DeleteIndex(t.Context(), first.IndexUID), deleted)
	second := createIndex(t, s, "logs")
	wantReplayed(t, s.WithRecord(deleted).DeleteIndex(t.Context(), first.IndexUID), deleted)
	_, err = s.WithRecord(created).CreateIndex(t.Context(), request)
	wantReplayed(t, err, created)
	if now, err := s.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("logs")}); err != nil || now.IndexUID != second {
		t.Fatalf("the index is %v, %v; want %s", now, err, second)
	}
}

func TestAFailedCallLeavesNoRecord(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	uid := createIndex(t, s, "logs")
	record := newRecord(t, "PublishSplits")
	if err := s.WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")); !errors.Is(err, metastore.ErrNotFound) {
		t.Fatalf("publishing an unknown split: %v", err)
	}
	stage(t, s, uid, "a")
	if err := s.WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")); err != nil {
		t.Fatalf("the same call when the split exists: %v", err)
	}
	wantListing(t, s, "logs/a=Published")
}

func TestADeletionThatOnlyCleansUpLeavesNoRecord(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	create := metastore.CreateIndexRequest{Config: indexConfig(t, "logs"), Incarnation: metastore.Some(ulid.Make())}
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: create.Incarnation.Value}
	// What a creation that was cut off leaves.
	if err := s.root.submit(t.Context(), 0, func(*rootState, uint64, bool) ([]op, error) {
		return []op{addIndexOp{rootIndex{indexID: "logs", generation: ulid.Make()}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	record := newRecord(t, "DeleteIndex")
	if err := s.WithRecord(record).DeleteIndex(t.Context(), uid); !errors.Is(err, metastore.ErrNotFound) {
		t.Fatalf("deleting an index that was not created: %v", err)
	}
	if ids := s.root.current.Load().state.indexIDs(nil); len(ids) != 0 {
		t.Fatalf("ids without an index: %q", ids)
	}
	if _, err := s.CreateIndex(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	if err := s.WithRecord(record).DeleteIndex(t.Context(), uid); err != nil {
		t.Fatalf("the same deletion when the index exists: %v", err)
	}
	if _, err := s.IndexMetadata(t.Context(), metastore.IndexLookup{IndexUID: metastore.Some(uid)}); !errors.Is(err, metastore.ErrNotFound) {
		t.Fatalf("the index after its deletion: %v", err)
	}
}

func TestAKeyedCallThatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a")
	puts := counting.puts.Load()
	request := metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("a"), CreateOnly: true}
	if result, err := s.WithRecord(newRecord(t, "StageSplits")).StageSplits(t.Context(), request); err != nil || len(result.Skipped) != 1 {
		t.Fatalf("staged again: %+v, %v", result, err)
	}
	if counting.puts.Load() != puts {
		t.Fatal("the call wrote something")
	}
}

func TestAKeyOfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a", "b")
	record := newRecord(t, "PublishSplits")
	if err := s.WithRecord(record).PublishSplits(t.Context(), publishing(uid, "a")); err != nil {
		t.Fatal(err)
	}
	other := record
	other.Fingerprint[0]++
	err := s.WithRecord(other).PublishSplits(t.Context(), publishing(uid, "b"))
	if !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyReused}) {
		t.Fatalf("the key for another request: %v", err)
	}
	wantListing(t, s, "logs/a=Published", "logs/b=Staged")

	theirs := other
	theirs.Principal = idempotency.NewPrincipal(nil, "somebody else")
	if err := s.WithRecord(theirs).PublishSplits(t.Context(), publishing(uid, "b")); err != nil {
		t.Fatalf("the key of another principal: %v", err)
	}
}

func TestOfManyCallsWithOneKeyOneIsExecuted(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		stores := []*Store{openOn(t, b), openOn(t, b), openOn(t, b)}
		uid := createIndex(t, stores[0], "logs")
		stage(t, stores[0], uid, "a")
		record := newRecord(t, "PublishSplits")
		errs := make([]error, 50)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() {
				errs[i] = stores[i%len(stores)].WithRecord(record).PublishSplits(context.WithoutCancel(t.Context()), publishing(uid, "a"))
			})
		}
		wait.Wait()
		executed := 0
		for _, err := range errs {
			if err == nil {
				executed++
			} else {
				wantReplayed(t, err, record)
			}
		}
		if executed != 1 {
			t.Fatalf("the call was executed %d times", executed)
		}
	})
}

func TestRecordsAreForgottenWhenNobodyAcceptsTheirKeys(t *testing.T) {
	t.Parallel()
	clock := time.Now()
	s := openOn(t, memBucket(t), func(o *Options) { o.MaxIdempotencyRecords = 3 })
	s.env.clock = func() time.Time { return clock }
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a", "b", "c", "d")
	mark := func(id string) error {
		return s.WithRecord(newRecord(t, "MarkSplitsForDeletion")).MarkSplitsForDeletion(t.Context(), uid, []string{id})
	}
	first := newRecord(t, "MarkSplitsForDeletion")
	if err := s.WithRecord(first).MarkSplitsForDeletion(t.Context(), uid, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"b", "c"} {
		if err := mark(id); err != nil {
			t.Fatal(err)
		}
	}
	var full *idempotency.Error
	if err := mark("d"); !errors.As(err, &full) || full.Reason != idempotency.KeyQuota || full.RetryAfter <= 0 || !strings.Contains(full.Message, "nothing was changed") {
		t.Fatalf("one record too many: %v", err)
	}
	if err := s.MarkSplitsForDeletion(t.Context(), uid, []string{"d"}); err != nil {
		t.Fatalf("a call without a key: %v", err)
	}
	wantReplayed(t, s.WithRecord(first).MarkSplitsForDeletion(t.Context(), uid, []string{"a"}), first)
	window := idempotency.DefaultWindow()
	clock = clock.Add(window.Horizon() + window.PurgeDelay + time.Minute)
	stage(t, s, uid, "e")
	if err := mark("e"); err != nil {
		t.Fatalf("when the others are too old to be accepted: %v", err)
	}
	log, done := s.logs.use("logs")
	defer done()
	if n := log.current.Load().state.records.len(); n != 1 {
		t.Fatalf("%d records are kept, want 1", n)
	}
}
