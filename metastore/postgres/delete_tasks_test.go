package postgres

import (
	"context"
	"fmt"
	"testing"

	"holdfast/metastore"
)

func createTask(t testing.TB, store metastore.Store, uid metastore.IndexUID) metastore.DeleteTask {
	t.Helper()
	task, err := store.CreateDeleteTask(context.Background(), metastore.DeleteQuery{
		IndexUID: uid, EndTimestamp: metastore.Some[int64](9), QueryAST: `{"type":"match_all"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Two transactions create tasks of one index. While the first, which has drawn its opstamp, is not committed, the
// second has not drawn one: whoever sees the second's opstamp sees the first's, too.
// D1.9 of the checklist in interop_test.go.
func TestOpstampsBecomeVisibleInTheirOrder(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	r := newRival(t, dsn)
	first := queryValue[int64](t, r.conn, "WITH created AS ("+createDeleteTaskSQL+") SELECT opstamp FROM created", uid.String(), "{}")
	var second metastore.DeleteTask
	err := r.whileWaiting(func() (err error) {
		second, err = store.CreateDeleteTask(context.Background(), metastore.DeleteQuery{IndexUID: uid})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if second.Opstamp <= uint64(first) {
		t.Errorf("the task that was committed second has opstamp %d, the first %d", second.Opstamp, first)
	}
}

func TestTasksOfTwoIndexesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	createIndex(t, store, "other")
	newRival(t, dsn, "SELECT 1 FROM indexes WHERE index_id = 'other' FOR NO KEY UPDATE")
	createTask(t, store, uid)
}

func TestCreatingATaskWaitsNeitherForStagingNorForMarking(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	newRival(t, dsn, "SELECT 1 FROM indexes FOR KEY SHARE") // what they hold
	createTask(t, store, uid)
}

func TestATaskThatIsRefusedUsesNoOpstampUp(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	first := createTask(t, store, uid)
	_, err := store.CreateDeleteTask(context.Background(), metastore.DeleteQuery{IndexUID: metastore.IndexUID{IndexID: "logs"}})
	expectRefused(t, err, metastore.KindNotFound)
	if last := queryValue[int64](t, connect(t, dsn), "SELECT last_value FROM delete_tasks_opstamp_seq"); uint64(last) != first.Opstamp {
		t.Errorf("the sequence stands at %d, want %d", last, first.Opstamp)
	}
}

// TestTheCounterIsNotSetBackBehindOpstampsThatAreBeingDrawn: the other transaction is any program's, the peer's for one.
func TestTheCounterIsNotSetBackBehindOpstampsThatAreBeingDrawn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	other, observer := connect(t, dsn), connect(t, dsn)
	transaction, err := other.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	insert := func(n int) {
		t.Helper()
		const task = "INSERT INTO delete_tasks (create_timestamp, index_uid, delete_query_json) SELECT now(), $1, $2 FROM generate_series(1, $3::int)"
		if _, err := transaction.Exec(ctx, task, uid.String(), "{}", n); err != nil {
			t.Fatal(err)
		}
	}
	insert(1)
	raised := make(chan error, 1)
	go func() { raised <- store.RaiseDeleteOpstampFloor(ctx, uid, 5) }()
	waitUntil(t, "the raise waits for the transaction", func() bool {
		return queryValue[int64](t, observer, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	})
	insert(20)
	if err := transaction.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-raised; err != nil {
		t.Fatal(err)
	}
	if last := queryValue[int64](t, observer, "SELECT last_value FROM delete_tasks_opstamp_seq"); last != 21 {
		t.Errorf("the sequence stands at %d, want 21", last)
	}
	if task := createTask(t, store, uid); task.Opstamp != 22 {
		t.Errorf("the next opstamp is %d, want 22", task.Opstamp)
	}
}

func TestACounterThatIsHighEnoughIsReadWithoutALock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	task := createTask(t, store, uid)
	transaction, err := connect(t, dsn).Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transaction.Exec(ctx, "LOCK TABLE delete_tasks IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	if err := store.RaiseDeleteOpstampFloor(ctx, uid, task.Opstamp); err != nil {
		t.Fatal(err)
	}
	if err := transaction.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstOpstampIsAboveAFloorOfOne(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	for _, floor := range []uint64{0, 1} {
		before, err := store.DeleteOpstampFloor(t.Context(), uid)
		if err != nil || before != 0 {
			t.Fatalf("the floor is %d, %v, want 0", before, err)
		}
		if err := store.RaiseDeleteOpstampFloor(t.Context(), uid, floor); err != nil {
			t.Fatal(err)
		}
	}
	if task := createTask(t, store, uid); task.Opstamp != 2 {
		t.Errorf("opstamp %d, want 2", task.Opstamp)
	}
}

func TestATaskHasTheColumnsThatThePeerReads(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	task := createTask(t, store, uid)
	got := queryValue[string](t, connect(t, dsn), `SELECT concat_ws(' ', opstamp, index_uid, extract(epoch FROM create_timestamp)::numeric, delete_query_json) FROM delete_tasks`)
	want := fmt.Sprintf(`%d %s %d.000000 {"index_uid":"%[2]s","end_timestamp":9,"query_ast":"{\"type\":\"match_all\"}"}`, task.Opstamp, uid, task.CreateTimestamp)
	if got != want {
		t.Errorf("the row is\n%s\nwant\n%s", got, want)
	}
}

func TestTasksThatThePeerOrSomebodyElseWroteAreRead(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	conn := connect(t, dsn)
	insert := "INSERT INTO delete_tasks (opstamp, create_timestamp, index_uid, delete_query_json) VALUES ($1, '2026-01-02 03:04:05.9', $2, $3)"
	exec(t, conn, insert, 9, uid.String(), `{"index_id":"`+uid.String()+`","query":"x"}`)
	exec(t, conn, insert, 4, uid.String(), `{"index_uid":null,"start_timestamp":-1,"query_ast":""}`)
	tasks, err := store.ListDeleteTasks(context.Background(), uid, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []metastore.DeleteTask{
		{CreateTimestamp: 1767323045, Opstamp: 4, Query: metastore.DeleteQuery{IndexUID: uid, StartTimestamp: metastore.Some[int64](-1)}},
		{CreateTimestamp: 1767323045, Opstamp: 9, Query: metastore.DeleteQuery{IndexUID: uid, QueryAST: "x"}},
	}
	if fmt.Sprint(tasks) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", tasks, want)
	}
	exec(t, conn, insert, 10, uid.String(), `{}`)
	_, err = store.ListDeleteTasks(context.Background(), uid, 0)
	if got := metastore.AsError(err); got == nil || got.Kind != metastore.KindJSONDeserializeError {
		t.Errorf("a row that cannot be read gives %v", err)
	}
}

func TestUpdatingAnOpstampChangesTheColumnAndNotTheDocument(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	conn := connect(t, dsn)
	before := queryValue[string](t, conn, "SELECT split_metadata_json FROM splits")
	if err := store.UpdateSplitsDeleteOpstamp(context.Background(), uid, []string{"a"}, 77); err != nil {
		t.Fatal(err)
	}
	if opstamp := queryValue[int64](t, conn, "SELECT delete_opstamp FROM splits"); opstamp != 77 {
		t.Errorf("the column holds %d", opstamp)
	}
	if after := queryValue[string](t, conn, "SELECT split_metadata_json FROM splits"); after != before {
		t.Errorf("the document changed from %s to %s", before, after)
	}
	version := rowVersion(t, dsn, "a")
	if err := store.UpdateSplitsDeleteOpstamp(context.Background(), uid, []string{"a"}, 77); err != nil {
		t.Fatal(err)
	}
	if again := rowVersion(t, dsn, "a"); again != version {
		t.Errorf("the same opstamp again wrote or locked the row: %s, before %s", again, version)
	}
}

func TestAnUpdateOfOpstampsSeesTheVersionThatItWaitedFor(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'Published', publish_timestamp = '2020-01-01' WHERE split_id = 'b'")
	err := r.whileWaiting(func() error {
		return store.UpdateSplitsDeleteOpstamp(context.Background(), uid, []string{"b", "a"}, 77)
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, states(t, store), "a Staged", "b Published")
	if n := queryValue[int64](t, connect(t, dsn), "SELECT count(*) FROM splits WHERE delete_opstamp = 77"); n != 2 {
		t.Errorf("%d splits have the opstamp", n)
	}
}
