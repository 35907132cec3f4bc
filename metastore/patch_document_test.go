package metastore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPatchingReplacesTheThreeValuesThatStoresKeepOutside(t *testing.T) {
	t.Parallel()
	want := edit(t, someSplit, `logs:01J9ZJX0A1B2C3D4E5F6G7H8J9`, `o:01J9ZJX0A1B2C3D4E5F6G7H8J8`)
	want = edit(t, want, `"delete_opstamp":0`, `"delete_opstamp":12`)

	patched, err := PatchDocument([]byte("before"), someSplit, "o:01J9ZJX0A1B2C3D4E5F6G7H8J8", Optional[int64]{}, 12)
	require.NoError(t, err)
	assert.Equal(t, "before"+want, string(patched))

	want = edit(t, want, `"create_timestamp":1787303620`, `"create_timestamp":-3`)
	patched, err = PatchDocument(nil, []byte(someSplit), "o:01J9ZJX0A1B2C3D4E5F6G7H8J8", Some(int64(-3)), 12)
	require.NoError(t, err)
	assert.Equal(t, want, string(patched))
}

func TestPatchingIsNotFooledByWhatStringsHold(t *testing.T) {
	t.Parallel()
	hostile := `\",\"delete_opstamp\":77,\"index_uid\":\"x\",\"create_timestamp\":5}\\`
	text := edit(t, someSplit, `"tenant!"`, `"`+hostile+`"`)
	text = edit(t, text, `"split_id":"01J9ZK3V7Q5X2M8N4B6C0D1E2F"`, `"split_id":"`+hostile+`"`)
	original := parseSplit(t, text)
	require.Equal(t, text, original.Document(), "the text is canonical")

	patched, err := PatchDocument(nil, text, original.IndexUID.String(), Some(int64(9)), 8)

	require.NoError(t, err)
	m := parseSplit(t, string(patched))
	assert.Equal(t, int64(9), m.CreateTimestamp)
	assert.Equal(t, uint64(8), m.DeleteOpstamp)
	assert.Equal(t, original.IndexUID, m.IndexUID)
	assert.Equal(t, original.SplitID, m.SplitID)
	assert.Equal(t, original.Tags, m.Tags)
}

func TestPatchingMakesAnOldStoredDocumentCurrent(t *testing.T) {
	t.Parallel()
	for _, old := range []string{
		`{"version":"0.7","split_id":"s","index_id":"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9","num_docs":1,"size_in_bytes":2,"footer_offsets":{"start":3,"end":4},"node_id":"n"}`,
		"\n" + edit(t, someSplit, `"num_docs"`, ` "num_docs"`),
		edit(t, someSplit, `"indexer-2"`, `"indexer-2/1"`),
		edit(t, someSplit, `"num_merge_ops":0`, `"num_merge_ops":0,"new":[1]`),
	} {
		patched, err := PatchDocument(nil, old, "o:01J9ZJX0A1B2C3D4E5F6G7H8J8", Some(int64(1)), 2)
		require.NoError(t, err)
		m, err := ParseSplitMetadata([]byte(old))
		require.NoError(t, err)
		uid, err := ParseIndexUID("o:01J9ZJX0A1B2C3D4E5F6G7H8J8")
		require.NoError(t, err)
		want := m.WithIndexUID(uid).WithDeleteOpstamp(2)
		again := parseSplit(t, string(patched))
		assert.Equal(t, int64(1), again.CreateTimestamp)
		again.CreateTimestamp, again.document, want.document, want.CreateTimestamp = 0, "", "", 0
		assert.Equal(t, want, again)
	}
}

func TestPatchingADocumentThatDoesNotParseFailsAndAppendsNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", someSplit + "x", strings.TrimSuffix(someSplit, "}"), edit(t, someSplit, "48211", "x")} {
		out, err := PatchDocument([]byte("kept"), text, "o:01J9ZJX0A1B2C3D4E5F6G7H8J8", Optional[int64]{}, 0)
		require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError}, text)
		assert.Equal(t, "kept", string(out))
	}
}

func TestPatchingAStoredDocumentAllocatesNothing(t *testing.T) {
	document, buffer := []byte(someSplit), make([]byte, 0, 4096)
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := PatchDocument(buffer[:0], document, "o:01J9ZJX0A1B2C3D4E5F6G7H8J8", Some(int64(1)), 2); err != nil {
			t.Fatal(err)
		}
	})
	assert.Zero(t, allocations)
}
