package storetest

import (
	"fmt"
	"math"

	"holdfast/metastore"
)

// deleteOpstampsCases are about UpdateSplitsDeleteOpstamp.
func deleteOpstampsCases() []testCase {
	return []testCase{
		{"S-41 updating a split of an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryStamp(unknown, 5, "s1"), unknown)
		}},
		{"updating under another incarnation gives NotFound of the index and changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.wantNotFoundIndex(b.tryStamp(otherIncarnation(uid), 5, "staged"), uid)
			b.wantUnchanged(uid, before)
		}},
		{"canon H25 updating no split succeeds, whatever the index", func(b *bundle) {
			b.stamp(b.index("a"), 5)
			b.stamp(b.unknownIndex(), 5)
		}},
		{"splits of any state are updated, and show it in the document and to filters", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.stamp(uid, 40, "marked", "published", "staged")
			query := metastore.AllSplits(uid)
			query.DeleteOpstamp = metastore.FilterRange[uint64]{
				Start: metastore.Bound[uint64]{Kind: metastore.Included, Value: 40}, End: metastore.Bound[uint64]{Kind: metastore.Included, Value: 40},
			}
			b.wantIDsInAnyOrder(b.ids(query), "marked", "published", "staged")
			b.wantOpstamps(uid, map[string]uint64{"marked": 40, "published": 40, "staged": 40})
		}},
		{"an opstamp may go down", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(40)))
			b.stamp(uid, 7, "s1")
			b.wantOpstamps(uid, map[string]uint64{"s1": 7})
			b.stamp(uid, 0, "s1")
			b.wantOpstamps(uid, map[string]uint64{"s1": 0})
		}},
		{"only the opstamp and the update timestamp of a split change", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(3), timeRange(5, 9), tags("a:1"), immature(60_000)), newSplit("s2", opstamp(3)))
			b.publish(uid, "s1")
			before := b.split(uid, "s1")
			b.stamp(uid, 40, "s1")
			got := b.split(uid, "s1")
			want := before
			want.Metadata = before.Metadata.WithDeleteOpstamp(40)
			want.UpdateTimestamp = got.UpdateTimestamp
			if row, wanted := got.Row(), want.Row(); row != wanted {
				b.Errorf("the split is %+v, want %+v", row, wanted)
			}
			b.wantOpstamps(uid, map[string]uint64{"s1": 40, "s2": 3})
		}},
		{"canon H25 the update timestamp moves when the opstamp changes, and else stays", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(3)), newSplit("s2", opstamp(4)))
			before := b.snapshot(uid)
			later := b.nextSecond()
			b.stamp(uid, 4, "s1", "s2")
			if got := b.split(uid, "s1").UpdateTimestamp; got < later {
				b.Errorf("update timestamp is %d, want %d or later", got, later)
			}
			delete(before, "s1")
			b.wantUnchanged(uid, before)
		}},
		{"canon H25 unknown splits are ignored, known ones updated", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2")...)
			b.stamp(uid, 9, "x", "a\x00b")
			b.stamp(uid, 9, "x", "s1")
			b.stamp(uid, 9, "s2", "x")
			b.wantOpstamps(uid, map[string]uint64{"s1": 9, "s2": 9})
		}},
		{"a split named twice is updated once", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.stamp(uid, 8, "s1", "s1")
			b.wantOpstamps(uid, map[string]uint64{"s1": 8})
		}},
		{"splits of the same id in other indexes stay as they are", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			b.stage(uid, newSplit("s1"))
			b.stage(other, newSplit("s1", opstamp(3)))
			b.stamp(uid, 8, "s1")
			b.wantOpstamps(other, map[string]uint64{"s1": 3})
		}},
		{"staging again takes the opstamp of the document", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(1)))
			b.stamp(uid, 40, "s1")
			b.createOnly(uid, newSplit("s1", opstamp(2)))
			b.wantOpstamps(uid, map[string]uint64{"s1": 40})
			b.stage(uid, newSplit("s1", opstamp(5)))
			b.wantOpstamps(uid, map[string]uint64{"s1": 5})
		}},
		{"publishing, replacing and marking keep the opstamp", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			b.stamp(uid, 40, "s1", "s2")
			b.replace(uid, []string{"s2"}, []string{"s1"})
			b.mark(uid, "s2")
			b.wantOpstamps(uid, map[string]uint64{"s1": 40, "s2": 40})
		}},
		{"canon H6 the greatest opstamp is 2^63-1; one above gives InvalidArgument and changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.stamp(uid, math.MaxInt64, "s1")
			b.wantKind(b.tryStamp(uid, math.MaxInt64+1, "s1"), metastore.KindInvalidArgument)
			b.wantKind(b.tryStamp(uid, math.MaxUint64, "s1"), metastore.KindInvalidArgument)
			b.wantOpstamps(uid, map[string]uint64{"s1": math.MaxInt64})
		}},
		{"updates at once, shuffled, all succeed and each shows on all of its splits or is overwritten", func(b *bundle) {
			uid := b.index("a")
			all := numbered("s", 50)
			b.stage(uid, newSplits(all...)...)
			for _, err := range b.concurrently(clients, func(client int) error {
				for round := range 5 {
					ids := shuffledSample(client*100+round, all, len(all))
					if err := b.tryStamp(uid, uint64(client*100+round+1), ids...); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			opstamps := map[uint64]bool{}
			for _, split := range b.list(metastore.AllSplits(uid)) {
				opstamps[split.Metadata.DeleteOpstamp] = true
			}
			if len(opstamps) != 1 {
				b.Errorf("the splits have the opstamps %v, want those of one call", opstamps)
			}
		}},
	}
}

// staleSplitsCases are about ListStaleSplits.
func staleSplitsCases() []testCase {
	return []testCase{
		{"S-42 to S-44 stale splits are Published and below the opstamp", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(20)), newSplit("s2", opstamp(10)), newSplit("s3"))
			b.publish(uid, "s1", "s2")
			b.wantIDs(b.stale(uid, 100, 2), "s2", "s1")
			b.stamp(uid, 100, "s1", "s2")
			b.wantIDs(b.stale(uid, 100, 2))
			b.wantIDsInAnyOrder(b.stale(uid, 200, 2), "s1", "s2")
			b.wantOpstamps(uid, map[string]uint64{"s1": 100, "s2": 100, "s3": 0})
		}},
		{"S-82 to S-86 stale splits are Published, mature and below the opstamp, in the order of opstamp and publish time", func(b *bundle) {
			b.wantIDs(b.stale(b.unknownIndex(), 0, 100))
			uid := b.index("a")
			now := b.storeTimeNow()
			b.stage(uid, newSplit("s1", opstamp(20)), newSplit("s2", opstamp(10)), newSplit("s3"), newSplit("s5", created(now), immature(100_000)))
			b.stage(uid, newSplit("s4", opstamp(20)))
			b.publish(uid, "s4")
			b.nextSecond()
			b.publish(uid, "s1", "s2", "s5")
			b.wantIDs(b.stale(uid, 100, 1), "s2")
			b.wantIDs(b.stale(uid, 100, 4), "s2", "s4", "s1")
			b.wantIDs(b.stale(uid, 20, 2), "s2")
			b.wantIDs(b.stale(uid, 10, 2))
		}},
		{"no more than the limit are returned, those of the lowest opstamps", func(b *bundle) {
			uid := b.index("a")
			var ids []string
			for i := range 5 {
				id := fmt.Sprintf("s%d", 5-i)
				b.stage(uid, newSplit(id, opstamp(uint64(i))))
				ids = append(ids, id)
			}
			b.publish(uid, ids...)
			b.wantIDs(b.stale(uid, 100, 0))
			b.wantIDs(b.stale(uid, 100, 3), "s5", "s4", "s3")
			b.wantIDs(b.stale(uid, 3, 100), "s5", "s4", "s3")
			b.wantIDs(b.stale(uid, 100, math.MaxUint64), ids...)
		}},
		{"of equal opstamps the one that was published first comes first", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2")...)
			b.publish(uid, "s2")
			b.nextSecond()
			b.publish(uid, "s1")
			b.wantIDs(b.stale(uid, 1, 10), "s2", "s1")
		}},
		{"a split is stale once it is mature", func(b *bundle) {
			uid := b.index("a")
			now := b.storeTimeNow()
			b.stage(uid, newSplit("ripe", created(now-100), immature(50_000)), newSplit("green", created(now), immature(3_600_000)))
			b.publish(uid, "ripe", "green")
			b.wantIDs(b.stale(uid, 100, 10), "ripe")
		}},
		{"canon H6 opstamps above 2^63-1 are above all", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(math.MaxInt64)))
			b.publish(uid, "s1")
			b.wantIDs(b.stale(uid, math.MaxInt64, 10))
			b.wantIDs(b.stale(uid, math.MaxInt64+1, 10), "s1")
			b.wantIDs(b.stale(uid, math.MaxUint64, 10), "s1")
		}},
		{"an unknown index, and another incarnation, has no stale splits", func(b *bundle) {
			uid := b.published("s1")
			b.wantIDs(b.stale(b.unknownIndex(), 100, 10))
			b.wantIDs(b.stale(otherIncarnation(uid), 100, 10))
		}},
	}
}

func (b *bundle) stamp(uid metastore.IndexUID, opstamp uint64, ids ...string) {
	b.Helper()
	if err := b.tryStamp(uid, opstamp, ids...); err != nil {
		b.Fatalf("update the delete opstamp of %v: %v", ids, err)
	}
}

func (b *bundle) tryStamp(uid metastore.IndexUID, opstamp uint64, ids ...string) error {
	return b.store.UpdateSplitsDeleteOpstamp(b.ctx, uid, ids, opstamp)
}

// stale returns the ids of stale splits in the order of the store.
func (b *bundle) stale(uid metastore.IndexUID, opstamp, limit uint64) []string {
	b.Helper()
	var ids []string
	query := metastore.StaleSplitsQuery{IndexUID: uid, DeleteOpstamp: opstamp, Limit: limit}
	err := b.store.ListStaleSplits(b.ctx, query, func(row *metastore.SplitRow) error {
		split, err := row.Split()
		ids = append(ids, split.Metadata.SplitID)
		return err
	})
	if err != nil {
		b.Fatalf("list stale splits: %v", err)
	}
	return ids
}

// wantOpstamps checks the delete opstamp of every split of an index.
func (b *bundle) wantOpstamps(uid metastore.IndexUID, want map[string]uint64) {
	b.Helper()
	splits := b.list(metastore.AllSplits(uid))
	for _, split := range splits {
		id := split.Metadata.SplitID
		if got, wanted := split.Metadata.DeleteOpstamp, want[id]; got != wanted {
			b.Errorf("the delete opstamp of %s is %d, want %d", id, got, wanted)
		}
	}
	if len(splits) != len(want) {
		b.Errorf("the index has %d splits, want %d", len(splits), len(want))
	}
}
