package storetest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"holdfast/metastore"
)

// deleteTasksCases are about CreateDeleteTask, LastDeleteOpstamp and ListDeleteTasks.
func deleteTasksCases() []testCase {
	return []testCase{
		{"S-91 a task for an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			_, err := b.store.CreateDeleteTask(b.ctx, deleteQuery(unknown))
			b.wantNotFoundIndex(err, unknown)
		}},
		{"S-92 a task for another incarnation gives NotFound of the index and adds none", func(b *bundle) {
			uid := b.index("a")
			_, err := b.store.CreateDeleteTask(b.ctx, deleteQuery(otherIncarnation(uid)))
			b.wantNotFoundIndex(err, uid)
			b.wantTasks(uid, 0)
		}},
		{"S-93 a task has an opstamp above 0 and echoes its query", func(b *bundle) {
			query := deleteQuery(b.index("a"))
			query.StartTimestamp, query.EndTimestamp = metastore.Some[int64](1), metastore.Some[int64](2)
			before := b.storeTimeNow()
			task := b.createTask(query)
			if task.Opstamp == 0 || task.Query != query || task.CreateTimestamp < before {
				b.Errorf("task is %+v, want one of query %+v created at %d or later", task, query, before)
			}
		}},
		{"S-94 the second task has a greater opstamp", func(b *bundle) {
			query := deleteQuery(b.index("a"))
			first, second := b.createTask(query), b.createTask(query)
			if second.Opstamp <= first.Opstamp {
				b.Errorf("opstamps are %d and then %d", first.Opstamp, second.Opstamp)
			}
		}},
		{"S-95 the last opstamp of an index without tasks is 0", func(b *bundle) {
			if got := b.lastOpstamp(b.index("a")); got != 0 {
				b.Errorf("last opstamp is %d", got)
			}
		}},
		{"S-96 each index has a last opstamp of its own", func(b *bundle) {
			a, other := b.index("a"), b.index("b")
			b.createTask(deleteQuery(a))
			second, third := b.createTask(deleteQuery(a)), b.createTask(deleteQuery(other))
			if got := b.lastOpstamp(a); got != second.Opstamp {
				b.Errorf("last opstamp is %d, want %d", got, second.Opstamp)
			}
			if got := b.lastOpstamp(other); got != third.Opstamp {
				b.Errorf("last opstamp of the other index is %d, want %d", got, third.Opstamp)
			}
		}},
		{"S-97 deleting an index deletes its tasks, and the next incarnation has none", func(b *bundle) {
			uid := b.index("a")
			b.createTask(deleteQuery(uid))
			b.createTask(deleteQuery(uid))
			if err := b.store.DeleteIndex(b.ctx, uid); err != nil {
				b.Fatalf("delete index: %v", err)
			}
			again := b.createIndex(uid.IndexID)
			for _, each := range []metastore.IndexUID{uid, again} {
				b.wantTasks(each, 0)
				if got := b.lastOpstamp(each); got != 0 {
					b.Errorf("last opstamp of %s is %d", each, got)
				}
			}
		}},
		{"S-98 a listing has the tasks of one index", func(b *bundle) {
			a, other := b.index("a"), b.index("b")
			first, second := b.createTask(deleteQuery(a)), b.createTask(deleteQuery(a))
			b.createTask(deleteQuery(other))
			b.wantTasks(a, 0, first, second)
		}},
		{"S-99 a listing begins behind the given opstamp", func(b *bundle) {
			uid := b.index("a")
			first, second := b.createTask(deleteQuery(uid)), b.createTask(deleteQuery(uid))
			b.wantTasks(uid, first.Opstamp, second)
			b.wantTasks(uid, second.Opstamp)
			b.wantTasks(uid, first.Opstamp-1, first, second)
		}},
		{"canon H6 a listing behind an opstamp above 2^63-1 is empty", func(b *bundle) {
			uid := b.index("a")
			b.createTask(deleteQuery(uid))
			for _, after := range []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
				b.wantTasks(uid, after)
			}
		}},
		{"an unknown index, and another incarnation, has no tasks and the last opstamp 0", func(b *bundle) {
			uid := b.index("a")
			b.createTask(deleteQuery(uid))
			for _, other := range []metastore.IndexUID{b.unknownIndex(), otherIncarnation(uid), {}, {IndexID: "../up"}, {IndexID: "a\x00b"}} {
				b.wantTasks(other, 0)
				if got := b.lastOpstamp(other); got != 0 {
					b.Errorf("last opstamp of %q is %d", other, got)
				}
			}
		}},
		{"nothing of a query is checked, and it is listed as it came", func(b *bundle) {
			uid := b.index("a")
			var want []metastore.DeleteTask
			for _, query := range []metastore.DeleteQuery{
				{},
				{QueryAST: "not a query, \"quoted\" \\ and \u00fc\u2028\x00\n"},
				{QueryAST: `{"type":"match_all"}`, StartTimestamp: metastore.Some[int64](9), EndTimestamp: metastore.Some[int64](3)},
				{StartTimestamp: metastore.Some[int64](math.MinInt64), EndTimestamp: metastore.Some[int64](math.MaxInt64)},
				{StartTimestamp: metastore.Some[int64](0)},
			} {
				query.IndexUID = uid
				want = append(want, b.createTask(query))
				if got := want[len(want)-1].Query; got != query {
					b.Errorf("the task echoes %+v, want %+v", got, query)
				}
			}
			b.wantTasks(uid, 0, want...)
		}},
		{"canon H26 tasks created at once: whoever has seen an opstamp never finds a lower one that is new", func(b *bundle) {
			uid := b.index("a")
			var mu sync.Mutex
			created := map[uint64]bool{}
			for _, err := range b.concurrently(clients, func(int) error {
				var seen []uint64
				for range 6 {
					task, err := b.store.CreateDeleteTask(b.ctx, deleteQuery(uid))
					if err != nil {
						return err
					}
					mu.Lock()
					again := created[task.Opstamp]
					created[task.Opstamp] = true
					mu.Unlock()
					listed, err := b.taskOpstamps(uid)
					switch {
					case err != nil:
						return err
					case again:
						return fmt.Errorf("opstamp %d was given twice", task.Opstamp)
					case !slices.IsSorted(listed) || !slices.Contains(listed, task.Opstamp):
						return fmt.Errorf("after opstamp %d the listing has %d", task.Opstamp, listed)
					case !slices.Equal(listed[:min(len(seen), len(listed))], seen):
						return fmt.Errorf("the listing began with %d and now with %d", seen, listed)
					}
					seen = listed
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
		}},
	}
}

func deleteQuery(uid metastore.IndexUID) metastore.DeleteQuery {
	return metastore.DeleteQuery{IndexUID: uid, QueryAST: `{"type":"match_all"}`}
}

func (b *bundle) createTask(query metastore.DeleteQuery) metastore.DeleteTask {
	b.Helper()
	task, err := b.store.CreateDeleteTask(b.ctx, query)
	if err != nil {
		b.Fatalf("create delete task: %v", err)
	}
	return task
}

func (b *bundle) lastOpstamp(uid metastore.IndexUID) uint64 {
	b.Helper()
	opstamp, err := b.store.LastDeleteOpstamp(b.ctx, uid)
	if err != nil {
		b.Fatalf("last delete opstamp: %v", err)
	}
	return opstamp
}

// wantTasks checks the tasks of an index above an opstamp, in order.
func (b *bundle) wantTasks(uid metastore.IndexUID, after uint64, want ...metastore.DeleteTask) {
	b.Helper()
	got, err := b.store.ListDeleteTasks(b.ctx, uid, after)
	if err != nil {
		b.Fatalf("list delete tasks: %v", err)
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		b.Errorf("tasks of %s above %d are %+v, want %+v", uid, after, got, want)
	}
}

func (b *bundle) taskOpstamps(uid metastore.IndexUID) ([]uint64, error) {
	tasks, err := b.store.ListDeleteTasks(b.ctx, uid, 0)
	opstamps := make([]uint64, len(tasks))
	for i := range tasks {
		opstamps[i] = tasks[i].Opstamp
	}
	return opstamps, err
}
