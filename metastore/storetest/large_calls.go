package storetest

import (
	"context"
	"slices"

	"holdfast/metastore"
)

// largeCallsCases are about calls on more than metastore.MaxAtomicSplitIDs splits, which a store may do in pieces.
func largeCallsCases() []testCase {
	const large = metastore.MaxAtomicSplitIDs + 2500
	return []testCase{
		{"a large call marks, stamps and deletes every split", func(b *bundle) {
			uid := b.index("a")
			ids := b.stageMany(uid, large)
			b.stamp(uid, 7, ids...)
			b.mark(uid, ids...)
			b.wantCounts(uid, 0, large)
			if got := b.countOpstamp(uid, 7); got != large {
				b.Errorf("%d splits have the opstamp, want %d", got, large)
			}
			b.delete(uid, ids...)
			b.wantCounts(uid, 0, 0)
		}},
		{"a large call may name splits twice, in any order, and unknown ones", func(b *bundle) {
			uid := b.index("a")
			ids := b.stageMany(uid, 3000)
			named := append(numbered("unknown", large), ids...)
			named = append(named, ids...)
			slices.Reverse(named)
			b.mark(uid, named...)
			b.wantCounts(uid, 0, 3000)
			b.delete(uid, named...)
			b.wantCounts(uid, 0, 0)
		}},
		{"a large deletion with one split that is not marked removes nothing and names it", func(b *bundle) {
			uid := b.index("a")
			ids := b.stageMany(uid, large)
			b.mark(uid, ids[:large-1]...)
			b.wantFailedPreconditionSplits(b.tryDelete(uid, ids...), ids[large-1])
			b.wantCounts(uid, 1, large-1)
		}},
		{"a large call on an unknown index gives NotFound of the index", func(b *bundle) {
			unknown, ids := b.unknownIndex(), numbered("x", large)
			b.wantNotFoundIndex(b.tryMark(unknown, ids...), unknown)
			b.wantNotFoundIndex(b.tryDelete(unknown, ids...), unknown)
			b.wantNotFoundIndex(b.tryStamp(unknown, 7, ids...), unknown)
		}},
		{"a large call whose caller is gone does nothing", func(b *bundle) {
			uid := b.index("a")
			ids := b.stageMany(uid, large)
			gone, leave := context.WithCancel(b.ctx)
			leave()
			for _, err := range []error{
				b.store.MarkSplitsForDeletion(gone, uid, ids),
				b.store.DeleteSplits(gone, uid, ids),
				b.store.UpdateSplitsDeleteOpstamp(gone, uid, ids, 7),
			} {
				b.wantKind(err, metastore.KindTimeout)
			}
			b.wantCounts(uid, large, 0)
			if got := b.countOpstamp(uid, 7); got != 0 {
				b.Errorf("%d splits have the opstamp, want none", got)
			}
		}},
		{"a large call marks and deletes every Parquet split", func(bundle *bundle) {
			b := &parquetBundle{bundle, metastore.MetricsSplits}
			uid := b.index("a")
			names := b.stageMany(uid, large)
			b.mark(uid, names[1:]...)
			b.wantListed(b.inStates(uid, metastore.Staged), names[0])
			b.wantFailedPreconditionSplits(b.tryDelete(uid, append(names, "unknown")...), b.id(names[0]))
			gone, leave := context.WithCancel(b.ctx)
			leave()
			b.wantKind(b.store.MarkParquetSplitsForDeletion(gone, b.kind, uid, b.fullIDs(names...)), metastore.KindTimeout)
			b.wantKind(b.store.DeleteParquetSplits(gone, b.kind, uid, b.fullIDs(names...)), metastore.KindTimeout)
			if got := len(b.names(b.inStates(uid, metastore.MarkedForDeletion))); got != large-1 {
				b.Errorf("%d splits are marked, want %d", got, large-1)
			}
			b.mark(uid, append(slices.Clone(names), names...)...)
			b.delete(uid, append(names, "unknown")...)
			b.wantListed(b.all(uid))
		}},
	}
}

// stageMany stages n Parquet splits and returns their names.
func (b *parquetBundle) stageMany(uid metastore.IndexUID, n int) []string {
	b.Helper()
	names := numbered("s", n)
	for batch := range slices.Chunk(names, 5000) {
		b.stage(uid, b.newSplits(uid, batch...)...)
	}
	return names
}

// stageMany stages n splits and returns their ids.
func (b *bundle) stageMany(uid metastore.IndexUID, n int) []string {
	b.Helper()
	ids := numbered("s", n)
	for batch := range slices.Chunk(ids, 5000) {
		b.stage(uid, newSplits(batch...)...)
	}
	return ids
}

// wantCounts checks how many splits of an index are Staged and marked.
func (b *bundle) wantCounts(uid metastore.IndexUID, staged, marked uint64) {
	b.Helper()
	if got := b.stats(uid); got.Staged.NumSplits != staged || got.MarkedForDeletion.NumSplits != marked {
		b.Errorf("%d splits are Staged and %d marked, want %d and %d", got.Staged.NumSplits, got.MarkedForDeletion.NumSplits, staged, marked)
	}
}

// countOpstamp counts the splits of an index with a delete opstamp.
func (b *bundle) countOpstamp(uid metastore.IndexUID, opstamp uint64) int {
	b.Helper()
	query := metastore.AllSplits(uid)
	bound := metastore.Bound[uint64]{Kind: metastore.Included, Value: opstamp}
	query.DeleteOpstamp = metastore.FilterRange[uint64]{Start: bound, End: bound}
	n := 0
	if err := b.store.ListSplits(b.ctx, query, func(*metastore.SplitRow) error { n++; return nil }); err != nil {
		b.Fatalf("list splits: %v", err)
	}
	return n
}
