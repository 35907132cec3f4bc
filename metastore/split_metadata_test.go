package metastore

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const someSplit = `{"version":"0.9","split_id":"01J9ZK3V7Q5X2M8N4B6C0D1E2F","index_uid":"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9","partition_id":14163749201883920017,` +
	`"source_id":"_ingest-source","node_id":"indexer-2","num_docs":48211,"uncompressed_docs_size_in_bytes":90717244,"time_range":{"start":-5,"end":1787303599},` +
	`"create_timestamp":1787303620,"maturity":{"type":"immature","maturation_period_millis":129600000},"tags":["tenant!","tenant:42","tenant:57"],` +
	`"footer_offsets":{"start":18334021,"end":18402276},"delete_opstamp":0,"num_merge_ops":0,"doc_mapping_uid":"01J9ZJX0M3N4P5Q6R7S8T9V0W1"}`

// edit replaces a piece of a document that must be there.
func edit(t *testing.T, document, old, replacement string) string {
	t.Helper()
	require.Contains(t, document, old)
	return strings.Replace(document, old, replacement, 1)
}

func parseSplit(t *testing.T, document string) SplitMetadata {
	t.Helper()
	m, err := parseSplitMetadata([]byte(document), func() int64 { return 4242 })
	require.NoError(t, err, document)
	return m
}

func TestADocumentThatARealIndexerWroteIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20} {
		text := realSplits(t, n)
		list, err := ParseSplitMetadataList(text)
		require.NoError(t, err)
		require.Len(t, list, n)
		documents := make([]string, n)
		for i := range list {
			documents[i] = list[i].Document()
			assert.Equal(t, documents[i], string(list[i].appendDocument(nil, nil)), "the fields give the same document")
		}
		assert.Equal(t, string(text), "["+strings.Join(documents, ",")+"]")
	}
}

func TestTheRealRowsAreReadWhateverTheirLayout(t *testing.T) {
	t.Parallel()
	pretty, err := os.ReadFile(filepath.Join("testdata", "rows", "web-access.json"))
	require.NoError(t, err)
	fromPretty, err := ParseSplitMetadataList(pretty)
	require.NoError(t, err)
	fromCompact, err := ParseSplitMetadataList(realSplits(t, len(fromPretty)))
	require.NoError(t, err)
	assert.Equal(t, fromCompact, fromPretty)
}

func TestTheFieldsOfADocumentAreExact(t *testing.T) {
	t.Parallel()
	m := parseSplit(t, someSplit)
	uid, err := ParseIndexUID("logs:01J9ZJX0A1B2C3D4E5F6G7H8J9")
	require.NoError(t, err)
	mapping, err := ParseULID("01J9ZJX0M3N4P5Q6R7S8T9V0W1")
	require.NoError(t, err)
	assert.Equal(t, someSplit, m.Document())
	m.document = ""
	assert.Equal(t, SplitMetadata{
		SplitID: "01J9ZK3V7Q5X2M8N4B6C0D1E2F", IndexUID: uid, PartitionID: 14163749201883920017, SourceID: "_ingest-source", NodeID: "indexer-2",
		NumDocs: 48211, UncompressedDocsSize: 90717244, TimeRange: Some(TimeRange{-5, 1787303599}), CreateTimestamp: 1787303620,
		Maturity: Maturity{Immature: true, PeriodMillis: 129600000}, Tags: []string{"tenant!", "tenant:42", "tenant:57"},
		FooterStart: 18334021, FooterEnd: 18402276, DocMappingUID: mapping,
	}, m)
	assert.Equal(t, someSplit, m.Document(), "built from the fields")
}

func TestDefaultsAreFilledIn(t *testing.T) {
	t.Parallel()
	m := parseSplit(t, `{"version":"0.7","split_id":"s","index_id":"logs:01j9zjx0a1b2c3d4e5f6g7h8j9","num_docs":1,"size_in_bytes":2,"footer_offsets":[3,4]}`)
	assert.Equal(t, `{"version":"0.9","split_id":"s","index_uid":"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9","partition_id":0,"source_id":"unknown","node_id":"unknown",`+
		`"num_docs":1,"uncompressed_docs_size_in_bytes":2,"time_range":null,"create_timestamp":4242,"maturity":{"type":"mature"},"tags":[],`+
		`"footer_offsets":{"start":3,"end":4},"delete_opstamp":0,"num_merge_ops":0,"doc_mapping_uid":"00000000000000000000000000"}`, m.Document())
}

func TestWhatIsNotCanonicalIsMadeSo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, old, new, want string }{
		{"white space", `"num_docs":48211`, "\n\"num_docs\" : 48211 ", `"num_docs":48211,`},
		{"another order", `{"version":"0.9","split_id":"01J9ZK3V7Q5X2M8N4B6C0D1E2F"`, `{"split_id":"x","version":"0.9"`, `{"version":"0.9","split_id":"x",`},
		{"an older version", `"0.9"`, `"0.8"`, `"version":"0.9"`},
		{"a needless escape", `indexer-2`, `indexer\u002d2`, `"node_id":"indexer-2"`},
		{"an escaped slash", `_ingest-source`, `a\/b`, `"source_id":"a/b"`},
		{"upper-case hex", `tenant:57`, `\u001F`, `["\u001f","tenant!","tenant:42"]`},
		{"a long form of a short escape", `tenant:57`, `\u000a`, `["\n","tenant!","tenant:42"]`},
		{"unsorted tags", `["tenant!","tenant:42","tenant:57"]`, `["b","a","b"]`, `"tags":["a","b"]`},
		{"a lower-case ULID of the mapping", `01J9ZJX0M3N4P5Q6R7S8T9V0W1`, `01j9zjx0m3n4p5q6r7s8t9v0w1`, `"01J9ZJX0M3N4P5Q6R7S8T9V0W1"`},
		{"a lower-case ULID of the index", `01J9ZJX0A1B2C3D4E5F6G7H8J9`, `01j9zjx0a1b2c3d4e5f6g7h8j9`, `"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9"`},
		{"a range as an array", `{"start":-5,"end":1787303599}`, `[1,2]`, `"time_range":{"start":1,"end":2}`},
		{"no source", `"_ingest-source"`, `null`, `"source_id":"unknown"`},
		{"a pipeline behind the node", `indexer-2`, `indexer-2/7`, `"node_id":"indexer-2"`},
		{"two slashes in the node", `indexer-2`, `a/b/c`, `"node_id":"a"`},
		{"only a slash", `indexer-2`, `/`, `"node_id":""`},
		{"more in the maturity", `{"type":"immature","maturation_period_millis":129600000}`, `{"maturation_period_millis":"x","type":"mature","why":1}`, `"maturity":{"type":"mature"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := parseSplit(t, edit(t, someSplit, test.old, test.new))
			assert.Contains(t, m.Document(), test.want)
			again := parseSplit(t, m.Document())
			assert.Equal(t, m, again, "reading the canonical text changes nothing")
		})
	}
}

func TestCanonicalEscapesStayOnTheFastPath(t *testing.T) {
	t.Parallel()
	text := edit(t, someSplit, `"tenant!","tenant:42","tenant:57"`, `"\u0001\u001f","\b\f\n\r\t","\"\\","é𝄞"`)
	m, ok := scanSplitMetadata(text)
	require.True(t, ok)
	assert.Equal(t, []string{"\x01\x1f", "\b\f\n\r\t", `"\`, "é𝄞"}, m.Tags)
	assert.Equal(t, text, string(m.appendDocument(nil, nil)))
}

func TestUnknownKeysAreKeptBehindTheKnownOnes(t *testing.T) {
	t.Parallel()
	text := edit(t, someSplit, `"num_docs"`, `"z":{ "b":[1, 2.50 ,"a b"]},"split_state":"Published","update_timestamp":1,"publish_timestamp":null,"num_docs"`)
	text = edit(t, text, `"num_merge_ops":0`, `"num_merge_ops":0,"a":1e999`)
	m := parseSplit(t, text)
	want := strings.TrimSuffix(someSplit, "}") + `,"z":{"b":[1,2.50,"a b"]},"a":1e999}`
	assert.Equal(t, want, m.Document(), "the keys of the enclosing document are dropped")
	assert.Equal(t, want, parseSplit(t, want).document)
	assert.Contains(t, ptr(m.WithDeleteOpstamp(9)).Document(), `"delete_opstamp":9,"num_merge_ops":0,"doc_mapping_uid":"01J9ZJX0M3N4P5Q6R7S8T9V0W1","z":{`)
}

func TestAnUnknownKeyThatIsNestedTooDeeplyToBeStoredIsDropped(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	assert.Contains(t, ptr(parseSplit(t, strings.TrimSuffix(someSplit, "}")+`,"x":`+deep(64)+`}`)).Document(), `,"x":[[`)
	assert.Equal(t, someSplit, ptr(parseSplit(t, strings.TrimSuffix(someSplit, "}")+`,"x":`+deep(65)+`}`)).Document())
	_, err := ParseSplitMetadata([]byte(strings.TrimSuffix(someSplit, "}") + `,"x":` + deep(127) + `}`))
	assert.Error(t, err, "the 128th open array")
}

func TestADocumentThatIsWrongIsRefusedNamingTheField(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, old, new, want string }{
		{"version 0.6", `"0.9"`, `"0.6"`, "version"},
		{"version as a number", `"0.9"`, `0.9`, "version"},
		{"no version", `"version":"0.9",`, ``, "version"},
		{"a count as text", `48211`, `"48211"`, "num_docs"},
		{"a count of 2^64", `48211`, `18446744073709551616`, "num_docs"},
		{"a count of -0", `48211`, `-0`, "num_docs"},
		{"a count with a leading zero", `48211`, `048211`, ""},
		{"a count with an exponent", `48211`, `1e3`, "num_docs"},
		{"a time of 2^63", `1787303620`, `9223372036854775808`, "create_timestamp"},
		{"null tags", `["tenant!","tenant:42","tenant:57"]`, `null`, "tags"},
		{"an uid of more than 128 bits", `logs:0`, `logs:8`, "index_uid"},
		{"a key given twice", `"num_docs":48211`, `"num_docs":48211,"num_docs":48211`, "num_docs"},
		{"a key and its alias", `"num_docs"`, `"index_id":"a:01J9ZJX0A1B2C3D4E5F6G7H8J9","num_docs"`, "index_uid"},
		{"three values in a range", `{"start":-5,"end":1787303599}`, `[1,2,3]`, "time_range"},
		{"one value in a range", `{"start":-5,"end":1787303599}`, `[1]`, "time_range"},
		{"another key in a range", `"end":18402276`, `"end":18402276,"size":1`, "footer_offsets"},
		{"half a surrogate pair", `tenant:42`, `\ud800`, ""},
		{"bytes that are not UTF-8", `tenant:42`, "\xff", ""},
		{"a raw control character", `tenant:42`, "\n", ""},
		{"a period of nothing", `"maturation_period_millis":129600000`, `"x":1`, "maturity"},
		{"a negative period", `129600000`, `-1`, "maturity.maturation_period_millis"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := edit(t, someSplit, test.old, test.new)
			_, err := ParseSplitMetadata([]byte(text))
			require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError})
			assert.ErrorContains(t, err, test.want)
			_, err = ParseSplitMetadataList([]byte("[" + someSplit + "," + text + "]"))
			require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError})
			assert.ErrorContains(t, err, "[1]")
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestAListThatIsNoListIsRefusedWithThePeersNameOfTheType(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "null", "{}", someSplit, "[" + someSplit, "[" + someSplit + "]]", "[" + someSplit + "}]", "[" + strings.TrimSuffix(someSplit, "}") + "]", "[" + someSplit + ",]", "[,]", "[null]", "\xef\xbb\xbf[]"} {
		_, err := ParseSplitMetadataList([]byte(text))
		var typed *Error
		require.ErrorAs(t, err, &typed, text)
		assert.Equal(t, "alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>", typed.StructName)
	}
	list, err := ParseSplitMetadataList([]byte(" [ ] "))
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestAParsedSplitDoesNotKeepTheTextItCameFrom(t *testing.T) {
	t.Parallel()
	text := []byte("[" + someSplit + "]")
	list, err := ParseSplitMetadataList(text)
	require.NoError(t, err)
	clear(text)
	assert.Equal(t, someSplit, list[0].Document())
	assert.Equal(t, "01J9ZK3V7Q5X2M8N4B6C0D1E2F", list[0].SplitID)
	assert.Equal(t, "tenant:57", list[0].Tags[2])
}

func TestChangingASplitChangesItsDocumentAndNothingElse(t *testing.T) {
	t.Parallel()
	m := parseSplit(t, someSplit)
	other := IndexUID{IndexID: "other"}

	changed := m.WithIndexUID(other).WithDeleteOpstamp(math.MaxUint64)

	want := edit(t, someSplit, `logs:01J9ZJX0A1B2C3D4E5F6G7H8J9`, other.String())
	want = edit(t, want, `"delete_opstamp":0`, `"delete_opstamp":18446744073709551615`)
	assert.Equal(t, parseSplit(t, want), changed)
	assert.Equal(t, someSplit, m.Document(), "the original is as it was")

	m.document = ""
	assert.Equal(t, want, ptr(m.WithIndexUID(other).WithDeleteOpstamp(math.MaxUint64)).Document(), "built from fields")
}

func ptr[T any](value T) *T { return &value }

func TestMaturityIsCountedInWholeSeconds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		create  int64
		period  uint64
		seconds int64
		ok      bool
	}{
		{"999 ms", 100, 999, 100, true},
		{"20500 ms", 100, 20500, 120, true},
		{"the last second", maxStoredTimestamp, 0, maxStoredTimestamp, true},
		{"behind the last second", maxStoredTimestamp, 1000, maxStoredTimestamp + 1, false},
		{"the first second", minStoredTimestamp, 0, minStoredTimestamp, true},
		{"before the first second", minStoredTimestamp - 1, 0, minStoredTimestamp - 1, false},
		{"beyond 64 bits", math.MaxInt64, 1000, math.MaxInt64, false},
		{"the greatest period", 0, math.MaxUint64, 18446744073709551, false},
		{"the earliest creation", math.MinInt64, math.MaxUint64, math.MinInt64 + 18446744073709551, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := SplitMetadata{CreateTimestamp: test.create, Maturity: Maturity{Immature: true, PeriodMillis: test.period}}
			seconds, ok := m.MaturityTimestamp()
			assert.Equal(t, test.seconds, seconds)
			assert.Equal(t, test.ok, ok)
		})
	}
	seconds, ok := (&SplitMetadata{CreateTimestamp: math.MinInt64}).MaturityTimestamp()
	assert.Zero(t, seconds)
	assert.True(t, ok, "a mature split always was")
}

func TestASplitRowIsTheSplitDocumentOfThePeer(t *testing.T) {
	t.Parallel()
	row := SplitRow{State: Published, UpdateTimestamp: -7, PublishTimestamp: Some(int64(8)), Document: someSplit}
	want := `{"split_state":"Published","update_timestamp":-7,"publish_timestamp":8,` + someSplit[1:]
	assert.Equal(t, want, string(row.AppendJSON(nil)))
	assert.True(t, json.Valid(row.AppendJSON(nil)))

	parsed, err := ParseSplitRow([]byte(want))
	require.NoError(t, err)
	assert.Equal(t, row, parsed)
	split, err := parsed.Split()
	require.NoError(t, err)
	assert.Equal(t, row, split.Row())
	assert.Equal(t, row, row.Clone())

	row.PublishTimestamp = Optional[int64]{}
	assert.Contains(t, string(row.AppendJSON([]byte("x"))), `x{"split_state":"Published","update_timestamp":-7,"publish_timestamp":null,"version"`)
}

func TestASplitDocumentMayHaveItsKeysInAnyOrder(t *testing.T) {
	t.Parallel()
	row, err := ParseSplitRow([]byte(strings.TrimSuffix(someSplit, "}") + `,"x":1,"update_timestamp":3,"split_state":"MarkedForDeletion"}`))
	require.NoError(t, err)
	assert.Equal(t, SplitRow{State: MarkedForDeletion, UpdateTimestamp: 3, Document: strings.TrimSuffix(someSplit, "}") + `,"x":1}`}, row)
}

func TestASplitDocumentThatIsWrongIsRefused(t *testing.T) {
	t.Parallel()
	good := `{"split_state":"Staged","update_timestamp":1,"publish_timestamp":null,` + someSplit[1:]
	for _, test := range []struct{ old, new, want string }{
		{`"Staged"`, `"New"`, "split_state"},
		{`"split_state":"Staged",`, ``, "split_state"},
		{`"update_timestamp":1`, `"update_timestamp":null`, "update_timestamp"},
		{`"publish_timestamp":null`, `"publish_timestamp":"1"`, "publish_timestamp"},
		{`"publish_timestamp":null`, `"publish_timestamp":null,"split_state":"Staged"`, "split_state"},
		{`"num_docs":48211`, `"num_docs":-1`, "num_docs"},
	} {
		_, err := ParseSplitRow([]byte(edit(t, good, test.old, test.new)))
		require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError})
		assert.ErrorContains(t, err, test.want)
	}
}
