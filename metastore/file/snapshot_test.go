package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"holdfast/metastore"
)

// grown returns a bucket with an index of n entries in its log, and snapshots at these versions.
func grown(t *testing.T, n int, snapshots ...uint64) (bucket, *Store) {
	t.Helper()
	b := memBucket(t)
	s := openOn(t, b, snapshotEvery(1<<40))
	uid := createIndex(t, s, "logs")
	log, done := s.logs.use("logs")
	defer done()
	for version := uint64(1); version <= uint64(n); version++ {
		if version > 1 {
			stage(t, s, uid, fmt.Sprintf("split-%02d", version))
		}
		if len(snapshots) > 0 && snapshots[0] == version {
			snapshots = snapshots[1:]
			writeSnapshot(t, log)
		}
	}
	return b, s
}

// writeSnapshot writes a snapshot of the current version and removes nothing.
func writeSnapshot(t *testing.T, log *commitLog[*indexState]) {
	t.Helper()
	h := log.current.Load()
	err := log.env.bucket.CreateFrom(t.Context(), log.keys.snapshot(h.version), func(w io.Writer) error {
		return writeSealed(w, func(w io.Writer) error { return indexCodec.write(w, h) })
	})
	if err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, b bucket, key string, change func([]byte) []byte) {
	t.Helper()
	text, err := b.Read(t.Context(), key, maxEntryBytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), key, change(bytes.Clone(text))); err != nil {
		t.Fatal(err)
	}
}

func TestASnapshotAndTheEntriesBehindItGiveTheState(t *testing.T) {
	t.Parallel()
	b, s := grown(t, 9, 6)
	for version := uint64(1); version <= 5; version++ { // they are not needed
		if err := b.Delete(t.Context(), logKeys{"logs/"}.entry(version)); err != nil {
			t.Fatal(err)
		}
	}
	wantListing(t, openOn(t, b), listing(t, s)...)
}

func TestASnapshotIsADocumentOfQuickwit(t *testing.T) {
	t.Parallel()
	b, _ := grown(t, 3, 3)
	text, err := b.Read(t.Context(), logKeys{"logs/"}.snapshot(3), maxEntryBytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"version":"0.9",`, `"index":{"version":"0.9","index_uid":"logs:`, `"delete_tasks":[]`,
		`"splits":[{"split_state":"Staged","update_timestamp":`, `"publish_timestamp":null,"version":"0.9","split_id":"split-02",`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the snapshot lacks %s:\n%s", want, text)
		}
	}
}

func TestADamagedSnapshotIsReplacedByAnOlderOne(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"torn":    func(text []byte) []byte { return text[:len(text)/2] },
		"empty":   func([]byte) []byte { return nil },
		"one bit": func(text []byte) []byte { return bytes.Replace(text, []byte("split-03"), []byte("split-13"), 1) },
		"another log's": func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"log_version":6`), []byte(`"log_version":5`), 1)
		},
		"a newer format": func(text []byte) []byte { return bytes.Replace(text, []byte(`"format":1`), []byte(`"format":3`), 1) },
		"zeroes":         func(text []byte) []byte { return make([]byte, len(text)) },
	} {
		b, s := grown(t, 8, 4, 6)
		replace(t, b, logKeys{"logs/"}.snapshot(6), damage)
		for version := uint64(1); version <= 4; version++ {
			if err := b.Delete(t.Context(), logKeys{"logs/"}.entry(version)); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) { wantListing(t, openOn(t, b), listing(t, s)...) })
	}
}

func TestADamagedSnapshotThatNothingReplacesIsNamed(t *testing.T) {
	t.Parallel()
	b, _ := grown(t, 4, 3)
	replace(t, b, logKeys{"logs/"}.snapshot(3), func(text []byte) []byte { return text[:len(text)-5] })
	for version := uint64(1); version <= 2; version++ {
		if err := b.Delete(t.Context(), logKeys{"logs/"}.entry(version)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := openOn(t, b).IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("logs")})
	if err == nil || !strings.Contains(err.Error(), logKeys{"logs/"}.snapshot(3)) {
		t.Fatalf("error %v", err)
	}
}

func TestADamagedEntryIsNamedAndNothingIsGuessed(t *testing.T) {
	t.Parallel()
	key := logKeys{"logs/"}.entry(3)
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		want   string
	}{
		"torn":    {func(text []byte) []byte { return text[:len(text)/2] }, "not valid JSON"},
		"one bit": {func(text []byte) []byte { return bytes.Replace(text, []byte("split-03"), []byte("split-13"), 1) }, "crc32c"},
		"another version": {func([]byte) []byte {
			return sealed(`{"format":1,"version":4,"write_id":"` + someID + `","time":1,"ops":[]`)
		}, "by its name it must be 3"},
		"a newer format": {func([]byte) []byte {
			return sealed(`{"format":2,"version":3,"write_id":"` + someID + `","time":1,"ops":[]`)
		}, "a newer one wrote"},
		"an unknown op": {func([]byte) []byte {
			return sealed(`{"format":1,"version":3,"write_id":"` + someID + `","time":1,"ops":[{"rename":{}}]`)
		}, `does not know the operation`},
		"two ops in one": {func([]byte) []byte {
			return sealed(`{"format":1,"version":3,"write_id":"` + someID + `","time":1,"ops":[{"fence":{},"mark":{"split_ids":[]}}]`)
		}, "exactly one operation"},
		"an impossible op": {func([]byte) []byte {
			return sealed(`{"format":1,"version":3,"write_id":"` + someID + `","time":1,"ops":[{"mark":{"split_ids":["x"]}}]`)
		}, `there is no split "x"`},
		"an op of the root's": {func([]byte) []byte {
			return sealed(`{"format":1,"version":3,"write_id":"` + someID + `","time":1,"ops":[{"identity":{"uuid":"` + someID + `"}}]`)
		}, "does not belong"},
	} {
		b, _ := grown(t, 4)
		replace(t, b, key, c.damage)
		t.Run(name, func(t *testing.T) {
			s := openOn(t, b)
			for range 2 {
				_, err := s.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("logs")})
				if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error %v, want %q and %q in it", err, key, c.want)
				}
			}
		})
	}
}

const someID = "5b0e1f5c-7c1e-4a39-9f0e-2f0c6a1d4b77"

func sealed(body string) []byte { return appendSeal([]byte(body)) }

func TestOldEntriesAndSnapshotsAreRemovedWhenTwoNewerSnapshotsExist(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := trimEagerly(openOn(t, b, snapshotEvery(1<<40)))
	uid := createIndex(t, s, "logs")
	log, done := s.logs.use("logs")
	defer done()
	for round := range 4 {
		stage(t, s, uid, fmt.Sprint("split-", round)) // version round + 2
		if err := log.snapshot(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(parseVersions(names(t, b, log.keys.snapshots()))); got != "[4 5]" {
		t.Errorf("snapshots %s, want [4 5]", got)
	}
	if got := fmt.Sprint(parseVersions(names(t, b, log.keys.entries()))); got != "[4 5]" {
		t.Errorf("entries %s, want [4 5]", got)
	}
	wantListing(t, openOn(t, b), "logs/split-0=Staged", "logs/split-1=Staged", "logs/split-2=Staged", "logs/split-3=Staged")
}

func TestNothingIsRemovedThatThisProcessHasNotKnownForLong(t *testing.T) {
	t.Parallel()
	b, s := grown(t, 6, 3, 4, 5)
	log, done := s.logs.use("logs")
	defer done()
	if err := log.snapshot(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := len(parseVersions(names(t, b, log.keys.entries()))); got != 6 {
		t.Fatalf("%d entries are left, want 6", got)
	}
}

// trimTo moves the log of an index far ahead, by another store, and removes what is behind.
func trimTo(t *testing.T, b bucket, uid metastore.IndexUID) *Store {
	t.Helper()
	other := trimEagerly(openOn(t, b, snapshotEvery(1<<40)))
	log, done := other.logs.use(uid.IndexID)
	defer done()
	for round := range 3 {
		stage(t, other, uid, fmt.Sprint("other-", round))
		if err := log.snapshot(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	return other
}

func TestAStoreThatSleptWhileEntriesWereRemovedStartsOver(t *testing.T) {
	t.Parallel()
	want := []string{"logs/mine=Staged", "logs/other-0=Staged", "logs/other-1=Staged", "logs/other-2=Staged"}
	for name, wakeUp := range map[string]func(*testing.T, *Store, metastore.IndexUID) []string{
		"to read": func(*testing.T, *Store, metastore.IndexUID) []string { return want },
		"to write": func(t *testing.T, s *Store, uid metastore.IndexUID) []string {
			stage(t, s, uid, "zzz")
			return append(want, "logs/zzz=Staged")
		},
		"to do nothing": func(t *testing.T, s *Store, uid metastore.IndexUID) []string {
			stage := metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("other-2"), CreateOnly: true}
			if result, err := s.StageSplits(t.Context(), stage); err != nil || len(result.Skipped) != 1 {
				t.Errorf("stage: %+v, %v", result, err)
			}
			return want
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := memBucket(t)
			sleeper := trimEagerly(openOn(t, b))
			uid := createIndex(t, sleeper, "logs")
			stage(t, sleeper, uid, "mine")
			other := trimTo(t, b, uid)
			want := wakeUp(t, sleeper, uid)
			wantListing(t, sleeper, want...)
			wantListing(t, other, want...)
			wantListing(t, openOn(t, b), want...)
		})
	}
}

func TestAPutThatArrivesAfterItsVersionWasRemovedIsNoEntry(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	sleeper := trimEagerly(openOn(t, b))
	uid := createIndex(t, sleeper, "logs")
	stage(t, sleeper, uid, "mine")
	trimTo(t, b, uid)
	late := entry{version: 3, time: 1, ops: []op{stageOp(withUID(uid, newSplits("late")))}}
	if err := b.Create(context.Background(), logKeys{"logs/"}.entry(3), late.append(nil)); err != nil {
		t.Fatal(err)
	}
	want := []string{"logs/mine=Staged", "logs/other-0=Staged", "logs/other-1=Staged", "logs/other-2=Staged"}
	wantListing(t, sleeper, want...)
	wantListing(t, openOn(t, b), want...)
}

func TestAnIndexCreatedInAFormerLifeOfItsLogIsNotCreatedTwice(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	sleeper := trimEagerly(openOn(t, b))
	if _, err := sleeper.stateOf(t.Context(), "logs"); err != nil {
		t.Fatal(err)
	}
	log, done := sleeper.logs.use("logs") // it knows version 0
	defer done()
	if _, err := log.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	creator := openOn(t, b)
	uid := createIndex(t, creator, "logs")
	trimTo(t, b, uid)
	state, err := sleeper.stateOf(t.Context(), "logs")
	if err != nil || state.index == nil || state.index.IndexUID != uid {
		t.Fatalf("state %+v, %v", state, err)
	}
}

// afterCreate is a bucket that does something once an object has been created, before the creator knows.
type afterCreate struct {
	bucket
	key string
	do  func()
}

func (a *afterCreate) Create(ctx context.Context, key string, data []byte) error {
	err := a.bucket.Create(ctx, key, data)
	if err == nil && key == a.key {
		a.do()
	}
	return err
}

// The snapshot of the version before has long been known, so the next one makes all entries up to it superfluous. The one
// by which the creator sees that it did not sleep must stay.
func TestACommitIsNotTakenForALateOneThoughEntriesAreRemovedAtOnce(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	hook := &afterCreate{bucket: b, key: logKeys{"logs/"}.entry(3)}
	s := openOn(t, hook, snapshotEvery(1<<40))
	s.env.confirmAge = 0
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "first")

	other := openOn(t, b, snapshotEvery(1<<40))
	late := time.Duration(0)
	other.env.clock = func() time.Time { return time.Now().Add(late) }
	wantListing(t, other, "logs/first=Staged")
	log, done := other.logs.use("logs")
	defer done()
	snapshot := func() {
		if err := log.snapshot(context.Background(), 0); err != nil {
			t.Error(err)
		}
	}
	snapshot()
	late = 2 * removalAge
	hook.do = func() {
		stage(t, other, uid, "other")
		snapshot()
	}
	result, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("mine"), CreateOnly: true})
	if err != nil || len(result.Staged) != 1 {
		t.Errorf("stage: %+v, %v; want one staged split", result, err)
	}
	if got := fmt.Sprint(parseVersions(names(t, b, log.keys.entries()))); got != "[2 3 4]" {
		t.Errorf("entries %s, want [2 3 4]", got)
	}
	wantListing(t, openOn(t, b), "logs/first=Staged", "logs/mine=Staged", "logs/other=Staged")
}
