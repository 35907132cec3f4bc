package storetest

import "holdfast/metastore"

// replaceSplitsCases are about publishing splits that replace others.
func replaceSplitsCases() []testCase {
	return []testCase{
		{"S-17 replacing in an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryReplace(unknown, []string{"x"}, []string{"y"}), unknown)
		}},
		{"S-18 unknown splits in both lists give NotFound of them all", func(b *bundle) {
			b.wantNotFoundSplits(b.tryReplace(b.index("a"), []string{"x"}, []string{"y"}), "x", "y")
		}},
		{"S-19 an unknown staged split gives NotFound and marks nothing", func(b *bundle) {
			uid := b.published("s1")
			b.wantNotFoundSplits(b.tryReplace(uid, []string{"s2"}, []string{"s1"}), "s2")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published})
		}},
		{"S-20 a staged split that is marked gives FailedPrecondition of it", func(b *bundle) {
			uid := b.published("s1", "s2")
			b.mark(uid, "s2")
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"s2"}, []string{"s1"}), "s2")
		}},
		{"S-21 an unknown staged split next to a Staged one gives NotFound and publishes nothing", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			b.wantNotFoundSplits(b.tryReplace(uid, []string{"s2", "s3"}, []string{"s1"}), "s3")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published, "s2": metastore.Staged})
		}},
		{"S-22 a replaced split that is marked gives FailedPrecondition of exactly it", func(b *bundle) {
			uid := b.published("s1")
			b.mark(uid, "s1")
			b.stage(uid, newSplit("s2"))
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"s2"}, []string{"s1"}), "s1")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.MarkedForDeletion, "s2": metastore.Staged})
		}},
		{"S-23 two Staged splits replace a Published one", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplits("s2", "s3")...)
			b.replace(uid, []string{"s2", "s3"}, []string{"s1"})
			b.wantStates(uid, map[string]metastore.SplitState{
				"s1": metastore.MarkedForDeletion, "s2": metastore.Published, "s3": metastore.Published,
			})
		}},
		{"a replaced split that is Staged gives FailedPrecondition of it", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2")...)
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"s2"}, []string{"s1"}), "s1")
			b.wantIDs(b.inState(uid, metastore.Staged), "s1", "s2")
		}},
		{"splits may be replaced by nothing", func(b *bundle) {
			uid := b.published("s1", "s2")
			b.replace(uid, nil, []string{"s1"})
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.MarkedForDeletion, "s2": metastore.Published})
		}},
		{"canon H14 an unknown replaced split beats a staged one in a wrong state: NotFound", func(b *bundle) {
			uid := b.published("s1")
			b.wantNotFoundSplits(b.tryReplace(uid, []string{"s1"}, []string{"y"}), "y")
		}},
		{"canon H14 a staged split in a wrong state beats a replaced one", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"published"}, []string{"staged"}), "published")
		}},
		{"canon H14 unknown splits of both lists are named staged ones first, in the order of the request, each once", func(b *bundle) {
			uid := b.index("a")
			b.wantNotFoundSplits(b.tryReplace(uid, []string{"z", "c", "z"}, []string{"y", "a", "c"}), "z", "c", "y", "a")
		}},
		{"canon H14 a replaced split named twice is marked once", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			b.replace(uid, []string{"s2", "s2"}, []string{"s1", "s1"})
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.MarkedForDeletion, "s2": metastore.Published})
		}},
		{"canon H14 a Staged split in both lists gives FailedPrecondition of it as replaced and changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"s1"}, []string{"s1"}), "s1")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"canon H14 a Published split in both lists gives FailedPrecondition of it as staged", func(b *bundle) {
			uid := b.published("s1")
			b.wantFailedPreconditionSplits(b.tryReplace(uid, []string{"s1"}, []string{"s1"}), "s1")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published})
		}},
		{"replacing under another incarnation gives NotFound of the index and changes nothing", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			b.wantNotFoundIndex(b.tryReplace(otherIncarnation(uid), []string{"s2"}, []string{"s1"}), uid)
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published, "s2": metastore.Staged})
		}},
		{"a merge of a thousand splits is one step", func(b *bundle) {
			ids := numbered("s", 1000)
			uid := b.published(ids...)
			b.stage(uid, newSplit("merged"))
			b.replace(uid, []string{"merged"}, ids)
			b.wantIDs(b.inState(uid, metastore.Published), "merged")
			b.wantIDs(b.inState(uid, metastore.MarkedForDeletion), ids...)
		}},
	}
}

// published creates an index with Published splits of the given ids.
func (b *bundle) published(ids ...string) metastore.IndexUID {
	b.Helper()
	uid := b.index("a")
	b.stage(uid, newSplits(ids...)...)
	b.publish(uid, ids...)
	return uid
}
