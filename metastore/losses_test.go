package metastore

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore/internal/losses"
)

// Splits that the peer took, spelled in every way that it reads, lose nothing when they are written but keys that the peer does not
// read either.
func TestRecordedSplitsLoseOnlyWhatThePeerIgnores(t *testing.T) {
	t.Parallel()
	compared := 0
	var lossy []string
	compare := func(about string, shape *losses.Shape, before string, write func(dst []byte) []byte) {
		compared++
		var lost losses.Ledger
		require.NoError(t, lost.Compare(shape, []byte(before), write), about)
		for _, loss := range lost.Losses() {
			lossy = append(lossy, fmt.Sprintf("%s: %s %s", about, loss.Reason, loss.First))
		}
	}
	for _, scenario := range readScenarios(t, "*.json") {
		for i, step := range scenario.Steps {
			about := fmt.Sprintf("%s %d", scenario.Name, i)
			indexes := newRecordedIndexes()
			if step.on("file").refusedAsJSON() {
				continue
			}
			switch step.RPC {
			case "StageSplits":
				var elements []json.RawMessage
				if json.Unmarshal([]byte(indexes.document(t, step.Request["splitMetadataListSerializedJson"])), &elements) != nil {
					continue // a deviation
				}
				for _, element := range elements {
					if metadata, err := ParseSplitMetadata(element); err == nil {
						compare(about, losses.Split, string(element), func(dst []byte) []byte { return append(dst, metadata.Document()...) })
					}
				}
			case "StageMetricsSplits", "StageSketchSplits":
				var elements []json.RawMessage
				require.NoError(t, json.Unmarshal(step.Request["splitsMetadataJson"], &elements))
				for _, element := range elements {
					text := indexes.document(t, element)
					metadata, err := ParseParquetSplitMetadata([]byte(text))
					require.NoError(t, err, about)
					compare(about, losses.ParquetSplit, `{"metadata":`+text+`}`, func(dst []byte) []byte { return fmt.Appendf(dst, `{"metadata":%s}`, metadata.Document()) })
				}
			}
		}
	}
	slices.Sort(lossy)
	require.Equal(t, []string{
		"split-metrics-list 1: left_out metadata.window_start", // a window of no duration
		"split-sketch-list 1: left_out metadata.window_start",
		"split-stage-values 13: left_out maturity.extra",
		"split-stage-values 4: left_out maturity.because",
	}, lossy)
	require.Greater(t, compared, 200)
}
