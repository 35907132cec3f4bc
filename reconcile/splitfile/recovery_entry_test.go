package splitfile_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// withEntry returns someFile with another recovery entry.
func withEntry(entry []byte) []byte {
	file := someFile()
	file.Entries[len(file.Entries)-1].Data = entry
	return file.Encode()
}

// withMessage returns someFile with its message changed.
func withMessage(change func(m *metastorepb.SplitRecoveryMetadata)) []byte {
	m := someMetadata()
	message := splitfiletest.Message(&m, []string{"P1", "P2"})
	change(message)
	return withEntry(splitfiletest.RecoveryEntry(message))
}

// withFields returns someFile with raw fields behind its message.
func withFields(fields []byte) []byte {
	m := someMetadata()
	return withEntry(append(splitfiletest.RecoveryEntry(splitfiletest.Message(&m, []string{"P1", "P2"})), fields...))
}

func TestARowWithEveryFieldIsRecovered(t *testing.T) {
	t.Parallel()
	m, parents, err := recoverAs(t, someFile().Encode(), someSplitID)
	require.NoError(t, err)
	want := someMetadata()
	want.FooterStart, want.FooterEnd = uint64(someFile().FooterStart()), uint64(len(someFile().Encode()))
	require.Equal(t, want, m)
	require.Equal(t, []string{"P1", "P2"}, parents)
	parsed, err := metastore.ParseSplitMetadata([]byte(m.Document()))
	require.NoError(t, err)
	require.Equal(t, m.Document(), parsed.Document())
}

func TestAbsentFieldsHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	file := withMessage(func(m *metastorepb.SplitRecoveryMetadata) {
		index, mapping := m.IndexUid, m.DocMappingUid
		index.IncarnationId, mapping.DocMappingUid = nil, nil
		m.Reset()
		m.SplitId, m.IndexUid, m.DocMappingUid = someSplitID, index, mapping
	})
	m, parents, err := recoverAs(t, file, someSplitID)
	require.NoError(t, err)
	require.Empty(t, parents)
	require.Equal(t, metastore.SplitMetadata{
		SplitID: someSplitID, IndexUID: metastore.IndexUID{IndexID: "logs"},
		FooterStart: m.FooterStart, FooterEnd: m.FooterEnd,
	}, m)
}

func TestAMalformedRecoveryEntryIsRefused(t *testing.T) {
	t.Parallel()
	change := func(change func(m *metastorepb.SplitRecoveryMetadata)) []byte { return withMessage(change) }
	num := func(n int64) *int64 { return &n }
	cases := []struct {
		name  string
		file  []byte
		field string
		value string
	}{
		{"shorter than its header", withEntry([]byte("QWSM")), "recovery entry length", "4"},
		{"other magic", withEntry([]byte("QWSN\x01")), "recovery entry magic", `"QWSN"`},
		{"container version 0", withEntry([]byte("QWSM\x00")), "recovery entry version", "0"},
		{"container version 2", withEntry([]byte("QWSM\x02")), "recovery entry version", "2"},
		{"no message", withEntry([]byte("QWSM\x01")), "split_id", `""`},
		{"no protobuf", withEntry([]byte("QWSM\x01\xff\xff\xff")), "recovery entry message", ""},
		{"text that is not UTF-8", withFields([]byte{0x1A, 1, 0xFF}), "recovery entry message", ""},
		{"num_docs as bytes", withFields([]byte{0x3A, 1, 7}), "recovery entry message", ""},
		{"parents as numbers", withFields([]byte{0x78, 1}), "recovery entry message", ""},
		{"index_id as a number within index_uid", withFields([]byte{0x12, 2, 0x08, 1}), "recovery entry message", ""},
		{"split_id empty", change(func(m *metastorepb.SplitRecoveryMetadata) { m.SplitId = "" }), "split_id", `""`},
		{"split_id of another split", change(func(m *metastorepb.SplitRecoveryMetadata) { m.SplitId = "other" }), "split_id", `"other"`},
		{"index_uid missing", change(func(m *metastorepb.SplitRecoveryMetadata) { m.IndexUid = nil }), "index_uid", ""},
		{"index id empty", change(func(m *metastorepb.SplitRecoveryMetadata) { m.IndexUid.IndexId = "" }), "index_uid", `""`},
		{"index id too short", change(func(m *metastorepb.SplitRecoveryMetadata) { m.IndexUid.IndexId = "ab" }), "index_uid", `"ab"`},
		{"index id with a slash", change(func(m *metastorepb.SplitRecoveryMetadata) { m.IndexUid.IndexId = "../../etc" }), "index_uid", `"../../etc"`},
		{"incarnation of 15 bytes", change(func(m *metastorepb.SplitRecoveryMetadata) { m.IndexUid.IncarnationId = make([]byte, 15) }), "index_uid.incarnation_id", ""},
		{"incarnation of 17 bytes", change(func(m *metastorepb.SplitRecoveryMetadata) { m.IndexUid.IncarnationId = make([]byte, 17) }), "index_uid.incarnation_id", ""},
		{"incarnation of 0 bytes", change(func(m *metastorepb.SplitRecoveryMetadata) {
			m.IndexUid.IncarnationId = nil
			m.IndexUid.ProtoReflect().SetUnknown(nil)
			m.ProtoReflect().SetUnknown([]byte{0x12, 2, 0x12, 0})
		}), "index_uid.incarnation_id", `""`},
		{"doc_mapping_uid missing", change(func(m *metastorepb.SplitRecoveryMetadata) { m.DocMappingUid = nil }), "doc_mapping_uid", ""},
		{"doc_mapping_uid of 1 byte", change(func(m *metastorepb.SplitRecoveryMetadata) { m.DocMappingUid.DocMappingUid = []byte{1} }), "doc_mapping_uid", `"\x01"`},
		{"time range without a start", change(func(m *metastorepb.SplitRecoveryMetadata) { m.TimeRangeStartInclusive = nil }), "time_range_start_inclusive", ""},
		{"time range without an end", change(func(m *metastorepb.SplitRecoveryMetadata) { m.TimeRangeEndInclusive = nil }), "time_range_end_inclusive", ""},
		{"time range upside down", change(func(m *metastorepb.SplitRecoveryMetadata) { m.TimeRangeStartInclusive = num(1787411403) }), "time_range_start_inclusive", "1787411403"},
		{"num_docs above int64", change(func(m *metastorepb.SplitRecoveryMetadata) { m.NumDocs = 1 << 63 }), "num_docs", "9223372036854775808"},
		{"num_merge_ops above int64", change(func(m *metastorepb.SplitRecoveryMetadata) { m.NumMergeOps = 1 << 63 }), "num_merge_ops", "9223372036854775808"},
		{"delete_opstamp above int64", change(func(m *metastorepb.SplitRecoveryMetadata) { m.DeleteOpstamp = 1 << 63 }), "delete_opstamp", "9223372036854775808"},
		{"itself as a parent", change(func(m *metastorepb.SplitRecoveryMetadata) { m.ParentSplitIds[1] = someSplitID }), "parent_split_ids[1]", `"` + someSplitID + `"`},
		{"an empty parent", change(func(m *metastorepb.SplitRecoveryMetadata) { m.ParentSplitIds[0] = "" }), "parent_split_ids[0]", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := open(t, c.file)
			require.NoError(t, err, "the layout is right")
			_, _, err = f.Metadata()
			format := requireFault(t, err, c.field)
			if c.value != "" {
				require.Equal(t, c.value, format.Value)
			}
			entry, ok := f.Entry(splitfile.RecoveryEntryName)
			require.True(t, ok)
			require.GreaterOrEqual(t, format.Offset, entry.Start)
			require.LessOrEqual(t, format.Offset, entry.End)
		})
	}
}

func TestAnErrorAboutAFieldPointsToIt(t *testing.T) {
	t.Parallel()
	file := withMessage(func(m *metastorepb.SplitRecoveryMetadata) { m.NumDocs = math.MaxUint64 })
	_, _, err := recoverAs(t, file, someSplitID)
	format := requireFault(t, err, "num_docs")
	require.Equal(t, append([]byte{0x38}, protowire.AppendVarint(nil, math.MaxUint64)...), file[format.Offset:format.Offset+11])
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string][]byte{
		"a number":       {0x88, 0x7D, 1},
		"bytes":          {0x8A, 0x7D, 2, 1, 2},
		"in index_uid":   {0x12, 3, 0xA0, 0x06, 1},
		"an empty group": {0x8B, 0x7D, 0x8C, 0x7D},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, parents, err := recoverAs(t, withFields(fields), someSplitID)
			require.NoError(t, err)
			require.Len(t, parents, 2)
			require.Equal(t, someMetadata().IndexUID, m.IndexUID)
		})
	}
}

func TestExtremeValuesAreRecovered(t *testing.T) {
	t.Parallel()
	want := someMetadata()
	want.NumDocs, want.NumMergeOps, want.DeleteOpstamp = math.MaxInt64, math.MaxInt64, math.MaxInt64
	want.UncompressedDocsSize, want.PartitionID = math.MaxUint64, math.MaxUint64
	want.CreateTimestamp = math.MinInt64
	want.TimeRange = metastore.Some(metastore.TimeRange{Start: math.MinInt64, End: math.MaxInt64})
	want.Maturity.PeriodMillis = 0 // present: immature
	want.IndexUID.Incarnation, want.DocMappingUID = ulid.ULID(bytes.Repeat([]byte{0xFF}, 16)), ulid.ULID{}
	file := splitfiletest.New(&want, nil).Encode()
	got, parents, err := recoverAs(t, file, someSplitID)
	require.NoError(t, err)
	want.FooterStart, want.FooterEnd = got.FooterStart, got.FooterEnd
	require.Equal(t, want, got)
	require.Empty(t, parents)
}

func TestATimeRangeOfOneSecondAndOneBefore1970AreRecovered(t *testing.T) {
	t.Parallel()
	for _, want := range []metastore.TimeRange{{Start: 0, End: 0}, {Start: -10, End: -10}, {Start: -10, End: 0}} {
		m := someMetadata()
		m.TimeRange = metastore.Some(want)
		got, _, err := recoverAs(t, splitfiletest.New(&m, nil).Encode(), someSplitID)
		require.NoError(t, err)
		require.Equal(t, m.TimeRange, got.TimeRange)
	}
}

func TestUnusualButPossibleEntriesAreRecoveredWithAWarning(t *testing.T) {
	t.Parallel()
	f, err := open(t, withMessage(func(m *metastorepb.SplitRecoveryMetadata) {
		m.NumDocs = 0
		m.ParentSplitIds = []string{"P2", "P1", "P2", "P2"}
		m.Tags = []string{"b", "a", "b"}
	}))
	require.NoError(t, err)
	m, parents, err := f.Metadata()
	require.NoError(t, err)
	require.Equal(t, []string{"P2", "P1"}, parents)
	require.Equal(t, []string{"a", "b"}, m.Tags)
	require.Equal(t, []splitfile.Warning{
		{Field: "parent_split_ids", Problem: "hold 2 ids again"},
		{Field: "num_docs", Problem: "is 0"},
	}, f.Warnings)
}

// TestAnEntryThatWasCutIsFoundByTheLayout is why the layout is checked so strictly: the entry has no
// checksum and no length of its own, and cut between two fields it reads as a valid, different row.
func TestAnEntryThatWasCutIsFoundByTheLayout(t *testing.T) {
	t.Parallel()
	file := someFile()
	whole := file.Entries[len(file.Entries)-1].Data
	places := file.Places()
	last := &places[len(places)-1]
	readable := 0
	for cut := range whole {
		last.End = last.Start + uint64(cut)
		file.MetadataJSON = splitfiletest.BundleJSON(places)
		_, err := open(t, file.Encode())
		requireFault(t, err, "files")

		_, _, err = recoverAs(t, withEntry(whole[:cut]), someSplitID)
		if err == nil {
			readable++
		}
	}
	require.Positive(t, readable, "the entry alone does not tell")
}

// TestTheCreateTimestampIsTheWritersNotTheStores is about a store that answers with the time of its
// own insert instead: the file holds the original.
func TestTheCreateTimestampIsTheWritersNotTheStores(t *testing.T) {
	t.Parallel()
	for _, tr := range readTruths(t, "trailer") {
		differing := 0
		for id, row := range tr.rows {
			f, _ := openFixture(t, tr.path(id), splitfile.Options{})
			m, _, err := f.Metadata()
			require.NoError(t, err)
			require.Equal(t, row.CreateTimestamp, m.CreateTimestamp)
			if tr.columnCreateTimestamp[id] != m.CreateTimestamp {
				differing++
			}
		}
		require.Positive(t, differing)
	}
}
