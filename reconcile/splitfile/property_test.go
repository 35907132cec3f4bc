package splitfile_test

import (
	"context"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

func drawULID(t *rapid.T, label string) ulid.ULID {
	return ulid.ULID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
}

func drawMetadata(t *rapid.T) (metastore.SplitMetadata, []string) {
	bounded := rapid.Uint64Range(0, 1<<63-1)
	m := metastore.SplitMetadata{
		SplitID:              rapid.StringN(1, 30, -1).Draw(t, "split id"),
		IndexUID:             metastore.IndexUID{IndexID: rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9_.-]{2,40}`).Draw(t, "index id"), Incarnation: drawULID(t, "incarnation")},
		PartitionID:          rapid.Uint64().Draw(t, "partition"),
		SourceID:             rapid.String().Draw(t, "source"),
		NodeID:               rapid.StringN(0, 60, -1).Draw(t, "node"),
		NumDocs:              bounded.Draw(t, "docs"),
		UncompressedDocsSize: rapid.Uint64().Draw(t, "size"),
		CreateTimestamp:      rapid.Int64().Draw(t, "created"),
		DeleteOpstamp:        bounded.Draw(t, "opstamp"),
		NumMergeOps:          bounded.Draw(t, "merges"),
		DocMappingUID:        drawULID(t, "doc mapping"),
	}
	if rapid.Bool().Draw(t, "has a time range") {
		start := rapid.Int64().Draw(t, "start")
		m.TimeRange = metastore.Some(metastore.TimeRange{Start: start, End: rapid.Int64Min(start).Draw(t, "end")})
	}
	if rapid.Bool().Draw(t, "immature") {
		m.Maturity = metastore.Maturity{Immature: true, PeriodMillis: rapid.Uint64().Draw(t, "period")}
	}
	m.Tags = rapid.SliceOfDistinct(rapid.String(), rapid.ID[string]).Draw(t, "tags")
	slices.Sort(m.Tags)
	parent := rapid.StringN(1, 30, -1).Filter(func(id string) bool { return id != m.SplitID })
	return m, rapid.SliceOfDistinct(parent, rapid.ID[string]).Draw(t, "parents")
}

// drawFile draws a file of a row: any bundled files, in any order of the keys, with any hotcache.
func drawFile(t *rapid.T, m *metastore.SplitMetadata, parents []string) *splitfiletest.File {
	file := splitfiletest.New(m, parents)
	for i, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 8, rapid.ID[string]).Draw(t, "names") {
		if _, taken := slices.BinarySearch([]string{"meta.json", "split_fields", "split_recovery_metadata"}, name); taken || len(name) > 36 {
			continue
		}
		at := rapid.IntRange(0, len(file.Entries)).Draw(t, "place")
		size := rapid.IntRange(0, 200).Draw(t, "length")
		file.Entries = slices.Insert(file.Entries, at, splitfiletest.Entry{Name: name, Data: make([]byte, size*(i+1))})
	}
	file.MetadataJSON = splitfiletest.BundleJSON(rapid.Permutation(file.Places()).Draw(t, "key order"))
	file.HotcacheSize = rapid.OneOf(rapid.Uint32Range(0, 300), rapid.Uint32Range(0, 200<<10), rapid.Uint32Range(0, 1_400_000_000)).Draw(t, "hotcache")
	file.Trailer = rapid.Bool().Draw(t, "trailer")
	return file
}

func TestAnyRowIsRecoveredFromItsFileHoweverItIsRead(t *testing.T) {
	t.Parallel()
	shared := &splitfile.Adaptive{}
	rapid.Check(t, func(t *rapid.T) {
		want, wantParents := drawMetadata(t)
		file := drawFile(t, &want, wantParents)
		sparse := file.Sparse()
		options := splitfile.Options{SplitID: want.SplitID, TailSize: rapid.Int64Range(0, 256<<10).Draw(t, "tail")}
		if rapid.Bool().Draw(t, "size known") {
			options.Size = metastore.Some(sparse.Size())
		}
		if rapid.Bool().Draw(t, "adaptive") {
			options.Adaptive = shared
		}
		f, err := splitfile.Open(context.Background(), splitfile.ReaderAt{Reader: sparse, Size: sparse.Size()}, options)
		if err != nil {
			t.Fatal(err)
		}
		got, parents, err := f.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		want.FooterStart, want.FooterEnd = uint64(file.FooterStart()), uint64(sparse.Size())
		if got.Document() != want.Document() {
			t.Fatalf("recovered %s\nwritten   %s", got.Document(), want.Document())
		}
		if !slices.Equal(parents, wantParents) {
			t.Fatalf("recovered parents %q, written %q", parents, wantParents)
		}
		if f.Layout.Hotcache.Len() != int64(file.HotcacheSize) && file.HotcacheSize > 0 || f.Layout.Trailer != file.Trailer {
			t.Fatalf("layout %+v", f.Layout)
		}
		if f.BytesRead > 2*options.TailSize+2*int64(2<<20) {
			t.Fatalf("%d bytes read", f.BytesRead)
		}
	})
}
