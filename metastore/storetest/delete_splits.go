package storetest

import "holdfast/metastore"

// deleteSplitsCases are about DeleteSplits.
func deleteSplitsCases() []testCase {
	return []testCase{
		{"S-28 deleting no split of an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryDelete(unknown), unknown)
		}},
		{"deleting a split of an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryDelete(unknown, "x"), unknown)
		}},
		{"S-29 deleting no split under another incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			b.wantNotFoundIndex(b.tryDelete(otherIncarnation(uid)), uid)
		}},
		{"deleting under another incarnation gives NotFound of the index and deletes nothing", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.wantNotFoundIndex(b.tryDelete(otherIncarnation(uid), "marked"), uid)
			b.wantUnchanged(uid, before)
		}},
		{"S-30 deleting an unknown split succeeds", func(b *bundle) {
			b.delete(b.index("a"), "x")
		}},
		{"S-31 deleting a Published and a Staged split gives FailedPrecondition of both and deletes neither", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			b.wantFailedPreconditionSplits(b.tryDelete(uid, "s1", "s2"), "s1", "s2")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published, "s2": metastore.Staged})
		}},
		{"S-32 marked splits are deleted, unknown ones ignored", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			b.mark(uid, "s1", "s2")
			b.delete(uid, "s1", "s2", "x")
			b.wantStates(uid, nil)
		}},
		{"a marked split stays when another of the call cannot be deleted", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantFailedPreconditionSplits(b.tryDelete(uid, "marked", "published"), "published")
			b.wantIDs(b.inState(uid, metastore.MarkedForDeletion), "marked")
		}},
		{"splits that cannot be deleted are named in the order of the request, each once", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantFailedPreconditionSplits(b.tryDelete(uid, "staged", "marked", "published", "staged"), "staged", "published")
		}},
		{"a split named twice is deleted once", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.delete(uid, "marked", "marked")
			b.wantStates(uid, map[string]metastore.SplitState{"staged": metastore.Staged, "published": metastore.Published})
		}},
		{"deleting no split changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.delete(uid)
			b.wantUnchanged(uid, before)
		}},
		{"a split of another index is unknown and stays", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			b.lifeCycle(other)
			b.delete(uid, "marked", "published", "staged")
			if got := len(b.states(other)); got != 3 {
				b.Errorf("the other index has %d splits, want 3", got)
			}
		}},
		{"deleting again succeeds", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.delete(uid, "marked")
			b.delete(uid, "marked")
		}},
	}
}
