package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// peerIndexes are the indexes of real stores of the peer, by the path of their document.
var peerIndexes = map[string]string{
	"events":     "testdata/quickwit/events/events/metastore.json",
	"audit":      "testdata/quickwit/shop/audit/metastore.json",
	"web-access": "testdata/quickwit/shop/web-access/metastore.json",
}

func peerText(t testing.TB, indexID string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(peerIndexes[indexID]))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// peerDocumentOf is a document of that text.
func peerDocumentOf(indexID, text string) PeerDocument {
	return PeerDocument{IndexID: indexID, Now: 1_800_000_000, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
}

func importText(t testing.TB, s *Store, indexID, text string) ImportedIndex {
	t.Helper()
	imported, err := s.ImportIndex(t.Context(), peerDocumentOf(indexID, text))
	if err != nil {
		t.Fatalf("import %s: %v", indexID, err)
	}
	return imported
}

func exportText(t testing.TB, s *Store, indexID string) string {
	t.Helper()
	exported, err := s.ExportIndex(t.Context(), indexID)
	if err != nil {
		t.Fatalf("export %s: %v", indexID, err)
	}
	var text bytes.Buffer
	if _, err := exported.WriteTo(&text); err != nil {
		t.Fatalf("export %s: %v", indexID, err)
	}
	same, err := exported.Compare(t.Context(), peerDocumentOf(indexID, text.String()))
	if err != nil || !same {
		t.Fatalf("the export of %s does not equal itself: %v", indexID, err)
	}
	return text.String()
}

// anyJSON reads a document without any knowledge of it. Lists whose order means nothing are sorted.
func anyJSON(t testing.TB, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	sortLists(value["splits"])
	for _, member := range []string{"shards", "metrics_splits", "sketch_splits"} {
		sortLists(value[member])
	}
	return value
}

// sortLists sorts a list, or the lists anywhere in an object, by the text of their elements.
func sortLists(value any) {
	switch value := value.(type) {
	case map[string]any:
		for member := range maps.Values(value) {
			sortLists(member)
		}
	case []any:
		for _, element := range value {
			sortLists(element)
		}
		slices.SortFunc(value, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

func expectSameDocument(t testing.TB, got, want string) {
	t.Helper()
	if a, b := anyJSON(t, got), anyJSON(t, want); !reflect.DeepEqual(a, b) {
		gotText, _ := json.MarshalIndent(a, "", " ")
		wantText, _ := json.MarshalIndent(b, "", " ")
		gotLines, wantLines := strings.Split(string(gotText), "\n"), strings.Split(string(wantText), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Fatalf("the documents differ in line %d: got %q, want %q", i, gotLines[i], wantLines[i])
			}
		}
		t.Fatalf("got a document of %d lines, want %d", len(gotLines), len(wantLines))
	}
}

func TestIndexesOfThePeerComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		s := openOn(t, b)
		for id := range peerIndexes {
			imported := importText(t, s, id, peerText(t, id))
			if imported.Version != "0.9" || len(imported.Dropped) > 0 || imported.Existed {
				t.Errorf("%s: got %+v", id, imported)
			}
		}
		again := openOn(t, keepOpen{b})
		for id := range peerIndexes {
			expectSameDocument(t, exportText(t, again, id), peerText(t, id))
		}
		listed, err := again.indexes(t.Context(), func(string) bool { return true })
		if err != nil || len(listed) != len(peerIndexes) {
			t.Errorf("%d indexes are listed, want %d, error %v", len(listed), len(peerIndexes), err)
		}
	})
}

func TestAnImportedIndexIsCounted(t *testing.T) {
	t.Parallel()
	imported := importText(t, openOn(t, memBucket(t)), "events", peerText(t, "events"))
	var document struct {
		Index  struct{ Sources []any }
		Splits []struct {
			SplitState string `json:"split_state"`
		}
		Shards      map[string][]any
		DeleteTasks []any `json:"delete_tasks"`
		Metrics     []any `json:"metrics_splits"`
		Sketches    []any `json:"sketch_splits"`
	}
	if err := json.Unmarshal([]byte(peerText(t, "events")), &document); err != nil {
		t.Fatal(err)
	}
	want := IndexContent{IndexUID: imported.IndexUID, Sources: len(document.Index.Sources), DeleteTasks: len(document.DeleteTasks),
		MetricsSplits: len(document.Metrics), SketchSplits: len(document.Sketches)}
	for _, list := range document.Shards {
		want.Shards += len(list)
	}
	for _, split := range document.Splits {
		switch split.SplitState {
		case "Staged":
			want.Staged++
		case "Published":
			want.Published++
		default:
			want.Marked++
		}
	}
	if imported.IndexContent != want || want.Staged*want.Published*want.Marked == 0 || want.Shards*want.DeleteTasks*want.MetricsSplits == 0 {
		t.Errorf("got %+v, want %+v", imported.IndexContent, want)
	}
}

func TestAnImportedIndexLivesOn(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b)
	uid := importText(t, s, "events", peerText(t, "events")).IndexUID
	if _, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("ours"), CreateOnly: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.PublishSplits(t.Context(), publishing(uid, "ours")); err != nil {
		t.Fatal(err)
	}
	again := openOn(t, b)
	content, err := again.ExportIndex(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	before := importText(t, openOn(t, memBucket(t)), "events", peerText(t, "events"))
	if content.Published != before.Published+1 || content.Staged != before.Staged {
		t.Errorf("got %+v after one more publish than %+v", content.IndexContent, before.IndexContent)
	}
}

func TestUnknownMembersOfAnImportedIndexSurviveEveryChangeAndTheExport(t *testing.T) {
	t.Parallel()
	const member = `"tiers":{"hot":[18446744073709551616,1.50]}`
	text := strings.Replace(peerText(t, "events"), `"index": {`, `"mood":[{"deep":{}}],"index": {`+member+",", 1)
	b := memBucket(t)
	s := openOn(t, b)
	imported := importText(t, s, "events", text)
	if len(imported.Dropped) > 0 {
		t.Errorf("%v was dropped", imported.Dropped)
	}
	expectSameDocument(t, exportText(t, s, "events"), text)
	uid := imported.IndexUID
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"added","source_type":"void","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	other, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"added","source_type":"void","params":{},"input_format":"plain_text"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		name string
		make func(ctx context.Context) error
	}{
		{"adding a source", func(ctx context.Context) error { return s.AddSource(ctx, uid, source) }},
		{"updating a source", func(ctx context.Context) error { return s.UpdateSource(ctx, uid, other) }},
		{"toggling a source", func(ctx context.Context) error { return s.ToggleSource(ctx, uid, "added", false) }},
		{"publishing with progress", func(ctx context.Context) error {
			delta := &metastore.CheckpointDelta{SourceID: "added", Partitions: map[string]metastore.PartitionDelta{"p": {To: "7"}}}
			return s.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, Delta: delta})
		}},
		{"resetting a checkpoint", func(ctx context.Context) error { return s.ResetSourceCheckpoint(ctx, uid, "added") }},
		{"deleting a source", func(ctx context.Context) error { return s.DeleteSource(ctx, uid, "added") }},
		{"updating the index", func(ctx context.Context) error {
			state, err := s.stateOf(ctx, "events")
			if err != nil {
				return err
			}
			config := state.index.Config
			_, err = s.UpdateIndex(ctx, uid, indexconfig.Update{DocMapping: config.DocMapping, IndexingSettings: config.IndexingSettings,
				IngestSettings: indexconfig.IngestSettings{MinShards: 7}, SearchSettings: config.SearchSettings, Retention: config.Retention})
			return err
		}},
	} {
		before := exportText(t, s, "events")
		if err := change.make(t.Context()); err != nil {
			t.Fatalf("%s: %v", change.name, err)
		}
		after := exportText(t, openOn(t, keepOpen{b}), "events") // from the log
		if after == before || strings.Count(after, `],`+member+"}") != 1 || !strings.HasSuffix(after, `,"mood":[{"deep":{}}]}`) {
			t.Errorf("%s: the document is\n%s\nand was\n%s", change.name, after, before)
		}
	}
	state, err := s.stateOf(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteIndex(t.Context(), uid); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: state.index.Config}); err != nil {
		t.Fatal(err)
	}
	if anew := exportText(t, s, "events"); strings.Contains(anew, "mood") || strings.Contains(anew, "tiers") {
		t.Errorf("another incarnation has the members\n%s", anew)
	}
}

func TestAServerThatKnowsNoSuchIndexSeesTheImportedOne(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	server, importer := openOn(t, b), openOn(t, b)
	// It has the log of the index in memory, up to its deletion.
	uid := importText(t, server, "audit", peerText(t, "audit")).IndexUID
	if err := server.DeleteIndex(t.Context(), uid); err != nil {
		t.Fatal(err)
	}
	if _, err := server.stateOf(t.Context(), "audit"); err != nil {
		t.Fatal(err)
	}
	importText(t, importer, "audit", peerText(t, "audit"))
	state, err := server.stateOf(t.Context(), "audit")
	if err != nil || state.index == nil || state.index.IndexUID != uid {
		t.Fatalf("the server sees %+v, error %v", state, err)
	}
	if state.dropped != uid {
		t.Errorf("the log forgot that %s was deleted once", uid)
	}
}

func TestAnIndexIsImportedOnlyOnce(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b)
	importText(t, s, "audit", peerText(t, "audit"))
	before := objectsOf(t, b, "audit/_log/")
	if again := importText(t, s, "audit", peerText(t, "audit")); !again.Existed {
		t.Errorf("the second import says %+v", again)
	}
	other := strings.Replace(peerText(t, "audit"), `"num_merge_ops": 0`, `"num_merge_ops": 7`, 1)
	if _, err := s.ImportIndex(t.Context(), peerDocumentOf("audit", other)); !errors.Is(err, ErrIndexDiffers) || !strings.Contains(err.Error(), "differs") {
		t.Errorf("importing another index of the same id: %v", err)
	}
	if after := objectsOf(t, b, "audit/_log/"); !slices.Equal(before, after) {
		t.Errorf("the log has %v, had %v", after, before)
	}
}

func objectsOf(t testing.TB, b bucket, directory string) []string {
	t.Helper()
	names, err := b.List(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Of each write of an import, the first n succeed and the next one fails.
func TestAnImportThatFailsShowsNothingAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		b := memBucket(t)
		failing := &failingWrites{bucket: b, left: n}
		s, err := open(t.Context(), failing, Options{})
		if err == nil {
			_, err = s.ImportIndex(t.Context(), peerDocumentOf("events", peerText(t, "events")))
			if closing := s.Close(); closing != nil {
				t.Fatal(closing)
			}
		}
		if err == nil {
			if n < 4 {
				t.Errorf("an import made %d writes only", n)
			}
			return
		}
		observer := openOn(t, b)
		if state, err := observer.stateOf(t.Context(), "events"); err != nil || state.index != nil {
			t.Fatalf("after %d writes: the index is there, or cannot be read: %v", n, err)
		}
		if listed, err := observer.indexes(t.Context(), func(string) bool { return true }); err != nil || len(listed) > 0 {
			t.Fatalf("after %d writes: %d indexes are listed, error %v", n, len(listed), err)
		}
		importText(t, observer, "events", peerText(t, "events"))
		expectSameDocument(t, exportText(t, observer, "events"), peerText(t, "events"))
	}
}

// failingWrites is a bucket that refuses access after some writes.
type failingWrites struct {
	bucket
	left int
}

func (f *failingWrites) spend() error {
	if f.left == 0 {
		return errForbidden
	}
	f.left--
	return nil
}

func (f *failingWrites) Create(ctx context.Context, key string, data []byte) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.bucket.Create(ctx, key, data)
}

func (f *failingWrites) CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.bucket.CreateFrom(ctx, key, write)
}

func TestADocumentThatChangesMeanwhileIsNotImported(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	text := peerText(t, "audit")
	document := peerDocumentOf("audit", text)
	document.Open = func(context.Context) (io.ReadCloser, error) {
		now := text
		text = strings.Replace(text, `"num_merge_ops": 0`, `"num_merge_ops": 1`, 1)
		return io.NopCloser(strings.NewReader(now)), nil
	}
	if _, err := s.ImportIndex(t.Context(), document); !errors.Is(err, ErrPeerDocumentChanged) {
		t.Errorf("got error %v", err)
	}
	if state, err := s.stateOf(t.Context(), "audit"); err != nil || state.index != nil {
		t.Errorf("the index is there, error %v", err)
	}
	if left := objectsOf(t, s.env.bucket, "audit/_import/"); len(left) > 0 {
		t.Errorf("objects %v are left", left)
	}
}

func TestOfTwoImportsAtOnceOneWins(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	first, second := openOn(t, b), openOn(t, b)
	document := peerDocumentOf("audit", peerText(t, "audit"))
	raced := document
	opened := 0
	raced.Open = func(ctx context.Context) (io.ReadCloser, error) {
		if opened++; opened == 2 { // when the state was written and is compared
			importText(t, second, "audit", peerText(t, "audit"))
		}
		return document.Open(ctx)
	}
	if _, err := first.ImportIndex(t.Context(), raced); !errors.Is(err, metastore.ErrUnavailable) {
		t.Errorf("the import that lost: %v", err)
	}
	expectSameDocument(t, exportText(t, first, "audit"), peerText(t, "audit"))
	if left := objectsOf(t, b, "audit/_import/"); len(left) != 1 {
		t.Errorf("%d objects are there, want that of the winner", len(left))
	}
}

func TestWithoutItsObjectAnImportedIndexIsDamagedAndNotEmpty(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	importText(t, openOn(t, b), "audit", peerText(t, "audit"))
	name := objectsOf(t, b, "audit/_import/")[0]
	if err := b.Delete(t.Context(), "audit/_import/"+name); err != nil {
		t.Fatal(err)
	}
	_, err := openOn(t, b).stateOf(t.Context(), "audit")
	if err == nil || !strings.Contains(err.Error(), "_import/"+name) {
		t.Errorf("got error %v, want one that names the object", err)
	}
}

func TestTheObjectOfAnImportIsRemovedWithItsEntry(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := trimEagerly(openOn(t, b))
	uid := importText(t, s, "audit", peerText(t, "audit")).IndexUID
	for i := range 3 {
		if _, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(fmt.Sprintf("more-%d", i))}); err != nil {
			t.Fatal(err)
		}
		log, done := s.logs.use("audit")
		if err := log.snapshot(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		done()
	}
	if left := objectsOf(t, b, "audit/_import/"); len(left) > 0 {
		t.Errorf("objects %v are left", left)
	}
	content, err := openOn(t, b).ExportIndex(t.Context(), "audit")
	if err != nil || content.Staged < 3 {
		t.Errorf("got %+v, error %v", content, err)
	}
}
