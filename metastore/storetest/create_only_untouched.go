package storetest

import (
	"holdfast/metastore"
)

// createOnlyUntouchedCases show that a present split keeps every byte and every timestamp, when the clock has
// moved on and whatever else the call inserts.
func createOnlyUntouchedCases() []testCase {
	return []testCase{
		{"splits in every state keep all bytes and timestamps when the clock has moved, in a batch of their own and in one that inserts others", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.nextSecond()
			b.createOnly(uid, newSplit("staged", node("x")), newSplit("published", opstamp(9)), newSplit("marked", numDocs(1)))
			b.wantUnchanged(uid, before)
			b.createOnly(uid, newSplit("new"), newSplit("staged", node("x"), opstamp(9)), newSplit("published", node("x")), newSplit("marked", node("x")))
			b.wantUnchanged(uid, before)
		}},
		{"a refused batch leaves all bytes", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			if _, err := b.tryCreateOnly(otherIncarnation(uid), newSplits("staged", "new")...); err == nil {
				b.Error("another incarnation was accepted")
			}
			b.wantUnchanged(uid, before)
			b.wantStates(uid, map[string]metastore.SplitState{
				"staged": metastore.Staged, "published": metastore.Published, "marked": metastore.MarkedForDeletion,
			})
		}},
		{"repeating a batch ten times changes nothing after the first", func(b *bundle) {
			uid := b.index("a")
			batch := newSplits("s1", "s2", "s3")
			b.createOnly(uid, batch...)
			before := b.snapshot(uid)
			for range 10 {
				if result := b.createOnly(uid, batch...); result.Mutation != metastore.MutationNo {
					b.Error("a repetition mutated the index")
				}
			}
			b.wantUnchanged(uid, before)
		}},
		{"the filters see the values of the present split, not of the skipped document", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("indexer"), opstamp(1), tags("t:1")))
			b.createOnly(uid, newSplit("s1", node("recovery"), opstamp(9), tags("t:2")))
			found := metastore.AllSplits(uid)
			found.NodeID, found.Tags = metastore.Some("indexer"), tag("t:1")
			b.wantIDs(b.ids(found), "s1")
			lost := metastore.AllSplits(uid)
			lost.NodeID = metastore.Some("recovery")
			b.wantIDs(b.ids(lost))
		}},
		{"the size in the index stats stays that of the present split", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", fileSize(100)))
			b.createOnly(uid, newSplit("s1", fileSize(999)), newSplit("s2", fileSize(11)))
			if got := b.stats(uid).Staged; got != (metastore.SplitStats{NumSplits: 2, TotalSizeBytes: 111}) {
				b.Errorf("staged stats are %+v, want 2 splits of 111 bytes", got)
			}
		}},
	}
}
