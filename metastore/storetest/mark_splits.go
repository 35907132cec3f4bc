package storetest

import "holdfast/metastore"

// markSplitsCases are about MarkSplitsForDeletion.
func markSplitsCases() []testCase {
	return []testCase{
		{"S-24 marking no split of an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := metastore.IndexUID{IndexID: b.indexID("unknown")}
			b.wantNotFoundIndex(b.tryMark(unknown), unknown)
		}},
		{"marking a split of an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryMark(unknown, "x"), unknown)
		}},
		{"S-25 marking an unknown split succeeds", func(b *bundle) {
			uid := b.index("a")
			b.mark(uid, "x")
			b.wantStates(uid, nil)
		}},
		{"S-26 marking a Published split lists it alone as marked, updated since the start", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2", "s3")...)
			b.publish(uid, "s2", "s3")
			start := b.storeTimeNow()
			b.mark(uid, "s3")
			b.wantIDs(b.inState(uid, metastore.MarkedForDeletion), "s3")
			if got := b.split(uid, "s3").UpdateTimestamp; got < start {
				b.Errorf("update timestamp is %d, want %d or later", got, start)
			}
		}},
		{"S-27 marking again moves the timestamps of newly marked splits only", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2", "s3")...)
			b.publish(uid, "s2", "s3")
			b.mark(uid, "s3")
			before := b.snapshot(uid)
			later := b.nextSecond()
			b.mark(uid, "s1", "s2", "s3", "x")
			b.wantIDs(b.inState(uid, metastore.MarkedForDeletion), "s1", "s2", "s3")
			for _, id := range []string{"s1", "s2"} {
				if got := b.split(uid, id).UpdateTimestamp; got < later {
					b.Errorf("update timestamp of %s is %d, want %d or later", id, got, later)
				}
			}
			if got := b.snapshot(uid)["s3"]; got != before["s3"] {
				b.Errorf("the split that was marked changed from %s to %s", before["s3"], got)
			}
		}},
		{"a Staged split can be marked and has no publish timestamp", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.mark(uid, "s1")
			if got := b.split(uid, "s1"); got.State != metastore.MarkedForDeletion || got.PublishTimestamp.Set {
				b.Errorf("split is %s with publish timestamp %v", got.State, got.PublishTimestamp)
			}
		}},
		{"marking no split changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.mark(uid)
			b.wantUnchanged(uid, before)
		}},
		{"a split named twice is marked once", func(b *bundle) {
			uid := b.published("s1")
			b.mark(uid, "s1", "s1")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.MarkedForDeletion})
		}},
		{"marking leaves splits of the same id in other indexes alone", func(b *bundle) {
			uid, other := b.published("s1"), b.index("b")
			b.stage(other, newSplit("s1"))
			b.mark(uid, "s1")
			b.wantStates(other, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"canon H13 marking under another incarnation gives NotFound of the index and marks nothing", func(b *bundle) {
			uid := b.published("s1")
			b.wantNotFoundIndex(b.tryMark(otherIncarnation(uid), "s1"), uid)
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published})
		}},
		{"canon H13 marking no split under another incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			b.wantNotFoundIndex(b.tryMark(otherIncarnation(uid)), uid)
		}},
		{"I-124 all splits of an index can be marked and deleted", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			all := b.ids(metastore.AllSplits(uid))
			b.mark(uid, all...)
			b.delete(uid, all...)
			b.wantStates(uid, nil)
		}},
	}
}
