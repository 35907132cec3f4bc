package splitfile_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// exampleBody and exampleFooter are a file written by hand, byte by byte.
const (
	exampleBody = `010203` + // a.idx, [0,3)
		`5157534D01` + // "QWSM", container version 1
		`0A025331` + // 1 split_id "S1"
		`12170A036162631210` + `11111111111111111111111111111111` + // 2 index_uid "abc"
		`1A03737263` + // 3 source_id "src"
		`22026E30` + // 4 node_id "n0"
		`2A120A10` + `22222222222222222222222222222222` + // 5 doc_mapping_uid
		`3807` + // 7 num_docs
		`40AC02` + // 8 uncompressed_docs_size_bytes
		`4832503C` + // 9, 10 time range
		`5864` + // 11 create_timestamp
		`7001` + // 14 num_merge_ops
		`7A0250317A025032` + // 15 parent_split_ids "P1", "P2"
		`8001DC0B` // 16 maturation_period_millis
	exampleJSON    = `{"files":{"a.idx":{"start":0,"end":3},"split_recovery_metadata":{"start":3,"end":91}}}`
	exampleHeader  = `AEBE121801000000`
	exampleEnd     = `5E000000` + `AABB` + `02000000`
	exampleTrailer = `5B00000000000000` + `01000000` + `51574654`
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	require.NoError(t, err)
	return data
}

// exampleFile returns the file: 195 bytes, or 211 with the trailer.
func exampleFile(t testing.TB, trailer bool) []byte {
	t.Helper()
	file := unhex(t, exampleBody+exampleHeader)
	file = append(file, exampleJSON...)
	file = append(file, unhex(t, exampleEnd)...)
	if trailer {
		file = append(file, unhex(t, exampleTrailer)...)
	}
	return file
}

// bothVariants runs a test without and with the trailer.
func bothVariants(t *testing.T, test func(t *testing.T, file []byte)) {
	t.Helper()
	for name, trailer := range map[string]bool{"without trailer": false, "with trailer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, exampleFile(t, trailer))
		})
	}
}

func TestTheFileWrittenByHandIsReadToTheByte(t *testing.T) {
	t.Parallel()
	bothVariants(t, func(t *testing.T, file []byte) {
		trailer := len(file) == 211
		require.Equal(t, map[bool]int{false: 195, true: 211}[trailer], len(file))
		f, err := openAs(t, file, "S1")
		require.NoError(t, err)
		require.Equal(t, splitfile.Layout{
			Size:           int64(len(file)),
			FooterStart:    91,
			BundleMetadata: splitfile.Span{Start: 91, End: 185},
			Hotcache:       splitfile.Span{Start: 189, End: 191},
			Trailer:        trailer,
		}, f.Layout)
		require.Equal(t, []splitfile.Entry{
			{Name: "a.idx", Span: splitfile.Span{Start: 0, End: 3}},
			{Name: "split_recovery_metadata", Span: splitfile.Span{Start: 3, End: 91}},
		}, f.Entries)
		require.Equal(t, 1, f.Reads)
		require.False(t, f.IsLegacy())
		require.Empty(t, f.Warnings)

		m, parents, err := f.RecoveryEntry()
		require.NoError(t, err)
		require.Equal(t, []string{"P1", "P2"}, parents)
		require.Equal(t, metastore.SplitMetadata{
			SplitID:              "S1",
			IndexUID:             metastore.IndexUID{IndexID: "abc", Incarnation: ulid.ULID(bytes.Repeat([]byte{0x11}, 16))},
			SourceID:             "src",
			NodeID:               "n0",
			NumDocs:              7,
			UncompressedDocsSize: 300,
			TimeRange:            metastore.Some(metastore.TimeRange{Start: 50, End: 60}),
			CreateTimestamp:      100,
			Maturity:             metastore.Maturity{Immature: true, PeriodMillis: 1500},
			FooterStart:          91,
			FooterEnd:            uint64(len(file)),
			NumMergeOps:          1,
			DocMappingUID:        ulid.ULID(bytes.Repeat([]byte{0x22}, 16)),
		}, m)
	})
}

func TestTheFileWrittenByHandIsWrittenToTheByte(t *testing.T) {
	t.Parallel()
	bothVariants(t, func(t *testing.T, file []byte) {
		f, err := openAs(t, file, "S1")
		require.NoError(t, err)
		m, parents, err := f.RecoveryEntry()
		require.NoError(t, err)
		written := splitfiletest.File{
			Entries: []splitfiletest.Entry{
				{Name: "a.idx", Data: []byte{1, 2, 3}},
				{Name: "split_recovery_metadata", Data: splitfiletest.RecoveryEntry(splitfiletest.Message(&m, parents))},
			},
			Hotcache: []byte{0xAA, 0xBB},
			Trailer:  f.Layout.Trailer,
		}
		require.Equal(t, file, written.Encode())
		sparse := written.Sparse()
		data := make([]byte, len(file))
		n, err := sparse.ReadAt(data, 0)
		require.NoError(t, err)
		require.Equal(t, len(file), n)
		require.Equal(t, append(append(bytes.Clone(file[:189]), 0, 0), file[191:]...), data)
	})
}

// TestTheFileWrittenByHandCannotBeSearched is why Metadata refuses it: it has no meta.json.
func TestTheFileWrittenByHandCannotBeSearched(t *testing.T) {
	t.Parallel()
	bothVariants(t, func(t *testing.T, file []byte) {
		_, _, err := recoverAs(t, file, "S1")
		requireFault(t, err, `files["meta.json"]`)
	})
}

// mutation changes the file written by hand.
type mutation struct {
	name    string
	offset  int  // of the byte that grows by one
	trailer bool // only in the variant with the trailer
	field   string
	// withTrailer is the field that is at fault in the variant with the trailer, if it is another one.
	withTrailer string
}

func TestTheFileWrittenByHandIsRefusedWithALengthOrVersionThatIsOneMore(t *testing.T) {
	t.Parallel()
	message := "recovery entry message"
	mutations := []mutation{
		{name: "bundle metadata length", offset: 185, field: "bundle metadata magic", withTrailer: "bundle metadata length"},
		{name: "hotcache length", offset: 191, field: "bundle metadata length"},
		{name: "footer start", offset: 195, trailer: true, field: "bundle metadata length"},
		{name: "trailer version", offset: 203, trailer: true, field: "trailer version"},
		{name: "bundle metadata version", offset: 95, field: "bundle metadata version"},
		{name: "bundle metadata magic", offset: 91, field: "bundle metadata magic"},
		{name: "container version", offset: 7, field: "recovery entry version"},
		{name: "container magic", offset: 3, field: "recovery entry magic"},
		{name: "split_id length", offset: 9, field: message},
		{name: "index_uid length", offset: 13, field: message},
		{name: "index_id length", offset: 15, field: message},
		{name: "incarnation_id length", offset: 20, field: message},
		{name: "source_id length", offset: 38, field: message},
		{name: "node_id length", offset: 43, field: message},
		{name: "doc_mapping_uid length", offset: 47, field: message},
		{name: "inner doc_mapping_uid length", offset: 49, field: message},
		{name: "first parent length", offset: 80, field: message},
		{name: "second parent length", offset: 84, field: message},
		{name: "start of a.idx", offset: 99 + strings.Index(exampleJSON, `0,"end":3}`), field: `files["a.idx"].start`},
		{name: "end of a.idx", offset: 99 + strings.Index(exampleJSON, `3},"split`), field: `files["split_recovery_metadata"].start`},
		{name: "start of the recovery entry", offset: 99 + strings.Index(exampleJSON, `3,"end":91`), field: `files["split_recovery_metadata"].start`},
		{name: "end of the recovery entry", offset: 99 + strings.Index(exampleJSON, `1}}}`), field: `files["split_recovery_metadata"].end`},
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			bothVariants(t, func(t *testing.T, file []byte) {
				hasTrailer, field := len(file) == 211, m.field
				if m.trailer && !hasTrailer {
					return // there is none to change
				}
				if m.withTrailer != "" && hasTrailer {
					field = m.withTrailer
				}
				file[m.offset]++
				f, err := openAs(t, file, "S1")
				if err == nil {
					_, _, err = f.RecoveryEntry()
				}
				requireFault(t, err, field)
			})
		})
	}
}

func TestTheFileWrittenByHandIsRefusedUnderAnotherName(t *testing.T) {
	t.Parallel()
	bothVariants(t, func(t *testing.T, file []byte) {
		for _, name := range []string{"S2", "s1", "S1.split", "S", "S11"} {
			f, err := openAs(t, file, name)
			require.NoError(t, err)
			_, _, err = f.RecoveryEntry()
			format := requireFault(t, err, "split_id")
			require.Equal(t, int64(8), format.Offset)
			require.Equal(t, `"S1"`, format.Value)
			require.Equal(t, name, format.SplitID)
		}
	})
}

func TestTheFileWrittenByHandIsRefusedCutAnywhere(t *testing.T) {
	t.Parallel()
	bothVariants(t, func(t *testing.T, file []byte) {
		for n := range file {
			if n == 195 {
				continue // the trailer is optional
			}
			_, err := openAs(t, file[:n], "S1")
			var format *splitfile.FormatError
			require.True(t, errors.As(err, &format), "cut to %d bytes: %v", n, err)
		}
	})
}

func TestEveryByteOfTheFileWrittenByHandMayBeAnything(t *testing.T) {
	t.Parallel()
	bothVariants(t, func(t *testing.T, file []byte) {
		refused := 0
		for at, was := range file {
			for value := range 256 {
				file[at] = byte(value)
				f, err := openAs(t, file, "S1")
				if err == nil {
					_, _, err = f.RecoveryEntry()
				}
				var format *splitfile.FormatError
				if err != nil && !errors.As(err, &format) && !errors.Is(err, splitfile.ErrLegacy) {
					t.Fatalf("byte %d = %#x: error of type %T: %v", at, value, err, err)
				}
				if err != nil {
					refused++
				}
			}
			file[at] = was
		}
		require.Greater(t, refused, len(file)*128, "most changes must be noticed")
	})
}
