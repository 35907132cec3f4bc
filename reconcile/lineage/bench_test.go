package lineage

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"holdfast/metastore"
)

// manyObjects makes an index of about n objects as a busy cluster leaves it behind: families of ten
// splits merged twice, some rewritten, some collected, some with a duplicate child, in eight partitions.
func manyObjects(n int) []Object {
	rng := rand.New(rand.NewPCG(1, 1))
	objects := make([]Object, 0, n)
	id := func(i int) string { return fmt.Sprintf("01M8P%021d", i) }
	made := 0
	add := func(partition, docs, ops, opstamp uint64, at int64, collected bool, parents ...string) string {
		made++
		name := id(made*7919%99_999_989 + made*100_000_000)
		if !collected {
			objects = append(objects, Object{
				ID: name, LastModified: at + 5, IndexUID: testUID, SourceID: "_ingest-source", PartitionID: partition, NumDocs: docs,
				TimeRange:       metastore.Some(metastore.TimeRange{Start: at - 600, End: at}),
				CreateTimestamp: at, NumMergeOps: ops, DeleteOpstamp: opstamp, Parents: parents,
			})
		}
		return name
	}
	for family := 0; len(objects) < n; family++ {
		partition, at := uint64(family%8), now-int64(60*24*3600)+int64(family)*20
		collected := rng.IntN(2) == 0
		var leaves []string
		for i := range 10 {
			leaves = append(leaves, add(partition, 1000, 0, 0, at+int64(i), collected))
		}
		merged := add(partition, 10_000, 1, 0, at+60, rng.IntN(2) == 0, leaves...)
		if rng.IntN(20) == 0 {
			add(partition, 10_000, 1, 0, at+61, false, leaves...)
		}
		late := add(partition, 1000, 0, 0, at+70, rng.IntN(2) == 0)
		top := add(partition, 11_000, 2, 0, at+120, false, merged, late)
		if rng.IntN(10) == 0 {
			add(partition, 10_900, 2, 1, at+180, false, top)
		}
	}
	return objects[:n]
}

func BenchmarkDecideMillionObjects(b *testing.B) {
	objects := manyObjects(1_000_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		plan, err := Decide(objects, nil, Options{IndexUID: testUID, ReferenceTime: now})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(published(plan))), "published")
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(before.HeapAlloc)/(1<<20), "MiB-input")
	b.ReportMetric(float64(after.Sys)/(1<<20), "MiB-process")
}
