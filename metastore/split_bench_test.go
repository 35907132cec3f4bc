package metastore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkParseSplitMetadataList(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := realSplits(b, n)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				list, err := ParseSplitMetadataList(text)
				if err != nil || len(list) != n {
					b.Fatal(len(list), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/split")
		})
	}
}

func BenchmarkParseSplitMetadataNotCanonical(b *testing.B) {
	list := realSplits(b, 1)
	text := append([]byte(" "), list[1:len(list)-1]...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseSplitMetadata(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrepareStage(b *testing.B) {
	list, err := ParseSplitMetadataList(realSplits(b, 100))
	require.NoError(b, err)
	request := StageSplitsRequest{IndexUID: list[0].IndexUID, Splits: list}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := PrepareStage(request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplitRowAppendJSON(b *testing.B) {
	list, err := ParseSplitMetadataList(realSplits(b, 1))
	require.NoError(b, err)
	row := SplitRow{State: Published, UpdateTimestamp: 1_787_300_000, PublishTimestamp: Some(int64(1_787_300_001)), Document: list[0].Document()}
	buffer := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buffer = row.AppendJSON(buffer[:0])
	}
}

func BenchmarkPatchDocument(b *testing.B) {
	list, err := ParseSplitMetadataList(realSplits(b, 1))
	require.NoError(b, err)
	document, uid := []byte(list[0].Document()), list[0].IndexUID.String()
	buffer := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buffer, err = PatchDocument(buffer[:0], document, uid, Some(int64(1_787_300_000)), 7)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatches(b *testing.B) {
	list, err := ParseSplitMetadataList(realSplits(b, 1))
	require.NoError(b, err)
	split := Split{State: Published, UpdateTimestamp: 1, Metadata: list[0]}
	query := AllSplits()
	query.States = []SplitState{Published}
	query.Maturity = MaturityFilter{Kind: MatureAt, At: 1 << 40}
	query.After = Some(SplitCursor{IndexUID: IndexUID{IndexID: "a"}})
	b.ReportAllocs()
	for b.Loop() {
		if !query.Matches(split.Metadata.IndexUID, &split) {
			b.Fatal("does not match")
		}
	}
}
