package storetest

import (
	"holdfast/metastore"
)

func parquetMarkCases() []parquetCase {
	return []parquetCase{
		{"S-114 a marked split is marked for deletion, the other stays Published", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s1", "s2")...)
			b.publish(uid, "s1", "s2")
			b.mark(uid, "s1")
			b.wantListed(b.inStates(uid, metastore.MarkedForDeletion), "s1")
			b.wantListed(b.inStates(uid, metastore.Published), "s2")
		}},
		{"splits of any state are marked, unknown ids are ignored", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.mark(uid, "x", "published", "marked", "staged", "published", "\x00")
			b.wantListed(b.inStates(uid, metastore.MarkedForDeletion), "marked", "published", "staged")
		}},
		{"canon H39 marking moves the update timestamp, marking again does not", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			now := b.nextSecond()
			b.mark(uid, "staged", "marked")
			query := b.all(uid)
			query.UpdateTimestamp.Start = included(now)
			b.wantListed(query, "staged")
		}},
		{"marking nothing, in an unknown index, or under another incarnation changes nothing and is no error", func(b *parquetBundle) {
			uid, other := b.index("a"), b.index("b")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.mark(uid)
			b.mark(b.unknownIndex(), "staged")
			b.mark(b.unknownIndex())
			b.mark(otherIncarnation(uid), "staged")
			b.mark(other, "staged")
			check()
		}},
	}
}

func parquetDeleteCases() []parquetCase {
	return []parquetCase{
		{"S-115 a marked split is deleted", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			b.publish(uid, "s1")
			b.mark(uid, "s1")
			b.delete(uid, "s1")
			b.wantListed(b.inStates(uid, metastore.Staged, metastore.Published, metastore.MarkedForDeletion))
		}},
		{"S-116 deleting an unknown split succeeds", func(b *parquetBundle) {
			b.delete(b.index("a"), "x", "\x00")
		}},
		{"all splits that are not marked are named, in the order of the request, each once, and nothing is deleted", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.wantFailedPreconditionSplits(b.tryDelete(uid, "marked", "staged", "x", "published", "staged"), b.fullIDs("staged", "published")...)
			check()
		}},
		{"deleting nothing, in an unknown index, or under another incarnation changes nothing and is no error", func(b *parquetBundle) {
			uid, other := b.index("a"), b.index("b")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.delete(uid)
			b.delete(b.unknownIndex(), "marked", "staged")
			b.delete(b.unknownIndex())
			b.delete(otherIncarnation(uid), "marked")
			b.delete(other, "marked", "staged")
			check()
		}},
		{"a deleted split may be staged again", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.delete(uid, "marked", "marked")
			b.stage(uid, b.newSplit(uid, "marked"))
			b.wantListed(b.inStates(uid, metastore.Staged), "marked", "staged")
		}},
	}
}
