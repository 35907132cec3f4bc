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
		`there is no split "gone"`: updateDeleteOpstampOp{[]string{"gone"}, 1},
	} {
		if err := state.apply(o, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
