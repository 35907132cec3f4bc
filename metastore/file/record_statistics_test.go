package file

import (
	"maps"
	"testing"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

func TestAStoreCountsTheRecordsOfItsLogs(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b)
	clock := time.Now()
	s.env.clock = func() time.Time { return clock }
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a")
	create := func() {
		t.Helper()
		if _, err := s.WithRecord(newRecord(t, "CreateDeleteTask")).CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: uid, QueryAST: "q"}); err != nil {
			t.Fatal(err)
		}
	}
	create()
	create()
	if known := s.Statistics(); known.Purge != nil || known.Purged != 0 || known.Logs.Records.Count != 2 || known.Logs.Records.Sum != 1+2 {
		t.Errorf("two calls with keys: %+v, %+v", known, *known.Logs)
	}

	window := idempotency.DefaultWindow()
	clock = clock.Add(window.Horizon() + window.PurgeDelay + time.Minute)
	create()

	known := s.Statistics()
	if known.Purged != 2 || known.Logs.Records.Count != 3 || known.Logs.Records.Sum != 1+2+1 {
		t.Errorf("%d removed, %+v; want that two were removed and one is left", known.Purged, known.Logs.Records)
	}
	if got := known.Logs.Records.Buckets; got[1] != 2 || got[10] != 3 || got[200_000] != 3 {
		t.Errorf("buckets %v, want two of one record, and all three of at most ten", got)
	}
	if reader := openOn(t, b); len(listing(t, reader)) != 1 || reader.Statistics().Purged != 0 {
		t.Error("a store that only read the log counts what the other has removed")
	}
}

func TestAStoreCountsCommitsThatAreTriedAgainByTheirCause(t *testing.T) {
	t.Parallel()
	b := &cuttingBucket{bucket: memBucket(t)}
	s := openOn(t, b)
	uid := createIndex(t, s, "logs")
	stage(t, openOn(t, b), uid, "a")
	stage(t, s, uid, "b") // the version after the one that it knows is taken
	want := map[string]uint64{"conflict": 1, "storage": 0}
	if got := s.Statistics().Logs.Retries; !maps.Equal(got, want) {
		t.Errorf("retries %v, want %v", got, want)
	}

	b.cut(ofIndexLog, false)
	_, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("c")})
	wantUnknown(t, err)
	want["storage"] = putAttempts - 1
	if got := s.Statistics().Logs.Retries; !maps.Equal(got, want) {
		t.Errorf("retries %v, want %v", got, want)
	}
}
