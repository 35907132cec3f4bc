package storetest

import (
	"fmt"
	"math"

	"holdfast/metastore"
)

// manyOpstamps is more than all cases that run at the same time draw, on a store with one counter for all indexes.
const manyOpstamps = 1_000_000

// opstampFloorCases are about DeleteOpstampFloor and RaiseDeleteOpstampFloor.
func opstampFloorCases() []testCase {
	return []testCase{
		{"a new task has an opstamp above the floor, and raises it", func(b *bundle) {
			uid := b.index("a")
			before := b.floor(uid)
			task := b.createTask(deleteQuery(uid))
			if after := b.floor(uid); task.Opstamp <= before || after < task.Opstamp {
				b.Errorf("the floor was %d and is %d, the opstamp is %d", before, after, task.Opstamp)
			}
		}},
		{"an index that does not exist has a floor", func(b *bundle) {
			unknown := b.unknownIndex()
			before := b.floor(unknown)
			uid := b.recover(unknown).IndexUID
			if task := b.createTask(deleteQuery(uid)); task.Opstamp <= before {
				b.Errorf("the floor was %d before the index was created, the opstamp is %d", before, task.Opstamp)
			}
			b.floor(metastore.IndexUID{IndexID: "a\x00b"})
		}},
		{"HAZARD-9 splits with opstamps of a lost metastore are stale for new tasks once the floor is raised", func(b *bundle) {
			uid := b.index("a")
			lost := b.floor(uid) + manyOpstamps
			b.stage(uid, newSplit("s1", opstamp(lost)), newSplit("s2", opstamp(3)))
			b.publish(uid, "s1", "s2")
			skipped := b.createTask(deleteQuery(uid))
			b.wantIDs(b.stale(uid, skipped.Opstamp+manyOpstamps/2, 10), "s2")

			b.raise(uid, lost)

			applied := b.createTask(deleteQuery(uid))
			if applied.Opstamp <= lost {
				b.Errorf("the opstamp is %d, want one above %d", applied.Opstamp, lost)
			}
			b.wantIDsInAnyOrder(b.stale(uid, applied.Opstamp, 10), "s1", "s2")
			b.wantTasks(uid, skipped.Opstamp, applied)
		}},
		{"a floor is never lowered", func(b *bundle) {
			uid := b.index("a")
			high := b.floor(uid) + manyOpstamps
			b.raise(uid, high)
			for _, lower := range []uint64{high, high - 1, 1, 0} {
				b.raise(uid, lower)
				if got := b.floor(uid); got < high {
					b.Fatalf("after raising it to %d and %d the floor is %d", high, lower, got)
				}
			}
			first, second := b.createTask(deleteQuery(uid)), b.createTask(deleteQuery(uid))
			if first.Opstamp <= high || second.Opstamp <= first.Opstamp {
				b.Errorf("opstamps are %d and %d, want ascending ones above %d", first.Opstamp, second.Opstamp, high)
			}
			b.wantTasks(uid, 0, first, second)
		}},
		{"raising the floor adds no task and touches no split", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.raise(uid, b.floor(uid)+10)
			if got := b.lastOpstamp(uid); got != 0 {
				b.Errorf("the last opstamp is %d", got)
			}
			b.wantTasks(uid, 0)
			b.wantUnchanged(uid, before)
		}},
		{"raising the floor of an unknown index or incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			before := b.floor(uid)
			for _, other := range []metastore.IndexUID{b.unknownIndex(), otherIncarnation(uid)} {
				b.wantNotFoundIndex(b.store.RaiseDeleteOpstampFloor(b.ctx, other, before+1000*manyOpstamps), other)
			}
			if got := b.floor(uid); got > before+500*manyOpstamps {
				b.Errorf("the floor was %d and is %d", before, got)
			}
		}},
		{"a floor that leaves no opstamp gives InvalidArgument", func(b *bundle) {
			uid := b.index("a")
			for _, floor := range []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
				b.wantKind(b.store.RaiseDeleteOpstampFloor(b.ctx, uid, floor), metastore.KindInvalidArgument)
			}
			b.createTask(deleteQuery(uid))
		}},
		{"eight clients create tasks and raise the floor: no opstamp is given twice, none is at or below a floor", func(b *bundle) {
			uid := b.index("a")
			base := b.floor(uid)
			const rounds = 20
			given := make([][]uint64, 8)
			for _, err := range b.concurrently(8, func(i int) error {
				for round := range uint64(rounds) {
					// Clients raise to different floors, some below what others have drawn.
					floor := base + round*50 + uint64(i)*7
					if err := b.store.RaiseDeleteOpstampFloor(b.ctx, uid, floor); err != nil {
						return err
					}
					task, err := b.store.CreateDeleteTask(b.ctx, deleteQuery(uid))
					if err != nil {
						return err
					}
					if task.Opstamp <= floor {
						return fmt.Errorf("opstamp %d was given after the floor was raised to %d", task.Opstamp, floor)
					}
					given[i] = append(given[i], task.Opstamp)
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			seen := map[uint64]bool{}
			for _, opstamps := range given {
				for _, each := range opstamps {
					if seen[each] {
						b.Errorf("opstamp %d was given twice", each)
					}
					seen[each] = true
				}
			}
		}},
	}
}

func (b *bundle) floor(uid metastore.IndexUID) uint64 {
	b.Helper()
	floor, err := b.store.DeleteOpstampFloor(b.ctx, uid)
	if err != nil {
		b.Fatalf("delete opstamp floor: %v", err)
	}
	return floor
}

func (b *bundle) raise(uid metastore.IndexUID, floor uint64) {
	b.Helper()
	if err := b.store.RaiseDeleteOpstampFloor(b.ctx, uid, floor); err != nil {
		b.Fatalf("raise the delete opstamp floor to %d: %v", floor, err)
	}
}
