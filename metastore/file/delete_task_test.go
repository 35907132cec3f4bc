package file

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

func deleteTask(uid metastore.IndexUID, opstamp uint64) metastore.DeleteTask {
	return metastore.DeleteTask{CreateTimestamp: 1787311111, Opstamp: opstamp, Query: metastore.DeleteQuery{
		IndexUID: uid, StartTimestamp: metastore.Some[int64](-5), QueryAST: `{"type":"term","value":"é"}`,
	}}
}

func createTask(t testing.TB, s *Store, uid metastore.IndexUID) metastore.DeleteTask {
	t.Helper()
	task, err := s.CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: uid, QueryAST: "{}"})
	if err != nil {
		t.Fatalf("create delete task: %v", err)
	}
	return task
}

func opstamps(t testing.TB, s *Store, uid metastore.IndexUID) string {
	t.Helper()
	tasks, err := s.ListDeleteTasks(t.Context(), uid, 0)
	if err != nil {
		t.Fatal(err)
	}
	var opstamps []uint64
	for _, task := range tasks {
		opstamps = append(opstamps, task.Opstamp)
	}
	return fmt.Sprint(opstamps)
}

func TestOpstampsGoOnWhereAnotherProcessLeftOff(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		s := openOn(t, keepOpen{b})
		logs, other := createIndex(t, s, "logs"), createIndex(t, s, "other")
		createTask(t, s, logs)
		createTask(t, s, logs)
		again := openOn(t, keepOpen{b})
		if task := createTask(t, again, logs); task.Opstamp != 3 {
			t.Errorf("the third task has opstamp %d, want 3", task.Opstamp)
		}
		if task := createTask(t, again, other); task.Opstamp != 1 {
			t.Errorf("the first task of the other index has opstamp %d, want 1", task.Opstamp)
		}
		if got := opstamps(t, s, logs); got != "[1 2 3]" {
			t.Errorf("the first process lists opstamps %s", got)
		}
	})
}

func TestOpstampsNeverGoBackAcrossSnapshots(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	uid := createIndex(t, openOn(t, b), "logs")
	for want := uint64(1); want <= 8; want++ {
		// A fresh process each time, that has only what the storage has.
		s := trimEagerly(openOn(t, b, snapshotEvery(1)))
		if task := createTask(t, s, uid); task.Opstamp != want {
			t.Fatalf("opstamp %d, want %d", task.Opstamp, want)
		}
		log, done := s.logs.use("logs")
		if err := log.snapshot(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		done()
	}
	if got := opstamps(t, openOn(t, b), uid); got != "[1 2 3 4 5 6 7 8]" {
		t.Errorf("listed opstamps %s", got)
	}
}

func floorOf(t testing.TB, s *Store, uid metastore.IndexUID) uint64 {
	t.Helper()
	floor, err := s.DeleteOpstampFloor(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	return floor
}

func TestTheOpstampFloorIsKeptAcrossProcessesSnapshotsAndIncarnations(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]int{"in the log": 0, "in a snapshot": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := memBucket(t)
			uid := createIndex(t, openOn(t, b), "logs")
			// again returns a fresh process, that has only what the storage has.
			again := func() *Store {
				s := openOn(t, b)
				if kept == 0 {
					return s
				}
				s = trimEagerly(openOn(t, b, snapshotEvery(1)))
				log, done := s.logs.use("logs")
				defer done()
				if _, err := log.advance(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := log.snapshot(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				return openOn(t, b)
			}
			if err := again().RaiseDeleteOpstampFloor(t.Context(), uid, 40); err != nil {
				t.Fatal(err)
			}
			if floor := floorOf(t, again(), uid); floor != 40 {
				t.Errorf("the floor is %d, want 40", floor)
			}
			if task := createTask(t, again(), uid); task.Opstamp != 41 {
				t.Errorf("opstamp %d, want 41", task.Opstamp)
			}
			if err := again().DeleteIndex(t.Context(), uid); err != nil {
				t.Fatal(err)
			}
			if floor := floorOf(t, again(), uid); floor != 41 {
				t.Errorf("the floor of the deleted index is %d, want 41", floor)
			}
			request := metastore.CreateIndexRequest{Config: indexConfig(t, "logs"), Incarnation: metastore.Some(uid.Incarnation)}
			if _, err := again().CreateIndex(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			if task := createTask(t, again(), uid); task.Opstamp != 42 {
				t.Errorf("opstamp %d under the same incarnation, want 42", task.Opstamp)
			}
		})
	}
}

func TestANewIncarnationHasNoTasks(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	uid := createIndex(t, s, "logs")
	createTask(t, s, uid)
	if err := s.DeleteIndex(t.Context(), uid); err != nil {
		t.Fatal(err)
	}
	again := createIndex(t, s, "logs")
	if old, now := opstamps(t, s, uid), opstamps(t, s, again); old != "[]" || now != "[]" {
		t.Errorf("tasks of the old incarnation %s, of the new one %s", old, now)
	}
	if task := createTask(t, s, again); task.Opstamp != 1 {
		t.Errorf("the first task has opstamp %d", task.Opstamp)
	}
}

func TestACallAboutOpstampsThatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a")
	update := func(opstamp uint64, ids ...string) {
		t.Helper()
		if err := s.UpdateSplitsDeleteOpstamp(t.Context(), uid, ids, opstamp); err != nil {
			t.Fatal(err)
		}
	}
	update(7, "a")
	before := counting.puts.Load()
	update(7, "a", "unknown")
	update(8, "unknown")
	update(8)
	for _, floor := range []uint64{0, createTask(t, s, uid).Opstamp} {
		before = counting.puts.Load()
		if err := s.RaiseDeleteOpstampFloor(t.Context(), uid, floor); err != nil {
			t.Fatal(err)
		}
	}
	if puts := counting.puts.Load() - before; puts != 0 {
		t.Errorf("%d objects were created", puts)
	}
}

func TestAnEntryWhoseOpstampDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{7}}
	state := newIndexState()
	index := metastore.NewIndexMetadata(uid, metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}, 5)
	for _, o := range []op{createOp{index}, createDeleteTaskOp{deleteTask(uid, 4)}} {
		if err := state.apply(o, 1); err != nil {
			t.Fatal(err)
		}
	}
	for want, o := range map[string]op{
		"opstamp 4 is not above 4": createDeleteTaskOp{deleteTask(uid, 4)},
		"opstamp 3 is not above 4": createDeleteTaskOp{deleteTask(uid, 3)},
		"the index is logs:":       createDeleteTaskOp{deleteTask(metastore.IndexUID{IndexID: "logs"}, 5)},
		"2 is not above 4":         raiseDeleteOpstampOp(2),
		`there is no split "gone"`: updateDeleteOpstampOp{[]string{"gone"}, 1},
	} {
		if err := state.apply(o, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
