package storetest

import (
	"holdfast/metastore"
)

// stageSplitsCases are about staging in the default mode: upsert.
func stageSplitsCases() []testCase {
	return []testCase{
		{"S-36 staging in an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryStage(unknown, newSplit("a")), unknown)
		}},
		{"staging under another incarnation gives NotFound of the index and stages nothing", func(b *bundle) {
			uid := b.index("a")
			b.wantNotFoundIndex(b.tryStage(otherIncarnation(uid), newSplit("a")), uid)
			b.wantStates(uid, nil)
		}},
		{"staging under the nil incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			b.wantNotFoundIndex(b.tryStage(metastore.IndexUID{IndexID: uid.IndexID}, newSplit("a")), uid)
		}},
		{"staging under the empty index UID gives NotFound of the empty index id", func(b *bundle) {
			b.wantNotFoundIndex(b.tryStage(metastore.IndexUID{}, newSplit("a")), metastore.IndexUID{})
		}},
		{"staging no split succeeds without looking at the index", func(b *bundle) {
			b.stage(b.unknownIndex())
			b.stage(b.index("a"))
		}},
		{"S-37 staging two splits lists both as Staged with their node ids", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("node-1"), opstamp(20)), newSplit("s2", node("node-2"), opstamp(10)))
			b.wantIDs(b.inState(uid, metastore.Staged), "s1", "s2")
			for id, want := range map[string]string{"s1": "node-1", "s2": "node-2"} {
				if got := b.split(uid, id).Metadata.NodeID; got != want {
					b.Errorf("split %s has node id %q, want %q", id, got, want)
				}
			}
		}},
		{"S-38 staging a Staged split again succeeds", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.stage(uid, newSplit("s1"))
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"staging a Staged split again replaces every value of its document", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", timeRange(1, 2), tags("t!", "t:1"), opstamp(9), node("first"), immature(5000), numDocs(1)))
			b.stage(uid, newSplit("s1", node("second"), numDocs(2), fileSize(99)))
			got := b.split(uid, "s1").Metadata
			if got.TimeRange.Set || len(got.Tags) != 0 || got.DeleteOpstamp != 0 || got.Maturity.Immature {
				b.Errorf("values of the first document survive: %+v", got)
			}
			if got.NodeID != "second" || got.NumDocs != 2 || got.FooterEnd != 99 {
				b.Errorf("values of the second document are missing: %+v", got)
			}
		}},
		{"the filters see the values of the last staging only", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", timeRange(1, 2), tags("t:1"), opstamp(9), node("first")))
			b.stage(uid, newSplit("s1", timeRange(50, 60), tags("t:2"), opstamp(3), node("second")))
			old := metastore.AllSplits(uid)
			old.NodeID = metastore.Some("first")
			b.wantIDs(b.ids(old))
			now := metastore.AllSplits(uid)
			now.NodeID = metastore.Some("second")
			now.Tags = tag("t:2")
			now.TimeRange = from(50).until(61)
			now.DeleteOpstamp.End = metastore.Bound[uint64]{Kind: metastore.Excluded, Value: 4}
			b.wantIDs(b.ids(now), "s1")
		}},
		{"S-39 staging a Published split gives FailedPrecondition of it", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2")...)
			b.publish(uid, "s1", "s2")
			before := b.snapshot(uid)
			b.wantFailedPreconditionSplits(b.tryStage(uid, newSplit("s1", node("other"))), "s1")
			b.wantUnchanged(uid, before)
		}},
		{"S-40 staging a split marked for deletion gives FailedPrecondition of it", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2")...)
			b.publish(uid, "s1", "s2")
			b.mark(uid, "s2")
			before := b.snapshot(uid)
			b.wantFailedPreconditionSplits(b.tryStage(uid, newSplit("s2", node("other"))), "s2")
			b.wantUnchanged(uid, before)
		}},
		{"a batch with splits in a wrong state stages nothing and names only those, in the order of the request", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			err := b.tryStage(uid, newSplit("new"), newSplit("published", numDocs(1)), newSplit("staged", numDocs(1)), newSplit("marked"))
			b.wantFailedPreconditionSplits(err, "published", "marked")
			b.wantUnchanged(uid, before)
			b.wantStates(uid, map[string]metastore.SplitState{
				"staged": metastore.Staged, "published": metastore.Published, "marked": metastore.MarkedForDeletion,
			})
		}},
		{"a deleted split can be staged again", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.delete(uid, "marked")
			b.stage(uid, newSplit("marked"))
			if got := b.split(uid, "marked"); got.State != metastore.Staged || got.PublishTimestamp.Set {
				b.Errorf("split is %s with publish timestamp %v, want Staged without", got.State, got.PublishTimestamp)
			}
		}},
		{"the same split id in two indexes is two splits", func(b *bundle) {
			a, other := b.index("a"), b.index("b")
			b.stage(a, newSplit("s1", node("in-a")))
			b.stage(other, newSplit("s1", node("in-b")))
			b.publish(a, "s1")
			if got := b.split(other, "s1"); got.State != metastore.Staged || got.Metadata.NodeID != "in-b" {
				b.Errorf("split of the other index is %s of node %q", got.State, got.Metadata.NodeID)
			}
		}},
		{"canon H8 a split named twice in a batch is staged once, as named last", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("first")), newSplit("s2"), newSplit("s1", node("last")))
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged, "s2": metastore.Staged})
			if got := b.split(uid, "s1").Metadata.NodeID; got != "last" {
				b.Errorf("node id is %q, want that of the last occurrence", got)
			}
		}},
		{"canon H8 a Staged split named twice in a batch is overwritten once, as named last", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("old")))
			b.stage(uid, newSplit("s1", node("first")), newSplit("s1", node("last")))
			if got := b.split(uid, "s1").Metadata.NodeID; got != "last" {
				b.Errorf("node id is %q, want that of the last occurrence", got)
			}
		}},
		{"upsert reports neither staged nor skipped splits", func(b *bundle) {
			uid := b.index("a")
			result, err := b.store.StageSplits(b.ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("s1")})
			if err != nil || len(result.Staged) != 0 || len(result.Skipped) != 0 {
				b.Errorf("result is %+v, %v, want no lists", result, err)
			}
		}},
		{"F2 a staged split is listed at once", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.wantIDs(b.ids(metastore.AllSplits(uid)), "s1")
		}},
		{"a batch of a thousand splits is staged as a whole", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits(numbered("s", 1000)...)...)
			b.wantIDs(b.inState(uid, metastore.Staged), numbered("s", 1000)...)
		}},
	}
}
