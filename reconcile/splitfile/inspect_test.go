package splitfile_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/splitfile/splitfiletest"
)

func TestAReportHoldsLayoutFilesRowAndParents(t *testing.T) {
	t.Parallel()
	f, err := openAs(t, exampleFile(t, true), "S1")
	require.NoError(t, err)
	text, err := json.Marshal(f.Inspect())
	require.NoError(t, err)
	require.JSONEq(t, `{
		"split_id": "S1",
		"size": 211,
		"layout": {
			"body": {"start": 0, "end": 91, "size": 91},
			"bundle_metadata": {"start": 91, "end": 185, "size": 94},
			"hotcache": {"start": 189, "end": 191, "size": 2},
			"footer": {"start": 91, "end": 211, "size": 120},
			"trailer": true
		},
		"files": [
			{"name": "a.idx", "start": 0, "end": 3, "size": 3},
			{"name": "split_recovery_metadata", "start": 3, "end": 91, "size": 88}
		],
		"legacy": false,
		"metadata": {
			"version": "0.9", "split_id": "S1", "index_uid": "abc:0H248H248H248H248H248H248H", "partition_id": 0, "source_id": "src", "node_id": "n0",
			"num_docs": 7, "uncompressed_docs_size_in_bytes": 300, "time_range": {"start": 50, "end": 60}, "create_timestamp": 100,
			"maturity": {"type": "immature", "maturation_period_millis": 1500}, "tags": [], "footer_offsets": {"start": 91, "end": 211},
			"delete_opstamp": 0, "num_merge_ops": 1, "doc_mapping_uid": "1248H248H248H248H248H248H2"
		},
		"parent_split_ids": ["P1", "P2"],
		"problem": "split file \"S1\": files[\"meta.json\"] at offset 91 is missing: the split cannot be searched",
		"range_reads": 1,
		"bytes_read": 211
	}`, string(text))
}

func TestAReportTellsUnknownParentsFromNone(t *testing.T) {
	t.Parallel()
	legacy, err := open(t, splitfiletest.NewLegacy().Encode())
	require.NoError(t, err)
	report := legacy.Inspect()
	require.True(t, report.Legacy)
	require.Nil(t, report.ParentSplitIDs)
	require.Nil(t, report.Metadata)
	require.Empty(t, report.Problem)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	require.Contains(t, string(text), `"metadata":null,"parent_split_ids":null`)

	m := someMetadata()
	first, err := open(t, splitfiletest.New(&m, nil).Encode())
	require.NoError(t, err)
	report = first.Inspect()
	require.Equal(t, []string{}, report.ParentSplitIDs)
	require.Empty(t, report.Problem)
}

func TestAReportSaysWhyNoRowCanBeRecovered(t *testing.T) {
	t.Parallel()
	f, err := openAs(t, someFile().Encode(), "another")
	require.NoError(t, err)
	report := f.Inspect()
	require.Contains(t, report.Problem, `split_id "`+someSplitID+`" at offset`)
	require.Contains(t, report.Problem, `is not the name "another" of the object`)
	require.Nil(t, report.Metadata)

	file := splitfiletest.NewLegacy()
	file.Entries = file.Entries[:2]
	f, err = open(t, file.Encode())
	require.NoError(t, err)
	require.Contains(t, f.Inspect().Problem, "meta.json")
}
