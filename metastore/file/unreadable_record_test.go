package file

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"holdfast/metastore"
)

// rewrite replaces a text in an object and seals it again.
func rewrite(t *testing.T, b bucket, key, old, replacement string) {
	t.Helper()
	object, err := b.Read(t.Context(), key, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	body := object[:len(object)-sealLength]
	if !bytes.Contains(body, []byte(old)) {
		t.Fatalf("object %s has no %s: %s", key, old, body)
	}
	if err := b.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), key, appendSeal(bytes.Replace(body, []byte(old), []byte(replacement), 1))); err != nil {
		t.Fatal(err)
	}
}

// Case 77 of the idempotency keys.
func TestARecordThatCannotBeReadStopsOnlyCallsWithKeys(t *testing.T) {
	t.Parallel()
	const readable, unreadable = `"operation":"PublishSplits"`, `"operation":17`
	for _, place := range []string{"entry", "snapshot"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := memBucket(t)
			s := openOn(t, b)
			uid := createIndex(t, s, "logs")
			known, damaged := newRecord(t, "StageSplits"), newRecord(t, "PublishSplits")
			stageKnown := func(s *Store) error {
				_, err := s.WithRecord(known).StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("a", "b", "c")})
				return err
			}
			if err := stageKnown(s); err != nil {
				t.Fatal(err)
			}
			if err := s.WithRecord(damaged).PublishSplits(t.Context(), publishing(uid, "a")); err != nil {
				t.Fatal(err)
			}
			log, done := s.logs.use("logs")
			defer done()
			version := log.current.Load().version
			if place == "entry" {
				rewrite(t, b, log.keys.entry(version), readable, unreadable)
			} else {
				writeSnapshot(t, log)
				for _, name := range names(t, b, log.keys.snapshots()) {
					rewrite(t, b, log.keys.snapshots()+name, readable, unreadable)
				}
				for entry := uint64(1); entry < version; entry++ {
					if err := b.Delete(context.Background(), log.keys.entry(entry)); err != nil {
						t.Fatal(err)
					}
				}
			}

			// Twice: the second time from what was kept of it.
			for round, id := range []string{"b", "c"} {
				s := openOn(t, b)
				err := s.WithRecord(newRecord(t, "PublishSplits")).PublishSplits(t.Context(), publishing(uid, id))
				if metastore.AsError(err).Kind != metastore.KindInternal || !strings.Contains(err.Error(), "nothing was changed") {
					t.Fatalf("round %d: a call with a key: %v", round, err)
				}
				wantReplayed(t, stageKnown(s), known)
				publish(t, s, uid, id)
				again, done := s.logs.use("logs")
				writeSnapshot(t, again)
				for entry := uint64(1); entry < again.current.Load().version; entry++ {
					_ = b.Delete(context.Background(), again.keys.entry(entry)) // some are gone
				}
				done()
			}
			wantListing(t, openOn(t, b), "logs/a=Published", "logs/b=Published", "logs/c=Published")
		})
	}
}
