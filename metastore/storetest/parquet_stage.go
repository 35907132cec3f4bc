package storetest

import (
	"math"
	"strings"

	"holdfast/metastore"
)

func parquetStageCases() []parquetCase {
	return []parquetCase{
		{"S-100 staging in an unknown index gives NotFound of the index", func(b *parquetBundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryStage(unknown, b.newSplit(unknown, "s1")), unknown)
		}},
		{"staging under another incarnation gives NotFound of the index", func(b *parquetBundle) {
			uid := b.index("a")
			other := otherIncarnation(uid)
			b.wantNotFoundIndex(b.tryStage(other, b.newSplit(other, "s1")), uid)
			b.wantStates(uid, nil)
		}},
		{"S-101 staged splits are Staged", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplits(uid, "s2", "s1")...)
			b.wantListed(b.inStates(uid, metastore.Staged), "s1", "s2")
		}},
		{"S-102 staging a Staged split again replaces it", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			again := b.newSplit(uid, "s1", numRows(200))
			again.SizeBytes = 8192
			b.stage(uid, again)
			listed := b.list(b.inStates(uid, metastore.Staged))
			if len(listed) != 1 || listed[0].Document != again.Document() {
				b.Fatalf("listed %+v, want one split %s", listed, again.Document())
			}
		}},
		{"staging nothing succeeds without looking at the index", func(b *parquetBundle) {
			if err := b.tryStage(b.unknownIndex()); err != nil {
				b.Fatal(err)
			}
		}},
		{"every value of a document is listed as it was staged", func(b *parquetBundle) {
			uid := b.index("a")
			split := b.newSplit(uid, "s1", parquetTags("service", `quote " and \ and é`, ""), parquetTags("host"), parquetTags("zone", "x"), compactionWindow(-900, 900, "name|time/V2"))
			split.PartitionID = math.MaxUint64
			split.TimeStart, split.TimeEnd, split.NumRows, split.SizeBytes = math.MaxInt64, 0, math.MaxInt64, math.MaxInt64
			split.MetricNames = []string{"mem", "cpu", "{}", `a"b`, "NULL"}
			split.HighCardinalityTagKeys = []string{"user", "pod"}
			split.CreatedNanos = 5
			split.Maturity = metastore.Maturity{Immature: true, PeriodMillis: 172_800_999}
			split.NumMergeOps = math.MaxInt32
			split.RowKeys = []byte{0, 8, 255}
			split.ZonemapRegexes = map[string]string{"service": `^a\.b"$`, "a": ""}
			split.RowGroupPartitionPrefix = math.MaxUint32
			empty := b.newSplit(uid, "s2")
			empty.RowKeys, empty.MetricNames = []byte{}, nil
			b.stage(uid, split, empty)
			listed := b.list(b.all(uid))
			if len(listed) != 2 || listed[0].Document != split.Document() || listed[1].Document != empty.Document() {
				b.Fatalf("listed %+v\nwant %s\nand %s", listed, split.Document(), empty.Document())
			}
		}},
		{"unknown keys of a document are kept", func(b *parquetBundle) {
			uid := b.index("a")
			document := strings.TrimSuffix(ptr(b.newSplit(uid, "s1")).Document(), "}") + `,"new":{"a":[1,2]}}`
			split, err := metastore.ParseParquetSplitMetadata([]byte(document))
			if err != nil {
				b.Fatal(err)
			}
			b.stage(uid, split)
			if listed := b.list(b.all(uid)); len(listed) != 1 || listed[0].Document != document {
				b.Fatalf("listed %+v, want %s", listed, document)
			}
		}},
		{"the kind in the document is not compared with the call's", func(b *parquetBundle) {
			uid := b.index("a")
			split := b.newSplit(uid, "s1")
			split.Kind = b.otherKind()
			b.stage(uid, split)
			b.wantListed(b.all(uid), "s1")
		}},
		{"canon H31 a Published split fails the call, and nothing is staged", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			b.wantFailedPreconditionSplits(b.tryStage(uid, b.newSplits(uid, "new", "published", "staged")...), b.id("published"))
			check()
		}},
		{"canon H31 all splits that are not Staged are named, in the order of the request, each once", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			err := b.tryStage(uid, b.newSplits(uid, "published", "staged", "marked", "new", "published")...)
			b.wantFailedPreconditionSplits(err, b.fullIDs("published", "marked")...)
			check()
		}},
		{"canon H32 a document of another index is refused", func(b *parquetBundle) {
			uid, other := b.index("a"), b.index("b")
			for _, split := range []metastore.ParquetSplitMetadata{
				b.newSplit(other, "s1"), b.newSplit(otherIncarnation(uid), "s1"),
				b.newSplit(uid, "s1", func(m *metastore.ParquetSplitMetadata) { m.IndexUID = "" }),
			} {
				b.wantKind(b.tryStage(uid, b.newSplit(uid, "s0"), split), metastore.KindInvalidArgument)
			}
			b.wantStates(uid, nil)
			b.wantStates(other, nil)
		}},
		{"canon H32 an id that another index has is refused or another split, as the store's keys are", func(b *parquetBundle) {
			uid, other := b.index("a"), b.index("b")
			b.stage(other, b.newSplit(other, "s2", numRows(7)))
			check := b.unchanged(other)
			err := b.tryStage(uid, b.newSplits(uid, "s1", "s2")...)
			if b.profile.ParquetIDsAreGlobal {
				b.wantFailedPreconditionSplits(err, b.id("s2"))
				b.wantStates(uid, nil)
			} else {
				if err != nil {
					b.Fatal(err)
				}
				b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged, "s2": metastore.Staged})
			}
			check()
		}},
		{"a split that is twice in a call counts with its last occurrence", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1", numRows(1)), b.newSplit(uid, "s0"), b.newSplit(uid, "s1", numRows(2)))
			listed := b.list(b.all(uid))
			if want := b.newSplit(uid, "s1", numRows(2)); len(listed) != 2 || listed[1].Document != want.Document() {
				b.Fatalf("listed %+v", listed)
			}
		}},
		{"staging a Staged split again moves its update timestamp and keeps its create timestamp", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			created := b.list(b.all(uid))[0].UpdateTimestamp
			b.nextSecond()
			b.stage(uid, b.newSplit(uid, "s1"))
			if updated := b.list(b.all(uid))[0].UpdateTimestamp; updated <= created {
				b.Fatalf("update timestamp is %d, want one after %d", updated, created)
			}
			query := b.all(uid)
			query.CreateTimestamp = metastore.FilterRange[int64]{
				Start: metastore.Bound[int64]{Kind: metastore.Included, Value: created - 1}, End: metastore.Bound[int64]{Kind: metastore.Included, Value: created},
			}
			b.wantListed(query, "s1")
		}},
		{"canon H6 values that PostgreSQL cannot hold are refused, and nothing is staged", func(b *parquetBundle) {
			uid := b.index("a")
			for name, change := range map[string]func(*metastore.ParquetSplitMetadata){
				"an id of 51 characters": func(m *metastore.ParquetSplitMetadata) { m.SplitID = strings.Repeat("é", 51) },
				"a zero byte":            func(m *metastore.ParquetSplitMetadata) { m.MetricNames = []string{"a\x00"} },
				"a start above 2^63-1":   func(m *metastore.ParquetSplitMetadata) { m.TimeStart = 1 << 63 },
				"an end above 2^63-1":    func(m *metastore.ParquetSplitMetadata) { m.TimeEnd = 1 << 63 },
				"rows above 2^63-1":      func(m *metastore.ParquetSplitMetadata) { m.NumRows = 1 << 63 },
				"bytes above 2^63-1":     func(m *metastore.ParquetSplitMetadata) { m.SizeBytes = 1 << 63 },
				"merges above 2^31-1":    func(m *metastore.ParquetSplitMetadata) { m.NumMergeOps = 1 << 31 },
				"a window above 2^31-1":  compactionWindow(0, 1<<31, ""),
				"a window behind 2^63-1": compactionWindow(math.MaxInt64, 2, ""),
				"a late maturity":        immatureFrom(1<<62, 1000),
			} {
				err := b.tryStage(uid, b.newSplit(uid, "s0"), b.newSplit(uid, "s1", change))
				if err == nil {
					b.Fatalf("%s was accepted", name)
				}
				b.wantKind(err, metastore.KindInvalidArgument)
			}
			b.wantStates(uid, nil)
		}},
		{"the splits of one kind are unknown to the calls about the other", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			check := b.unchanged(uid)
			other := &parquetBundle{b.bundle, b.otherKind()}
			other.wantStates(uid, nil)
			other.wantNotFoundSplits(other.tryPublish(uid, "staged"), b.id("staged"))
			other.mark(uid, "published")
			other.delete(uid, "marked")
			other.stage(uid, other.newSplits(uid, "published")...)
			check()
			other.wantStates(uid, map[string]metastore.SplitState{"published": metastore.Staged})
		}},
		{"I-125 and canon H40 an index with Parquet splits in every state can be deleted, and its successor has none", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.deleteIndex(uid)
			b.wantStates(uid, nil)
			again := b.createIndex(uid.IndexID)
			b.wantStates(again, nil)
			b.stage(again, b.newSplits(again, "published")...)
			b.wantStates(again, map[string]metastore.SplitState{"published": metastore.Staged})
		}},
		{"Parquet splits do not count in the statistics of the index", func(b *parquetBundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			if stats := b.stats(uid); stats != (metastore.IndexStats{IndexUID: uid}) {
				b.Fatalf("statistics are %+v", stats)
			}
		}},
	}
}

func ptr[T any](value T) *T { return &value }
