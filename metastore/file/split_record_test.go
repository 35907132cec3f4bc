package file

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

// wantRecordLike fails unless a record of the split tells a listing what the split itself would.
func wantRecordLike(t *testing.T, split *metastore.Split) {
	t.Helper()
	record := newSplitRecord(split)
	row, _ := record.row([]byte("what was here before"))
	if want := split.Row(); row != want {
		t.Fatalf("row\n%+v\nwant\n%+v", row, want)
	}
	m := split.Metadata
	want := metastore.Split{
		State: split.State, UpdateTimestamp: split.UpdateTimestamp, PublishTimestamp: split.PublishTimestamp,
		Metadata: metastore.SplitMetadata{
			SplitID: m.SplitID, NodeID: m.NodeID, CreateTimestamp: m.CreateTimestamp, TimeRange: m.TimeRange,
			Maturity: m.Maturity, DeleteOpstamp: m.DeleteOpstamp, Tags: append([]string{}, m.Tags...),
		},
	}
	got := metastore.Split{Metadata: metastore.SplitMetadata{Tags: []string{"another split's"}}}
	if record.describe(&got, true); !reflect.DeepEqual(got, want) {
		t.Fatalf("described as\n%+v\nwant\n%+v", got, want)
	}
	if record.footerEnd != m.FooterEnd {
		t.Fatalf("size %d, want %d", record.footerEnd, m.FooterEnd)
	}
	later := *split
	later.Metadata, later.UpdateTimestamp = m.WithDeleteOpstamp(m.DeleteOpstamp+7), 9
	if row, _ := record.stamped(m.DeleteOpstamp+7, 9).row(nil); row != later.Row() {
		t.Fatalf("row with another delete opstamp\n%+v\nwant\n%+v", row, later.Row())
	}
}

func TestARecordTellsWhatItsSplitDoes(t *testing.T) {
	t.Parallel()
	splits := newSplits("plain", `quote " and \ and é`, "", `","tags":`, "line\nfeed")
	splits[0].Tags, splits[0].TimeRange, splits[0].Maturity = nil, metastore.Optional[metastore.TimeRange]{}, metastore.Maturity{}
	splits[1].Tags = []string{"", `"`, `","`, `\`, "line\nfeed", "é"}
	splits[2].SourceID, splits[2].NodeID = `,"tags":["x"]`, "\x00"
	slices.Sort(splits[1].Tags)
	for i := range splits {
		wantRecordLike(t, &metastore.Split{State: metastore.Published, UpdateTimestamp: -1, PublishTimestamp: metastore.Some[int64](7), Metadata: splits[i]})
		parsed, err := metastore.ParseSplitMetadata([]byte(splits[i].Document()))
		if err != nil {
			t.Fatal(err)
		}
		wantRecordLike(t, &metastore.Split{State: metastore.Staged, UpdateTimestamp: 1, Metadata: parsed})
	}
}

func TestADocumentTakesLessRoomPacked(t *testing.T) {
	t.Parallel()
	document := newSplits("01M8P1J7FR1XNB4CEKYG2H9Z5T")[0].Document()
	if packed := packDocument(document); 5*len(packed) > 3*len(document) {
		t.Fatalf("%d bytes of %d:\n%s", len(packed), len(document), packed)
	}
}

func FuzzSplitRecord(f *testing.F) {
	for _, split := range newSplits("a", `quote " and \ and é`, "line\nfeed") {
		f.Add([]byte(split.Document()))
		f.Add([]byte(strings.TrimSuffix(split.Document(), "}") + `,"more":[",\"tags\":",{"tags":1}]}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := metastore.ParseSplitMetadata(text); err == nil {
			wantRecordLike(t, &metastore.Split{State: metastore.Staged, Metadata: m})
		}
	})
}
