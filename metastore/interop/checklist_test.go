package interop_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/integration/objectstore"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/interop"
)

// The lines of the checklist for who shares a file-backed store of the peer's.
var checklist = []struct {
	line  string
	check func(t *testing.T)
	also  []string // tests that show more of it
}{
	{"D2.1 names, versions, states, keys and types are those of the peer", checkNamesAndDocuments, []string{"TestManifestsOfAllVersionsAreRead", "TestStoresOfThePeerComeBackAsTheyWere"}},
	{"D2.2 an index is named as active after its document was written, and none is removed", checkOrderOfWrites,
		[]string{"TestAKilledExportGoesOn", "TestAForcedExportReplacesTheStoreAndNamesWhatIsLeftBehind"}},
	{"D2.3 objects are replaced atomically and whole", checkReplacement, []string{"TestAPlaceKeepsWholeObjects", "TestAnExportThatWasGivenUpShowsNothingAndGoesOn"}},
	{"D2.4 indexes that are being created or deleted are not listed, may be created, and are cleaned up by a deletion", checkTransitions, []string{"TestAnImportSaysWhatItDidNotCarry"}},
	{"D2.5 what must be there is there although it is empty", checkEmptyParts, []string{"TestManifestsThatCannotBeUnderstoodAreRefused", "TestDocumentsThatCannotBeUnderstoodAreRefused"}},
	{"D2.6 one process writes", checkOneWriter, []string{"TestAKilledImportGoesOn", "TestAnExportReplacesNothingWithoutForce", "TestTwoImportsAtOnceAreOneImport"}},
	{"D2.7 manifest and documents are read afresh when the store is taken over", checkReadAfresh, []string{"TestADocumentThatChangesMeanwhileIsNotImported"}},
	{"D2.8 what a running reader of the peer would miss is told, and our readers miss nothing", checkReaders,
		[]string{"TestThePollingSuffixIsNoPartOfThePlace", "TestAWriteIsSeenAtOnceByEveryStoreUnlessARefreshTimeAllowsOtherwise"}},
	{"D2.9 opstamps increase in each index, UIDs and positions are those of PostgreSQL", checkOpstampsAndTexts, []string{"TestAnImportedIndexLivesOn", "TestOpstampsGoOnWhereAnotherProcessLeftOff"}},
}

func TestAFileBackedStoreIsSharedAsThePeerExpects(t *testing.T) {
	for _, item := range checklist {
		t.Run(item.line, item.check)
	}
}

func TestEveryLineOfTheChecklistIsTestedAndNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	for _, directory := range []string{".", "../file"} {
		paths, err := filepath.Glob(filepath.Join(directory, "*_test.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%d files in %s, error %v", len(paths), directory, err)
		}
		for _, path := range paths {
			tests.WriteString(read(t, path))
		}
	}
	const lines = 9
	if len(checklist) != lines {
		t.Errorf("%d lines, want %d", len(checklist), lines)
	}
	for i, item := range checklist {
		if number := fmt.Sprintf("D2.%d ", i+1); !strings.HasPrefix(item.line, number) {
			t.Errorf("line %q comes where %sis expected", item.line, number)
		}
		for _, test := range item.also {
			if !strings.Contains(tests.String(), "\nfunc "+test+"(") {
				t.Errorf("%s: there is no %s", item.line, test)
			}
		}
	}
}

// openStore opens a store of ours until the end of the test.
func openStore(t *testing.T, directory string) *file.Store {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: directory})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func createIndex(t *testing.T, store metastore.Store, id string) metastore.IndexUID {
	t.Helper()
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"`+id+`","index_uri":"s3://bucket/`+id+`","doc_mapping":{}}`), ulid.Make)
	must(t, err)
	var sources []*indexconfig.SourceConfig
	for _, text := range []string{`{"version":"0.9","source_id":"_ingest-source","source_type":"ingest"}`, `{"version":"0.9","source_id":"void","source_type":"void","params":null}`} {
		source, err := indexconfig.ParseSourceConfig([]byte(text))
		must(t, err)
		sources = append(sources, source)
	}
	metadata, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: config, Sources: sources})
	must(t, err)
	return metadata.IndexUID
}

func createTask(t *testing.T, store metastore.Store, uid metastore.IndexUID) uint64 {
	t.Helper()
	task, err := store.CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: uid, EndTimestamp: metastore.Some[int64](9), QueryAST: `{"type":"match_all"}`})
	must(t, err)
	return task.Opstamp
}

func createTemplate(t *testing.T, store metastore.Store, id string) {
	t.Helper()
	template, err := indexconfig.ParseIndexTemplate([]byte(`{"version":"0.9","template_id":"`+id+`","index_id_patterns":["`+id+`-*","-`+id+`-tmp*"],"priority":7,"doc_mapping":{}}`), ulid.Make)
	must(t, err, store.CreateIndexTemplate(t.Context(), template, false))
}

// fullStore is a store of ours with everything that calls can make, in the index "full", and the index "bare" without any of it.
func fullStore(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	store, ctx := openStore(t, directory), t.Context()
	createIndex(t, store, "bare")
	uid := createIndex(t, store, "full")
	var splits []metastore.SplitMetadata
	for _, id := range []string{"staged", "published", "marked"} {
		splits = append(splits, metastore.SplitMetadata{
			SplitID: id, SourceID: "void", NodeID: "node-1", PartitionID: 1<<64 - 1, NumDocs: 10, UncompressedDocsSize: 1000, TimeRange: metastore.Some(metastore.TimeRange{Start: 100, End: 200}),
			CreateTimestamp: 1_700_000_000, Maturity: metastore.Maturity{Immature: true, PeriodMillis: 60_000}, Tags: []string{"tenant!", "tenant:1"}, FooterStart: 500, FooterEnd: 900,
		})
	}
	splits = append(splits, metastore.SplitMetadata{SplitID: "plain", FooterEnd: 7})
	_, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits})
	delta := func(source, partition string, from, to metastore.Position) *metastore.CheckpointDelta {
		return &metastore.CheckpointDelta{SourceID: source, Partitions: map[string]metastore.PartitionDelta{partition: {From: from, To: to}}}
	}
	must(t, err,
		store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"published", "marked"}, Delta: delta("void", "p", "", "00000000000000000007")}),
		store.MarkSplitsForDeletion(ctx, uid, []string{"marked"}))
	var subrequests []metastore.OpenShardSubrequest
	for _, id := range []string{"open", "moved", "ended"} {
		subrequests = append(subrequests, metastore.OpenShardSubrequest{IndexUID: uid, SourceID: "_ingest-source", ShardID: id, IngesterID: "ingester-1", DocMappingUID: ulid.Make()})
	}
	_, err = store.OpenShards(ctx, subrequests)
	must(t, err)
	_, err = store.AcquireShards(ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: "_ingest-source", ShardIDs: []string{"moved", "ended"}, PublishToken: "token"})
	must(t, err)
	for shard, to := range map[string]metastore.Position{"moved": "00000000000000000005", "ended": "~00000000000000000006"} {
		must(t, store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, PublishToken: metastore.Some("token"), Delta: delta("_ingest-source", shard, "", to)}))
	}
	createTask(t, store, uid)
	createTask(t, store, uid)
	for kind := range metastore.SketchSplits + 1 {
		rich := metastore.ParquetSplitMetadata{
			Kind: kind, SplitID: "rich", IndexUID: uid.String(), TimeStart: 1, TimeEnd: 2, NumRows: 3, SizeBytes: 4, MetricNames: []string{"cpu"}, CreatedSeconds: 1_700_000_000,
			LowCardinalityTags: map[string][]string{"service": {"web"}}, Window: metastore.Some(metastore.ParquetWindow{Start: 60, Duration: 60}), RowKeys: []byte{1},
			ZonemapRegexes: map[string]string{"host": "a.*"}, RowGroupPartitionPrefix: 2, Maturity: metastore.Maturity{Immature: true, PeriodMillis: 5},
		}
		plain := metastore.ParquetSplitMetadata{Kind: kind, SplitID: "plain", IndexUID: uid.String()}
		must(t, store.StageParquetSplits(ctx, kind, uid, []metastore.ParquetSplitMetadata{rich, plain}),
			store.PublishParquetSplits(ctx, kind, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"rich"}}))
	}
	createTemplate(t, store, "logs")
	_, err = store.ClusterIdentity(ctx)
	must(t, err)
	return directory
}

// exported exports a store of ours to a new directory.
func exported(t *testing.T, store string) string {
	t.Helper()
	to := t.TempDir()
	exportStore(t, options(store, to))
	return to
}

func checkOrderOfWrites(t *testing.T) {
	service := objectstore.S3(t)
	for _, variable := range service.Environment {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	address, query, _ := strings.Cut(service.URL, "?")
	parameters, err := url.ParseQuery(query)
	must(t, err)
	endpoint, err := url.Parse(parameters.Get("endpoint"))
	must(t, err)
	var mu sync.Mutex
	var writes []string
	forward := httputil.NewSingleHostReverseProxy(endpoint)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := strings.TrimPrefix(r.URL.Path, "/"+strings.TrimPrefix(address, "s3://")+"/theirs/"); r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasPrefix(key, "_holdfast-") {
			mu.Lock()
			writes = append(writes, r.Method+" "+key)
			mu.Unlock()
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	parameters.Set("endpoint", proxy.URL)
	to := options(fullStore(t), address+"/theirs?"+parameters.Encode())
	expect := func(what string, want ...string) {
		t.Helper()
		if n := len(writes); n > 1 {
			slices.Sort(writes[:n-1]) // several documents are written at once
		}
		if !slices.Equal(writes, want) {
			t.Errorf("%s: the writes were %q, want %q", what, writes, want)
		}
		writes = nil
	}
	exportStore(t, to)
	expect("new", "PUT bare/metastore.json", "PUT full/metastore.json", "PUT manifest.json")
	store := openStore(t, to.From)
	full, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("full")})
	must(t, err)
	createTask(t, store, full.IndexUID)
	bare, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("bare")})
	must(t, err, store.DeleteIndex(t.Context(), bare.IndexUID))
	to.Force = true
	exportStore(t, to)
	expect("again, with one index less", "PUT full/metastore.json", "PUT manifest.json")
}

// Who has an object open keeps reading the old one, whole, and no other file is left.
func checkReplacement(t *testing.T) {
	from, to := fullStore(t), t.TempDir()
	o := options(from, to)
	exportStore(t, o)
	names := []string{"manifest.json", "bare/metastore.json", "full/metastore.json"}
	before := map[string]string{}
	handles := map[string]*os.File{}
	for _, name := range names {
		before[name] = read(t, filepath.Join(to, name))
		handle, err := os.Open(filepath.Join(to, name))
		must(t, err)
		defer handle.Close()
		handles[name] = handle
	}
	store := openStore(t, from)
	for _, id := range []string{"bare", "full"} {
		found, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)})
		must(t, err)
		createTask(t, store, found.IndexUID)
	}
	createTemplate(t, store, "more")
	o.Force = true
	exportStore(t, o)
	for _, name := range names {
		old := make([]byte, len(before[name])+1)
		n, err := handles[name].Read(old)
		if err != nil || string(old[:n]) != before[name] {
			t.Errorf("%s: who had it open reads %d bytes of %d, error %v", name, n, len(before[name]), err)
		}
		if read(t, filepath.Join(to, name)) == before[name] {
			t.Errorf("%s was not replaced", name)
		}
	}
	if found := filesIn(t, to); !slices.Equal(found, slices.Sorted(slices.Values(names))) {
		t.Errorf("the files are %q", found)
	}
}

func checkTransitions(t *testing.T) {
	from, directory := copyStore(t, "shop"), t.TempDir()
	edit(t, filepath.Join(from, "manifest.json"), `"audit": "active"`, `"audit": "creating", "gone": "deleting"`)
	edit(t, filepath.Join(from, "manifest.json"), `"web-access": "active"`, `"web-access": "deleting"`)
	expectResults(t, importStore(t, options(from, directory)), "audit not_carried", "gone not_carried", "web-access not_carried")
	store := openStore(t, directory)
	all, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	must(t, err)
	if listed, err := store.ListIndexesMetadata(t.Context(), all); err != nil || len(listed) > 0 {
		t.Errorf("%d indexes are listed, error %v", len(listed), err)
	}
	for _, id := range []string{"audit", "gone", "web-access"} {
		notFound := metastore.NotFound(metastore.IndexEntity(id))
		if _, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)}); !errors.Is(err, notFound) {
			t.Errorf("%s is read with error %v", id, err)
		}
		if err := store.DeleteIndex(t.Context(), metastore.IndexUID{IndexID: id, Incarnation: ulid.Make()}); !errors.Is(err, notFound) {
			t.Errorf("%s is deleted with error %v", id, err)
		}
	}
	uid := createIndex(t, store, "audit")
	o := options(directory, from)
	o.Force = true
	expectResults(t, exportStore(t, o), "audit copied", "web-access left_behind")
	if manifest := read(t, filepath.Join(from, "manifest.json")); !strings.Contains(manifest, `"indexes":{"audit":"active"}`) {
		t.Errorf("the manifest is %s", manifest)
	}
	if document := read(t, filepath.Join(from, "audit", "metastore.json")); !strings.Contains(document, uid.String()) {
		t.Errorf("the document of audit is not that of %s", uid)
	}
}

func checkEmptyParts(t *testing.T) {
	directory := t.TempDir()
	store := openStore(t, directory)
	uid := createIndex(t, store, "bare")
	bare := exported(t, directory)
	for name, want := range map[string][]string{"manifest.json": {"indexes", "templates"}, "bare/metastore.json": {"index", "splits"}} {
		document := documents(t, bare)[name].(map[string]any)
		for _, member := range want {
			if _, there := document[member]; !there {
				t.Errorf("%s has no %s", name, member)
			}
		}
	}
	must(t, store.DeleteIndex(t.Context(), uid))
	empty := exported(t, directory)
	if got := read(t, filepath.Join(empty, "manifest.json")); got != `{"version":"0.9","indexes":{},"templates":[]}` {
		t.Errorf("of an empty store the manifest is %s", got)
	}
	// And so is a document read that has no more than it must have.
	from := copyStore(t, "shop")
	index := documents(t, bare)["bare/metastore.json"].(map[string]any)["index"].(map[string]any)
	if index["index_uid"] != uid.String() {
		t.Fatalf("the index is %v", index)
	}
	text := read(t, filepath.Join(bare, "bare", "metastore.json"))
	text = strings.Replace(text, `,"delete_tasks":[]`, "", 1)
	write(t, filepath.Join(from, "bare", "metastore.json"), text)
	edit(t, filepath.Join(from, "manifest.json"), `"audit"`, `"bare": "active", "audit"`)
	expectResults(t, importStore(t, options(from, t.TempDir())), "audit copied", "bare copied", "web-access copied")
}

func checkOneWriter(t *testing.T) {
	from := copyStore(t, "shop")
	before := contentsOf(t, from)
	for _, readOnly := range []bool{false, true} {
		store, err := file.Open(t.Context(), file.Options{URL: from, ReadOnly: readOnly})
		if err == nil || !strings.Contains(err.Error(), "Quickwit") {
			t.Errorf("read-only %t: opened %v, error %v", readOnly, store, err)
		}
	}
	importStore(t, options(from, t.TempDir()))
	if after := contentsOf(t, from); after != before {
		t.Errorf("the store of the peer had %s and has %s", before, after)
	}
	legacy := t.TempDir()
	write(t, filepath.Join(legacy, "indexes_states.json"), `{}`)
	if _, err := file.Open(t.Context(), file.Options{URL: legacy}); err == nil || !strings.Contains(err.Error(), "Quickwit") {
		t.Errorf("with a legacy manifest: error %v", err)
	}
}

func checkReadAfresh(t *testing.T) {
	from, first := copyStore(t, "shop"), t.TempDir()
	expectResults(t, importStore(t, options(from, first)), "audit copied", "web-access copied")
	// The peer runs once more: a document changes, an index goes.
	edit(t, filepath.Join(from, "audit", "metastore.json"), `"num_merge_ops": 0`, `"num_merge_ops": 9`)
	edit(t, filepath.Join(from, "manifest.json"), `"web-access": "active"`, `"web-access": "deleting"`)
	again := options(from, first)
	again.Force = true
	expectResults(t, importStore(t, again), "audit conflict", "web-access not_carried")
	second := t.TempDir()
	expectResults(t, importStore(t, options(from, second)), "audit copied", "web-access not_carried")
	// And on the way back what was exported is not taken for what is there.
	back := exported(t, second)
	edit(t, filepath.Join(back, "audit", "metastore.json"), `"num_merge_ops":9`, `"num_merge_ops":8`)
	o := options(second, back)
	o.Force = true
	expectResults(t, exportStore(t, o), "audit copied")
	expectResults(t, exportStore(t, o), "audit present")
}

func checkReaders(t *testing.T) {
	directory := t.TempDir()
	importStore(t, options(filepath.Join(peerStores, "shop")+"#polling_interval=30s", directory))
	writer, reader := openStore(t, directory), openStore(t, directory)
	all, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	must(t, err)
	seen := func() string {
		t.Helper()
		indexes, err := reader.ListIndexesMetadata(t.Context(), all)
		must(t, err)
		templates, err := reader.ListIndexTemplates(t.Context())
		must(t, err)
		text := fmt.Sprint(len(templates), " templates")
		for _, index := range indexes {
			opstamp, err := reader.LastDeleteOpstamp(t.Context(), index.IndexUID)
			must(t, err)
			text += fmt.Sprint(", ", index.IndexUID.IndexID, " at ", opstamp)
		}
		return text
	}
	expect := func(want string) {
		t.Helper()
		if got := seen(); got != want {
			t.Errorf("the reader sees %s, want %s", got, want)
		}
	}
	expect("0 templates, audit at 1, web-access at 1")
	audit, err := writer.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("audit")})
	must(t, err)
	createTask(t, writer, audit.IndexUID)
	expect("0 templates, audit at 2, web-access at 1")
	createIndex(t, writer, "born")
	createTemplate(t, writer, "logs")
	must(t, writer.DeleteIndex(t.Context(), audit.IndexUID))
	expect("1 templates, born at 0, web-access at 1")

	o := options(directory, copyStore(t, "shop"))
	o.Force = true
	summary := exportStore(t, o)
	expectResults(t, summary, "audit left_behind", "born copied", "web-access present")
	if detail := summary.Indexes[0].Detail; !strings.Contains(detail, "Quickwit serves it to who asks for the id") || summary.Indexes[0].Result != interop.LeftBehind {
		t.Errorf("of the index that is left behind it is said: %s", detail)
	}
	manual := read(t, "../../docs/migrate.md")
	for _, step := range []string{"**Stop every Quickwit node.**", "**Stop every Holdfast server and Quickwit node.**", "do not start Quickwit on it before the export has ended"} {
		if !strings.Contains(manual, step) {
			t.Errorf("docs/migrate.md does not say %q", step)
		}
	}
}
