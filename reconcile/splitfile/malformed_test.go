package splitfile_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

func TestAFileThatIsTooShortIsRefused(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 15, 16, 27} {
		_, err := open(t, make([]byte, size))
		format := requireFault(t, err, "file size")
		require.Equal(t, fmt.Sprint(size), format.Value)
	}
}

func TestTheSmallestFilesAreRead(t *testing.T) {
	t.Parallel()
	for trailer, size := range map[bool]int{false: 28, true: 44} {
		file := (&splitfiletest.File{Trailer: trailer}).Encode()
		require.Len(t, file, size)
		f, err := open(t, file)
		require.NoError(t, err)
		require.Empty(t, f.Entries)
		require.Zero(t, f.Layout.FooterStart)
		require.True(t, f.IsLegacy())
		_, err = f.Legacy()
		requireFault(t, err, `files["meta.json"]`)
	}
}

// patched is someFile with the 4 or 8 bytes at an offset from its end replaced.
func patched(file []byte, fromEnd int, value any) []byte {
	at := file[len(file)-fromEnd:]
	switch value := value.(type) {
	case uint32:
		binary.LittleEndian.PutUint32(at, value)
	case uint64:
		binary.LittleEndian.PutUint64(at, value)
	}
	return file
}

// TestALengthInTheFooterIsNotBelieved checks the field, the place and the value of each error.
func TestALengthInTheFooterIsNotBelieved(t *testing.T) {
	t.Parallel()
	plain := someFile()
	traced := someFile()
	traced.Trailer = true
	size, tracedSize := int64(len(plain.Encode())), int64(len(traced.Encode()))
	const hotcache = 12
	cases := []struct {
		name   string
		file   []byte
		field  string
		offset int64
		value  string
	}{
		{"hotcache of 4 GiB", patched(plain.Encode(), 4, uint32(1<<32-1)), "hotcache length", size - 4, "4294967295"},
		{"hotcache as long as the file", patched(plain.Encode(), 4, uint32(size)), "hotcache length", size - 4, fmt.Sprint(size)},
		{"hotcache that leaves 19 bytes", patched(plain.Encode(), 4, uint32(size-8-19)), "hotcache length", size - 4, fmt.Sprint(size - 27)},
		{"metadata of 4 GiB", patched(plain.Encode(), 8+hotcache, uint32(1<<32-1)), "bundle metadata length", size - 8 - hotcache, "4294967295"},
		{"metadata above the cap", patched(plain.Encode(), 8+hotcache, uint32(16<<20+1)), "bundle metadata length", size - 8 - hotcache, "16777217"},
		{"metadata longer than the file", patched(plain.Encode(), 8+hotcache, uint32(size)), "bundle metadata length", size - 8 - hotcache, fmt.Sprint(size)},
		{"metadata of 19 bytes", patched(plain.Encode(), 8+hotcache, uint32(19)), "bundle metadata length", size - 8 - hotcache, "19"},
		{"metadata of 0 bytes", patched(plain.Encode(), 8+hotcache, uint32(0)), "bundle metadata length", size - 8 - hotcache, "0"},
		{"trailer version 0", patched(traced.Encode(), 8, uint32(0)), "trailer version", tracedSize - 8, "0"},
		{"trailer version 2", patched(traced.Encode(), 8, uint32(2)), "trailer version", tracedSize - 8, "2"},
		{"footer start behind the file", patched(traced.Encode(), 16, uint64(tracedSize)), "trailer footer start", tracedSize - 16, fmt.Sprint(tracedSize)},
		{"footer start of 2^64-1", patched(traced.Encode(), 16, uint64(1<<64-1)), "trailer footer start", tracedSize - 16, "18446744073709551615"},
		{"footer start of 2^63", patched(traced.Encode(), 16, uint64(1<<63)), "trailer footer start", tracedSize - 16, "9223372036854775808"},
		{"footer start too small", patched(traced.Encode(), 16, uint64(0)), "bundle metadata length", tracedSize - 16 - 8 - hotcache, fmt.Sprint(traced.MetadataLength())},
		{"hotcache too long before the trailer", patched(traced.Encode(), 20, uint32(1<<31)), "hotcache length", tracedSize - 20, "2147483648"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, c.file)
			format := requireFault(t, err, c.field)
			require.Equal(t, c.offset, format.Offset)
			require.Equal(t, c.value, format.Value)
			require.Equal(t, someSplitID, format.SplitID)
		})
	}
}

// TestAHugeFileThatLiesIsRefusedWithFewBytesRead is about files in which every length would be possible.
func TestAHugeFileThatLiesIsRefusedWithFewBytesRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trailer bool
		field   string
	}{
		// All zeroes in front of the hotcache's length: the bundle metadata's length is 0 as well.
		"no footer": {field: "bundle metadata length"},
		// The trailer says that the footer starts at 0, 4 GiB away.
		"trailer": {trailer: true, field: "trailer footer start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tail := make([]byte, 4)
			if c.trailer {
				tail = append(tail, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
				tail = append(tail, "QWFT"...)
			}
			sparse := splitfiletest.NewSparse(nil, 1<<32, tail)
			_, recorder, err := openSized(t, sparse, splitfile.Options{Size: metastore.Some(sparse.Size())})
			requireFault(t, err, c.field)
			for _, span := range recorder.Ranges() {
				require.LessOrEqual(t, span.Len(), int64(64<<10))
			}
		})
	}
}

// TestAHotcacheWhoseLengthReadsAsTheTrailersMagicIsRefused is the one length that a file without
// trailer cannot have.
func TestAHotcacheWhoseLengthReadsAsTheTrailersMagicIsRefused(t *testing.T) {
	t.Parallel()
	file := someFile()
	file.HotcacheSize = binary.LittleEndian.Uint32([]byte("QWFT"))
	require.Equal(t, uint32(1_413_896_017), file.HotcacheSize)
	_, _, err := openSparse(t, file, splitfile.Options{Size: metastore.Some(file.Sparse().Size())})
	requireFault(t, err, "trailer version")
}

func TestBundleMetadataIsReadStrictly(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	cases := []struct{ name, json, field string }{
		{"not JSON", `{"files":{"a":{"start":0,"end":3}}x`, "bundle metadata"},
		{"cut", `{"files":{"a":{"start":0,"end":3`, "bundle metadata"},
		{"not an object", `["files","are","missing"]`, "bundle metadata"},
		{"null", `null                  `, "bundle metadata"},
		{"no files", `{"file":{"a":{"start":0,"end":3}}}`, "files"},
		{"files twice", `{"files":{},"files":{"a":{"start":0,"end":3}}}`, `bundle metadata key "files"`},
		{"files spelled with an escape twice", `{"files":{},"f\u0069les":{}}`, `bundle metadata key "files"`},
		{"files is a list", `{"files":[{"start":0,"end":3}]}`, "files"},
		{"files is null", `{"files":null        }`, "files"},
		{"a name twice", `{"files":{"a":{"start":0,"end":3},"a":{"start":0,"end":3}}}`, `files["a"]`},
		{"a name twice, once with an escape", `{"files":{"a":{"start":0,"end":3},"\u0061":{"start":0,"end":3}}}`, `files["a"]`},
		{"a range that is a list", `{"files":{"a":[0,3]}}`, `files["a"]`},
		{"a range that is null", `{"files":{"a":null}}`, `files["a"]`},
		{"a long name", `{"files":{"` + strings.Repeat("a", 4097) + `":{"start":0,"end":3}}}`, "bundle metadata key"},
		{"start missing", `{"files":{"a":{"end":3}}}`, `files["a"].start`},
		{"end missing", `{"files":{"a":{"start":0}}}`, `files["a"].end`},
		{"start twice", `{"files":{"a":{"start":0,"start":0,"end":3}}}`, `files["a"].start`},
		{"end twice", `{"files":{"a":{"start":0,"end":3,"end":3}}}`, `files["a"].end`},
		{"another key", `{"files":{"a":{"start":0,"end":3,"len":3}}}`, `files["a"] key`},
		{"negative", `{"files":{"a":{"start":-1,"end":3}}}`, `files["a"].start`},
		{"minus zero", `{"files":{"a":{"start":-0,"end":3}}}`, `files["a"].start`},
		{"a fraction", `{"files":{"a":{"start":0.0,"end":3}}}`, `files["a"].start`},
		{"an exponent", `{"files":{"a":{"start":0,"end":3e0}}}`, `files["a"].end`},
		{"a text", `{"files":{"a":{"start":"0","end":3}}}`, `files["a"].start`},
		{"a null", `{"files":{"a":{"start":0,"end":null}}}`, `files["a"].end`},
		{"an object", `{"files":{"a":{"start":0,"end":{}}}}`, `files["a"].end`},
		{"2^64", `{"files":{"a":{"start":0,"end":18446744073709551616}}}`, `files["a"].end`},
		{"2^64-1", `{"files":{"a":{"start":0,"end":18446744073709551615}}}`, `files["a"].end`},
		{"behind the body", `{"files":{"a":{"start":0,"end":4}}}`, `files["a"].end`},
		{"start behind the body", `{"files":{"a":{"start":4,"end":4}}}`, `files["a"].start`},
		{"start behind end", `{"files":{"a":{"start":3,"end":2}}}`, `files["a"].start`},
		{"a second value", `{"files":{"a":{"start":0,"end":3}}}{}`, "bundle metadata"},
		{"a zero behind it", `{"files":{"a":{"start":0,"end":3}}}` + "\x00", "bundle metadata"},
		{"not UTF-8", "{\"files\":{\"\xff\":{\"start\":0,\"end\":3}}}", "bundle metadata"},
		{"a long name in what is ignored", `{"x":[{"y":1,"` + strings.Repeat("a", 4097) + `":0}],"files":{"a":{"start":0,"end":3}}}`, "bundle metadata key"},
		{"nested too deeply", `{"x":` + deep + `,"files":{"a":{"start":0,"end":3}}}`, "bundle metadata"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := splitfiletest.File{Entries: []splitfiletest.Entry{{Name: "a", Data: []byte("abc")}}, MetadataJSON: []byte(c.json)}
			_, err := open(t, file.Encode())
			format := requireFault(t, err, c.field)
			require.GreaterOrEqual(t, format.Offset, int64(3))
			require.LessOrEqual(t, format.Offset, int64(3+8+len(c.json)))
		})
	}
}

func TestBundleMetadataMayHaveUnknownKeysAndSpaces(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"version":{"a":[1,{"a":1,"a":2}]},"files":{"a":{"start":0,"end":3}},"x":null}`,
		" {\n\t\"files\" : { \"a\" : { \"end\" : 3 , \"start\" : 0 } } } \r\n",
		`{"x":{"y":"` + strings.Repeat("long", 2000) + `","z":[true,"` + strings.Repeat("long", 2000) + `"]},"files":{"a":{"start":0,"end":3}}}`,
		`{"f\u0069les":{"\u0061":{"st\u0061rt":0,"end":3}}}`,
	} {
		file := splitfiletest.File{Entries: []splitfiletest.Entry{{Name: "a", Data: []byte("abc")}}, MetadataJSON: []byte(text)}
		f, err := open(t, file.Encode())
		require.NoError(t, err, text)
		require.Equal(t, []splitfile.Entry{{Name: "a", Span: splitfile.Span{Start: 0, End: 3}}}, f.Entries)
	}
}

func TestFilesMayBeListedInAnyOrder(t *testing.T) {
	t.Parallel()
	file := someFile()
	want, err := open(t, file.Encode())
	require.NoError(t, err)
	places := file.Places()
	for range places {
		places = append(places[1:], places[0])
		file.MetadataJSON = splitfiletest.BundleJSON(places)
		f, err := open(t, file.Encode())
		require.NoError(t, err)
		require.Equal(t, want.Entries, f.Entries)
		_, _, err = f.Metadata()
		require.NoError(t, err)
	}
}

func TestTooManyFilesAreRefused(t *testing.T) {
	t.Parallel()
	file := someFile()
	count := len(file.Entries)
	limited := func(limit int) error {
		_, err := splitfile.Open(t.Context(), splitfiletest.Memory(file.Encode()), splitfile.Options{
			SplitID: someSplitID, Limits: splitfile.Limits{Entries: limit},
		})
		return err
	}
	require.NoError(t, limited(count))
	requireFault(t, limited(count-1), `files["split_recovery_metadata"]`)
}

func TestABodyWithAGapOrAnOverlapIsRefusedWithARecoveryEntryAndNotedWithoutOne(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(places []splitfiletest.Placed){
		"a gap at the start":          func(p []splitfiletest.Placed) { p[0].Start++ },
		"a gap in between":            func(p []splitfiletest.Placed) { p[0].End-- },
		"a gap at the end":            func(p []splitfiletest.Placed) { p[len(p)-1].End-- },
		"an overlap":                  func(p []splitfiletest.Placed) { p[2].End++ },
		"the same place twice":        func(p []splitfiletest.Placed) { p[3].Start, p[3].End = p[2].Start, p[2].End },
		"an empty file within a file": func(p []splitfiletest.Placed) { p[1].Start, p[1].End = 2, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := someFile()
			places := file.Places()
			change(places)
			file.MetadataJSON = splitfiletest.BundleJSON(places)
			_, err := open(t, file.Encode())
			var format *splitfile.FormatError
			require.ErrorAs(t, err, &format)
			require.Contains(t, format.Field, "files")

			legacy := splitfiletest.NewLegacy()
			places = legacy.Places()
			change(places)
			legacy.MetadataJSON = splitfiletest.BundleJSON(places)
			f, err := open(t, legacy.Encode())
			require.NoError(t, err)
			require.Len(t, f.Warnings, 1)
			require.Contains(t, f.Warnings[0].Field, "files")
			_, err = f.Legacy()
			require.NoError(t, err)
		})
	}
}

func TestASplitWithoutMetaJSONIsNotRecovered(t *testing.T) {
	t.Parallel()
	file := someFile()
	file.Entries[4].Name = "META.json"
	_, _, err := recoverAs(t, file.Encode(), someSplitID)
	requireFault(t, err, `files["meta.json"]`)
}

func TestALegacyFileMayLackTheFieldList(t *testing.T) {
	t.Parallel()
	for _, with := range []bool{true, false} {
		file := splitfiletest.NewLegacy()
		if !with {
			file.Entries = file.Entries[:len(file.Entries)-1]
		}
		for _, file.Trailer = range []bool{false, true} {
			f, err := open(t, file.Encode())
			require.NoError(t, err)
			require.True(t, f.IsLegacy())
			legacy, err := f.Legacy()
			require.NoError(t, err)
			require.Equal(t, uint64(file.FooterStart()), legacy.FooterStart)
			require.Equal(t, uint64(len(file.Encode())), legacy.FooterEnd)
		}
	}
}

func TestAFileWithARecoveryEntryIsNotLegacyEvenIfTheEntryIsWrong(t *testing.T) {
	t.Parallel()
	file := someFile()
	file.Entries[len(file.Entries)-1].Data[0] = 'q'
	f, err := open(t, file.Encode())
	require.NoError(t, err)
	require.False(t, f.IsLegacy())
	_, err = f.Legacy()
	requireFault(t, err, `files["split_recovery_metadata"]`)
	_, _, err = f.Metadata()
	requireFault(t, err, "recovery entry magic")
}

func TestARecoveryEntryAboveTheCapIsNotRead(t *testing.T) {
	t.Parallel()
	file := someFile()
	entry := &file.Entries[len(file.Entries)-1]
	entry.Data = append(entry.Data, make([]byte, 1<<20+1-len(entry.Data))...)
	f, recorder, err := openSparse(t, file, splitfile.Options{TailSize: 64, Size: metastore.Some(file.Sparse().Size())})
	require.NoError(t, err)
	_, _, err = f.Metadata()
	format := requireFault(t, err, "recovery entry length")
	require.Equal(t, "1048577", format.Value)
	require.LessOrEqual(t, f.BytesRead, int64(64<<10))
	require.Len(t, recorder.Ranges(), 2)
}
