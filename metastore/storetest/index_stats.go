package storetest

import (
	"holdfast/metastore"
)

// indexStatsCases are about ListIndexStats.
func indexStatsCases() []testCase {
	return []testCase{
		{"I-41 to I-43, I1 splits are counted and their file sizes added, by state", func(b *bundle) {
			first, second := b.index("1"), b.index("2")
			b.stage(first, newSplit("s1", fileSize(2048)), newSplit("s2", fileSize(2048)))
			b.publish(first, "s1", "s2")
			b.stage(second, newSplit("s3", fileSize(1000)))
			b.wantStats([]metastore.IndexStats{
				{IndexUID: first, Published: metastore.SplitStats{NumSplits: 2, TotalSizeBytes: 4096}},
				{IndexUID: second, Staged: metastore.SplitStats{NumSplits: 1, TotalSizeBytes: 1000}},
			}, b.prefix+"*")
		}},
		{"I-44, I2 an index without splits is listed with zeros", func(b *bundle) {
			uid := b.index("a")
			b.wantStats([]metastore.IndexStats{{IndexUID: uid}}, b.prefix+"*")
		}},
		{"F8 one split of each state", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", fileSize(2048)), newSplit("s2", fileSize(512)), newSplit("s3", fileSize(1024)))
			b.publish(uid, "s2")
			b.mark(uid, "s3")
			b.wantStats([]metastore.IndexStats{{
				IndexUID:          uid,
				Staged:            metastore.SplitStats{NumSplits: 1, TotalSizeBytes: 2048},
				Published:         metastore.SplitStats{NumSplits: 1, TotalSizeBytes: 512},
				MarkedForDeletion: metastore.SplitStats{NumSplits: 1, TotalSizeBytes: 1024},
			}}, uid.IndexID)
		}},
		{"the stats follow staging again, replacing and deleting", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", fileSize(100)), newSplit("s2", fileSize(50)))
			b.stage(uid, newSplit("s1", fileSize(70)))
			b.publish(uid, "s1")
			b.replace(uid, []string{"s2"}, []string{"s1"})
			want := metastore.IndexStats{
				IndexUID:          uid,
				Published:         metastore.SplitStats{NumSplits: 1, TotalSizeBytes: 50},
				MarkedForDeletion: metastore.SplitStats{NumSplits: 1, TotalSizeBytes: 70},
			}
			b.wantStats([]metastore.IndexStats{want}, uid.IndexID)
			b.delete(uid, "s1")
			want.MarkedForDeletion = metastore.SplitStats{}
			b.wantStats([]metastore.IndexStats{want}, uid.IndexID)
		}},
		{"no match gives no stats", func(b *bundle) {
			b.wantStats(nil, b.prefix+"*")
		}},
		{"negative patterns exclude, and the order is that of the UIDs", func(b *bundle) {
			first, second, _ := b.index("1"), b.index("2"), b.index("3-not")
			b.wantStats([]metastore.IndexStats{{IndexUID: first}, {IndexUID: second}}, b.prefix+"*", "-*-not")
		}},
		{"canon H29 an underscore stands for itself", func(b *bundle) {
			under, _ := b.index("my_index-1"), b.index("my-index-1")
			b.wantStats([]metastore.IndexStats{{IndexUID: under}}, b.prefix+"-my_index*")
		}},
		{"a deleted index has no stats", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.deleteIndex(uid)
			b.wantStats(nil, b.prefix+"*")
			again := b.createIndex(uid.IndexID)
			b.wantStats([]metastore.IndexStats{{IndexUID: again}}, b.prefix+"*")
		}},
	}
}

func (b *bundle) wantStats(want []metastore.IndexStats, patterns ...string) {
	b.Helper()
	got, err := b.store.ListIndexStats(b.ctx, b.patterns(patterns...))
	if err != nil {
		b.Fatalf("index stats of %q: %v", patterns, err)
	}
	if len(got) != len(want) {
		b.Fatalf("index stats of %q are %+v, want %+v", patterns, got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			b.Errorf("index stats are %+v, want %+v", got[i], want[i])
		}
	}
}

// stats returns the stats of one index.
func (b *bundle) stats(uid metastore.IndexUID) metastore.IndexStats {
	b.Helper()
	got, err := b.store.ListIndexStats(b.ctx, b.patterns(uid.IndexID))
	if err != nil || len(got) != 1 {
		b.Fatalf("index stats of %s: %+v, %v", uid, got, err)
	}
	return got[0]
}
