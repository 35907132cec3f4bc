package metastore

import (
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore/internal/strictjson"
)

func TestACanonicalRowIsScannedAsItIsParsed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		metadata := SplitMetadata{
			SplitID:     rapid.StringN(0, 30, -1).Draw(t, "split id"),
			IndexUID:    IndexUID{IndexID: rapid.StringMatching(`[a-z-]{1,20}`).Draw(t, "index id")},
			PartitionID: rapid.Uint64().Draw(t, "partition id"),
			NodeID:      rapid.StringMatching(`[a-z0-9-]{1,20}`).Draw(t, "node id"),
			SourceID:    rapid.String().Draw(t, "source id"),
			Tags:        rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,5}:.{0,5}`), 0, 5).Draw(t, "tags"),
			FooterEnd:   rapid.Uint64().Draw(t, "footer end"),
		}
		row := SplitRow{
			State:           rapid.SampledFrom([]SplitState{Staged, Published, MarkedForDeletion}).Draw(t, "state"),
			UpdateTimestamp: rapid.Int64().Draw(t, "update timestamp"),
			Document:        metadata.Document(),
		}
		if rapid.Bool().Draw(t, "published") {
			row.PublishTimestamp = Some(rapid.Int64().Draw(t, "publish timestamp"))
		}
		text := row.AppendJSON(nil)

		scanned, ok := scanSplitRow(string(text))

		var parsed SplitRow
		if err := strictjson.Decode("", text, func(r *strictjson.Reader) error { return parsed.read(r, unixNow) }); err != nil {
			t.Fatalf("parse %s: %v", text, err)
		}
		if !ok || scanned != parsed || scanned != row {
			t.Errorf("%s: scanned %v %+v, parsed %+v", text, ok, scanned, parsed)
		}
	})
}

func TestATextThatIsNotCanonicalIsNotScanned(t *testing.T) {
	t.Parallel()
	metadata := SplitMetadata{SplitID: "s", IndexUID: IndexUID{IndexID: "i"}, NodeID: "n"}
	row := SplitRow{State: Staged, Document: metadata.Document()}
	text := string(row.AppendJSON(nil))
	for _, odd := range []string{"", "{}", " " + text, text + " ", text[:len(text)-1], text[1:], `{"split_state":"Lost"` + text[len(`{"split_state":"Staged"`):]} {
		if _, ok := scanSplitRow(odd); ok {
			t.Errorf("%s was taken for canonical", odd)
		}
	}
}
