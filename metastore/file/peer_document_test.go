package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore/internal/losses"
)

// smallDocument is a document of the peer's with one split and one shard. Its members are in alphabetical order, which readers
// must not mind; more are put in front of them.
func smallDocument(version, more string) string {
	return fmt.Sprintf(`{%s
  "delete_tasks": [],
  "index": {"version": %[2]q, "index_uid": "old:01J9ZP00000000000000000001",
    "index_config": {"version": %[2]q, "index_id": "old", "index_uri": "s3://bucket/old", "doc_mapping": {"field_mappings": []}},
    "checkpoint": {"_ingest-source": {}}, "create_timestamp": 1700000000, "sources": []},
  "shards": {"_ingest-source": [{"index_uid": "old:01J9ZP00000000000000000001", "source_id": "_ingest-source", "shard_id": "01",
    "ingester_id": "node-a", "follower_id": null, "shard_state": 1, "publish_position_inclusive": "", "doc_mapping_uid": "01J9ZP00000000000000000002"}]},
  "splits": [{"split_state": "Published", "update_timestamp": 1700000002, "publish_timestamp": 1700000002, "version": %[2]q,
    "split_id": "one", "index_id": "old:01J9ZP00000000000000000001", "num_docs": 3, "size_in_bytes": 30,
    "create_timestamp": 1700000001, "footer_offsets": {"start": 5, "end": 9}}],
  "version": %[2]q}`, more, version)
}

func readSmall(t *testing.T, text string) *peerDocument {
	t.Helper()
	p, lost := readLossy(t, text)
	expectLosses(t, lost)
	return p
}

// readLossy reads a small document of which not everything is kept.
func readLossy(t *testing.T, text string) (*peerDocument, []Loss) {
	t.Helper()
	var lost losses.Ledger
	p, err := readPeerDocument(strings.NewReader(text), "old", 1_800_000_000, nil, &lost)
	if err != nil {
		t.Fatal(err)
	}
	return p, lost.Losses()
}

// expectLosses expects losses, each written as "reason path count first".
func expectLosses(t testing.TB, lost []Loss, want ...string) {
	t.Helper()
	var got []string
	for _, loss := range lost {
		got = append(got, fmt.Sprint(loss.Reason, " ", loss.Path, " ", loss.Count, " ", loss.First))
	}
	if !slices.Equal(got, want) {
		t.Errorf("lost are %q, want %q", got, want)
	}
}

func TestOldDocumentsOfThePeerAreUpgradedAsThePeerDoes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.7", "0.8", "0.9"} {
		p := readSmall(t, smallDocument(version, ""))
		shard := p.state.shards.get("_ingest-source", "01")
		if isNil := shard.DocMappingUID.IsZero(); isNil != (version != "0.9") {
			t.Errorf("%s: the shard's doc mapping is %s", version, shard.DocMappingUID)
		}
		if shard.IngesterID != "node-a" || shard.UpdateTimestamp != 1704067200 {
			t.Errorf("%s: the shard is %+v", version, shard)
		}
		var written strings.Builder
		if err := writePeerDocument(&written, p.state); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(written.String(), `"version":"0.7"`) || strings.Contains(written.String(), `"version":"0.8"`) ||
			!strings.Contains(written.String(), `"uncompressed_docs_size_in_bytes":30`) {
			t.Errorf("%s: written as %s", version, written.String())
		}
		if err := comparePeerDocument(strings.NewReader(smallDocument(version, "")), "old", 0, p.state, nil); err != nil {
			t.Errorf("%s: compared with itself: %v", version, err)
		}
	}
}

func TestMembersThatNobodyKnowsAreKeptUnlessTheyHaveANameOfOurs(t *testing.T) {
	t.Parallel()
	text := strings.Replace(smallDocument("0.9", `"colour": {"deep": [1, {}]}, "holdfast": {}, "records": [{"a": 1}], "crc32c": "", "taste": 18446744073709551616,`), `"sources": []`, `"sources": [], "mood": 1`, 1)
	p, lost := readLossy(t, text)
	expectLosses(t, lost, "left_out crc32c 1 crc32c", "left_out holdfast 1 holdfast", "left_out records 1 records")
	var written strings.Builder
	if err := writePeerDocument(&written, p.state); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(written.String(), `,"colour":{"deep":[1,{}]},"taste":18446744073709551616}`) || !strings.Contains(written.String(), `"sources":[],"mood":1}`) {
		t.Errorf("written as %s", written.String())
	}
}

func TestAMissingTimeOfCreationIsThatOfTheImport(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"create_timestamp": 1700000001, `, "", `"create_timestamp": 1700000000, `, "").Replace(smallDocument("0.8", ""))
	p := readSmall(t, text)
	if p.state.index.CreateTimestamp != 1_800_000_000 || p.state.splits.get("one").created != 1_800_000_000 {
		t.Errorf("the index is of %d, the split of %d", p.state.index.CreateTimestamp, p.state.splits.get("one").created)
	}
	if err := comparePeerDocument(strings.NewReader(text), "old", 1_800_000_000, p.state, nil); err != nil {
		t.Error(err)
	}
}

func TestATimeOfCreationIsThatOfTheObjectItselfHoweverItIsSpelt(t *testing.T) {
	t.Parallel()
	const inside = `"note": {"create_timestamp": 5}, "text": "\"create_timestamp\"", `
	for name, c := range map[string]struct {
		index, split               string
		indexCreated, splitCreated int64
	}{
		"missing, and inside": {inside, inside, 1_800_000_000, 1_800_000_000},
		"given, and inside":   {inside + `"create_timestamp": 1700000000, `, inside + `"create_timestamp": 1700000001, `, 1_700_000_000, 1_700_000_001},
		"escaped":             {`"create\u005ftimestamp": 1700000000, `, `"create\u005ftimestamp": 1700000001, `, 1_700_000_000, 1_700_000_001},
	} {
		text := strings.NewReplacer(`"create_timestamp": 1700000001, `, c.split, `"create_timestamp": 1700000000, `, c.index).Replace(smallDocument("0.9", ""))
		p := readSmall(t, text)
		if got := p.state.index.CreateTimestamp; got != c.indexCreated {
			t.Errorf("%s: the index is of %d, want %d", name, got, c.indexCreated)
		}
		if got := p.state.splits.get("one").created; got != c.splitCreated {
			t.Errorf("%s: the split is of %d, want %d", name, got, c.splitCreated)
		}
		if err := comparePeerDocument(strings.NewReader(text), "old", 1_800_000_000, p.state, nil); err != nil {
			t.Errorf("%s: compared with itself: %v", name, err)
		}
	}
}

func TestOfASplitThatIsThereTwiceTheLastOneCounts(t *testing.T) {
	t.Parallel()
	text := smallDocument("0.9", "")
	start := strings.Index(text, `{"split_state"`)
	end := strings.Index(text, `],
  "version"`)
	earlier := strings.Replace(text[start:end], `"num_docs": 3`, `"num_docs": 2`, 1)
	twice := text[:start] + earlier + "," + text[start:]
	p, lost := readLossy(t, twice)
	expectLosses(t, lost, "repeated splits[*] 1 splits[1]")
	if err := comparePeerDocument(strings.NewReader(twice), "old", 0, p.state, nil); err != nil || p.state.splits.len() != 1 {
		t.Errorf("%d splits, compared with itself: %v", p.state.splits.len(), err)
	}
	reversed := text[:start] + text[start:end] + "," + earlier + text[end:]
	if err := comparePeerDocument(strings.NewReader(reversed), "old", 0, p.state, nil); !errors.Is(err, errDiffers) {
		t.Errorf("compared with another last one: %v", err)
	}
}

func TestEveryDifferenceFromADocumentIsFound(t *testing.T) {
	t.Parallel()
	text := smallDocument("0.9", "")
	state := readSmall(t, text).state
	for _, change := range [][2]string{
		{`"num_docs": 3`, `"num_docs": 4`},
		{`"publish_timestamp": 1700000002`, `"publish_timestamp": null`},
		{`"split_id": "one"`, `"split_id": "two"`},
		{`"index_uri": "s3://bucket/old"`, `"index_uri": "s3://bucket/new"`},
		{`"sources": []`, `"sources": [], "mood": 1`},
		{`"delete_tasks"`, `"mood": 1, "delete_tasks"`},
		{`"shard_state": 1`, `"shard_state": 2`},
		{`"delete_tasks": []`, `"delete_tasks": [{"create_timestamp": 1, "opstamp": 1, "delete_query": {"index_uid": "old:01J9ZP00000000000000000001", "query_ast": "{}"}}]`},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if err := comparePeerDocument(strings.NewReader(changed), "old", 0, state, nil); !errors.Is(err, errDiffers) {
			t.Errorf("%s: got %v", change[1], err)
		}
	}
	start, end := strings.Index(text, `{"split_state"`), strings.Index(text, `],
  "version"`)
	if err := comparePeerDocument(strings.NewReader(text[:start]+text[end:]), "old", 0, state, nil); !errors.Is(err, errDiffers) {
		t.Errorf("without the split: %v", err)
	}
}

func TestDocumentsThatCannotBeUnderstoodAreRefused(t *testing.T) {
	t.Parallel()
	good := smallDocument("0.9", "")
	for name, text := range map[string]string{
		"empty":           "",
		"no object":       "[]",
		"cut":             good[:len(good)-40],
		"more behind":     good + "x",
		"unknown version": smallDocument("1.0", ""),
		"a member twice":  smallDocument("0.9", `"version": "0.9",`),
		"another id":      strings.Replace(good, `"index_id": "old", "index_uri"`, `"index_id": "new", "index_uri"`, 1),
		"another id in UID": strings.Replace(good, `"index_uid": "old:01J9ZP00000000000000000001",
    "index_config"`, `"index_uid": "new:01J9ZP00000000000000000001",
    "index_config"`, 1),
		"no index":             `{"version":"0.9","splits":[]}`,
		"no splits":            `{"version":"0.9","index":` + indexOf(t, good) + `}`,
		"no version":           `{"splits":[],"index":` + indexOf(t, good) + `}`,
		"split without id":     strings.Replace(good, `"split_id": "one", `, "", 1),
		"unknown state":        strings.Replace(good, `"Published"`, `"Lost"`, 1),
		"splits are no list":   strings.Replace(good, `"delete_tasks": []`, `"delete_tasks": {}`, 1),
		"shard of another one": strings.Replace(good, `"source_id": "_ingest-source"`, `"source_id": "kafka"`, 1),
	} {
		if _, err := readPeerDocument(strings.NewReader(text), "old", 0, nil, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func indexOf(t *testing.T, document string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &members); err != nil {
		t.Fatal(err)
	}
	return string(members["index"])
}

func FuzzReadPeerDocument(f *testing.F) {
	for id := range peerIndexes {
		f.Add(peerText(f, id), id)
	}
	f.Add(smallDocument("0.7", `"colour":1,`), "old")
	f.Fuzz(func(t *testing.T, text, indexID string) {
		var lost losses.Ledger
		p, err := readPeerDocument(strings.NewReader(text), indexID, 1, nil, &lost)
		if err != nil {
			return
		}
		// What was understood is the same as what is written, and that is understood again, without a loss.
		var written strings.Builder
		if err := writePeerDocument(&written, p.state); err != nil {
			t.Fatal(err)
		}
		lost = losses.Ledger{}
		if err := comparePeerDocument(strings.NewReader(written.String()), indexID, 2, p.state, &lost); err != nil {
			t.Fatalf("compared with what was written: %v\n%s", err, written.String())
		}
		expectLosses(t, lost.Losses())
		if err := comparePeerDocument(strings.NewReader(text), indexID, 1, p.state, nil); err != nil {
			t.Fatalf("compared with what was read: %v", err)
		}
	})
}
