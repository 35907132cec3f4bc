package containment_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile/segment"
)

// longIndex makes n splits of an index that was written for a long time: four indexers make a split a
// minute each, merges of ten are there, and of every second merge the parents too; delete tasks rewrote some
// of the merges, whose files are left. Documents are in blocks of four; splits of indexers have two blocks, or
// eight, which merges copy.
func longIndex(n int, timed, copied bool) ([]containment.Object, map[string][]segment.Digest) {
	rng := rand.New(rand.NewPCG(1, 1))
	docs := map[string][]segment.Digest{}
	var objects []containment.Object
	made, next := int64(0), uint64(0)
	area := func(docs []segment.Digest) (bytes []byte) {
		for _, doc := range docs {
			bytes = append(bytes, doc[:]...)
		}
		return bytes
	}
	add := func(origin segment.Origin, opstamp uint64, minute int64, minutes int64, of []segment.Digest) {
		o := containment.Object{
			ID: fmt.Sprintf("%09d", len(objects)), Made: metastore.Some(minute * 60_000), Born: minute*60 + 5, NumDocs: uint64(len(of)),
			Compression: segment.Uncompressed, Origin: origin, Opstamp: opstamp, AreaChecksum: crc32.ChecksumIEEE(area(of)),
		}
		if timed {
			o.TimeRange = metastore.Some(metastore.TimeRange{Start: (minute - minutes) * 60, End: minute * 60})
		}
		for from := 0; from < len(of); from += 4 {
			size := 16 * len(of[from:min(from+4, len(of))])
			o.Blocks = append(o.Blocks, segment.Block{Docs: uint32(size / 16), Size: uint32(size)})
		}
		objects, docs[o.ID] = append(objects, o), of
	}
	for family := 0; len(objects) < n; family++ {
		var all []segment.Digest
		for range 10 {
			length := 8
			if copied {
				length = 32
			}
			var own []segment.Digest
			for range length {
				next++
				sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, next))
				own = append(own, segment.Digest(sum[:16]))
			}
			made++
			if family%2 == 0 {
				add(segment.Indexed, 0, made/4, 2, own)
			}
			all = append(own, all...)
		}
		add(segment.Merged, 0, made/4+1, 5, all)
		if rng.IntN(20) == 0 {
			add(segment.Merged, 1, made/4+2, 5, all[1:])
		}
	}
	return objects, docs
}

// BenchmarkLegacyDecide decides an index whose janitor nobody attests, with all reads served from memory.
// It reports the time of the processor for each split, and the most memory that was resident.
func BenchmarkLegacyDecide(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 50_000} {
		for _, kind := range []struct {
			name                    string
			timed, copied, attested bool
		}{
			{"copied", true, true, false}, {"compared", true, false, false}, {"compared-attested", true, false, true}, {"untimed-attested", false, false, true},
		} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				objects, docs := longIndex(n, kind.timed, kind.copied)
				options := containment.Options{Attested: kind.attested, Reference: objects[len(objects)-1].Born + 60, NoRewrites: !kind.attested && kind.copied}
				var content map[string]*containment.Content
				var result *containment.Result
				before := usage(b)
				for b.Loop() {
					content = map[string]*containment.Content{}
					result = decideFromMemory(b, objects, docs, content, options)
				}
				after := usage(b)
				spent := after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano()
				b.ReportMetric(float64(spent)/1000/float64(b.N)/float64(len(objects)), "cpu-µs/split")
				b.ReportMetric(float64(after.Maxrss)/1024, "MiB-peak")
				live := 0
				for _, v := range result.Verdicts {
					if v.Kind == containment.Live {
						live++
					}
				}
				b.ReportMetric(float64(live), "live")
			})
		}
	}
}

func usage(b *testing.B) (u syscall.Rusage) {
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u
}

func decideFromMemory(b *testing.B, objects []containment.Object, docs map[string][]segment.Digest, content map[string]*containment.Content, options containment.Options) *containment.Result {
	at := map[string]*containment.Object{}
	for i := range objects {
		at[objects[i].ID] = &objects[i]
	}
	for {
		result, err := containment.Decide(objects, content, options)
		require.NoError(b, err)
		if len(result.Needs) == 0 {
			return result
		}
		for _, need := range result.Needs {
			c := content[need.ID]
			if c == nil {
				c = &containment.Content{Blocks: make([]containment.Block, len(at[need.ID].Blocks))}
				content[need.ID] = c
			}
			for _, j := range need.Blocks {
				of := docs[need.ID][4*j : min(4*j+4, len(docs[need.ID]))]
				var bytes []byte
				for _, doc := range of {
					bytes = append(bytes, doc[:]...)
				}
				c.Blocks[j] = containment.Block{Checksum: crc32.ChecksumIEEE(bytes), Docs: of}
			}
		}
	}
}
