package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

// What became of a member that nobody knows.
const (
	kept    = "kept"
	named   = "named"
	refused = "refused"
)

// place is an object of a document.
type place struct {
	path   string // without positions
	offset int    // behind its brace
	empty  bool
}

// objectsIn returns every object of a document.
func objectsIn(t testing.TB, text string) []place {
	t.Helper()
	var places []place
	d := jsontext.NewDecoder(strings.NewReader(text))
	var walk func(path string)
	walk = func(path string) {
		token, err := d.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		switch token.Kind() {
		case '{':
			places = append(places, place{path, int(d.InputOffset()), d.PeekKind() == '}'})
			for d.PeekKind() != '}' {
				name, err := d.ReadToken()
				if err != nil {
					t.Fatal(err)
				}
				walk(strings.TrimPrefix(path+"."+name.String(), "."))
			}
		case '[':
			for d.PeekKind() != ']' {
				walk(path + "[*]")
			}
		default:
			return
		}
		if _, err := d.ReadToken(); err != nil {
			t.Fatal(err)
		}
	}
	walk("")
	return places
}

// with returns the document with a member more in an object.
func with(text string, at place, name, value string) string {
	member := string(strictjson.AppendString(nil, name)) + ":" + value
	if !at.empty {
		member += ","
	}
	return text[:at.offset] + member + text[at.offset:]
}

// through returns the document that is exported after a document was imported.
func through(indexID, text string) (written string, lost []Loss, err error) {
	var ledger losses.Ledger
	p, err := readPeerDocument(strings.NewReader(text), indexID, 1_800_000_000, nil, &ledger)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	err = writePeerDocument(&out, p.state)
	return out.String(), ledger.Losses(), err
}

// richDocument is a document of a real store with objects that real stores of today seldom have.
func richDocument(t testing.TB) string {
	return edited(t, peerText(t, "events"),
		`"sources": [`, `"sources": [
			{"version":"0.9","source_id":"drops","source_type":"file","params":{"notifications":[{"type":"sqs","queue_url":"https://sqs.eu-west-3.amazonaws.com/1/q","message_type":"raw_uri"}]}},
			{"version":"0.7","source_id":"old","desired_num_pipelines":2,"max_num_pipelines_per_indexer":3,"source_type":"kafka","params":{"topic":"t","client_params":{"a":{"b":1.50}}}},
			{"version":"0.9","source_id":"pulsar-2","source_type":"pulsar","params":{"topics":["a"],"address":"pulsar://a:1","authentication":{"oauth2":{"issuer_url":"i","credentials_url":"c"}}}},`,
		`"tokenizers": [`, `"tokenizers": [{"name":"words","type":"simple"},`,
		`"metrics_splits": [`, `"metrics_splits": [{"metadata":{"split_id":"rich","index_uid":"events:01M8P1VJ12CZSQ3K9AG2SRQJB7","time_range":{"start_secs":1,"end_secs":2},
			"num_rows":1,"size_bytes":1,"metric_names":["b","a","b"],"low_cardinality_tags":{"host":["x","x"]},"high_cardinality_tag_keys":[],
			"created_at":{"secs_since_epoch":1,"nanos_since_epoch":1000000002},"maturity":{"type":"immature","maturation_period_millis":5},"window_start":null,
			"row_keys_proto":[1],"zonemap_regexes":{"col":"a.*"},"rg_partition_prefix_len":0},"state":"Staged","update_timestamp":1},`)
}

// edited replaces texts, each of which must be there, once.
func edited(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the document has no %s", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// A member that nobody knows is put into every object of a document, one after the other.
func TestAMemberThatNobodyKnowsIsKeptOrNamedOrMakesTheDocumentUnreadable(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"":                                kept,
		"index":                           kept,
		"index.checkpoint":                refused, // it would be a source
		"index.checkpoint._ingest-source": refused, // it would be a partition
		"index.checkpoint.edge-kafka":     refused,
		"index.checkpoint.kin":            refused,
		"index.checkpoint.nothing":        refused,
		"index.checkpoint.pul":            refused,
		// A config with a member that only a newer peer knows is kept whole.
		"index.index_config":                                                 kept,
		"index.index_config.doc_mapping":                                     kept,
		"index.index_config.doc_mapping.dynamic_mapping":                     kept,
		"index.index_config.doc_mapping.dynamic_mapping.fast":                kept,
		"index.index_config.doc_mapping.field_mappings[*]":                   kept,
		"index.index_config.doc_mapping.field_mappings[*] of an object":      named,
		"index.index_config.doc_mapping.field_mappings[*].field_mappings[*]": kept,
		"index.index_config.doc_mapping.tokenizers[*]":                       kept,
		"index.index_config.doc_mapping.tokenizers[*] of simple type":        named,
		"index.index_config.indexing_settings":                               kept,
		"index.index_config.indexing_settings.merge_policy":                  kept,
		"index.index_config.indexing_settings.resources":                     kept,
		"index.index_config.ingest_settings":                                 kept,
		"index.index_config.search_settings":                                 kept,
		"index.index_config.retention":                                       kept,
		"index.sources[*]":                                                   kept,
		"index.sources[*].params":                                            kept,
		"index.sources[*].params.client_params":                              kept,
		"index.sources[*].params.client_params.a":                            kept,
		"index.sources[*].params.authentication":                             kept,
		"index.sources[*].params.authentication.oauth2":                      kept,
		"index.sources[*].params.notifications[*]":                           named,
		"index.sources[*].transform":                                         kept,
		"splits[*]":                                                          kept,
		"splits[*].footer_offsets":                                           refused,
		"splits[*].time_range":                                               refused,
		"splits[*].maturity":                                                 named,
		"shards":                                                             refused, // it would be a source
		"shards._ingest-source[*]":                                           named,
		"delete_tasks[*]":                                                    named,
		"delete_tasks[*].delete_query":                                       named,
		"metrics_splits[*]":                                                  named,
		"metrics_splits[*].metadata":                                         kept,
		"metrics_splits[*].metadata.time_range":                              named,
		"metrics_splits[*].metadata.created_at":                              refused,
		"metrics_splits[*].metadata.maturity":                                named,
		"metrics_splits[*].metadata.low_cardinality_tags":                    refused, // it would be a tag
		"metrics_splits[*].metadata.zonemap_regexes":                         refused, // it would be a column
		"sketch_splits[*]":                                                   named,
		"sketch_splits[*].metadata":                                          kept,
		"sketch_splits[*].metadata.time_range":                               named,
		"sketch_splits[*].metadata.created_at":                               refused,
		"sketch_splits[*].metadata.maturity":                                 named,
		"sketch_splits[*].metadata.low_cardinality_tags":                     refused,
	}
	const name, value = "newer-than-we-are", `{"deep": [1.50, 18446744073709551616]}`
	text := richDocument(t)
	original, lost, err := through("events", text)
	if err != nil {
		t.Fatal(err)
	}
	expectLosses(t, lost)
	got := map[string]string{}
	times := map[string]int{}
	for _, at := range objectsIn(t, text) {
		const enough = 3 // splits are all alike
		if times[at.path]++; times[at.path] > enough && !strings.HasPrefix(at.path, "index.") {
			continue
		}
		changed := with(text, at, name, value)
		written, lost, err := through("events", changed)
		outcome := kept
		switch {
		case err != nil:
			outcome = refused
			if !strings.Contains(err.Error(), name) {
				t.Errorf("in %s: the error does not name it: %v", at.path, err)
			}
		case len(lost) > 0:
			outcome = named
			if len(lost) != 1 || lost[0].Reason != losses.LeftOut || lost[0].Count != 1 || !strings.HasSuffix(lost[0].Path, "."+name) || !strings.HasSuffix(lost[0].First, "."+name) {
				t.Errorf("in %s: lost is %+v", at.path, lost)
			}
			if written != original {
				t.Errorf("in %s: more than that is lost", at.path)
			}
		default:
			if !strings.Contains(written, `"`+name+`":{"deep":[1.50,18446744073709551616]}`) && !strings.Contains(written, `"`+name+`":{"deep":[1.5,18446744073709551616]}`) {
				t.Errorf("in %s: it is neither kept nor named", at.path)
			}
		}
		kind := at.path
		switch object := text[at.offset:]; {
		case strings.HasSuffix(kind, "field_mappings[*]") && strings.Contains(object[:strings.IndexAny(object, "[}")], `"field_mappings"`):
			kind += " of an object"
		case strings.HasSuffix(kind, "tokenizers[*]") && strings.HasPrefix(object, `"name":"words"`):
			kind += " of simple type"
		}
		if before, again := got[kind]; again && before != outcome {
			t.Errorf("in %s it is %s, and %s in another one", kind, outcome, before)
		}
		got[kind] = outcome
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if got[path] != want[path] {
			t.Errorf("in %q it is %s, want %q", path, got[path], want[path])
		}
	}
	if len(got) < len(want) {
		t.Errorf("%d kinds of objects were seen, want %d", len(got), len(want))
	}
}

func TestLossesAreCountedByKindOfPlace(t *testing.T) {
	t.Parallel()
	const shards, splits = 100_000, 3
	shard := func(source string, i int) string {
		return fmt.Sprintf(`{"index_uid":"old:01J9ZP00000000000000000001","source_id":%q,"shard_id":"%d","leader_id":"n","shard_state":1,"publish_position_inclusive":"","colour":%d}`, source, i, i)
	}
	var more strings.Builder
	more.WriteString(`"sketch_splits":[],"shards":{`)
	for _, source := range []string{"a", "b.c"} {
		if source != "a" {
			more.WriteByte(',')
		}
		fmt.Fprintf(&more, "%q:[", source)
		for i := range shards / 2 {
			if i > 0 {
				more.WriteByte(',')
			}
			more.WriteString(shard(source, i))
		}
		more.WriteByte(']')
	}
	more.WriteString(`},`)
	text := smallDocument("0.9", more.String())
	start := strings.LastIndex(text, `"shards"`)
	text = text[:start] + text[strings.Index(text, `"splits"`):]
	text = edited(t, text, `"footer_offsets"`, `"maturity":{"type":"mature","x y":1},"footer_offsets"`)
	split := text[strings.Index(text, `{"split_state"`):strings.LastIndex(text, `],`)]
	for i := range splits - 1 {
		text = edited(t, text, split, split+","+strings.Replace(split, `"one"`, fmt.Sprintf(`"one-%d"`, i), 1))
	}
	_, lost := readLossy(t, text)
	expectLosses(t, lost,
		`left_out shards.*[*].colour 100000 shards.a[0].colour`,
		`left_out splits[*].maturity["x y"] 3 splits[0].maturity["x y"]`)
}

func TestMembersThatAreGivenAgainAreNamedWhereTheLastOneCounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ old, new, want string }{
		{`"checkpoint": {"_ingest-source": {}}`, `"checkpoint": {"_ingest-source": {"a": "1"}, "_ingest-source": {}}`, "repeated index.checkpoint.* 1 index.checkpoint._ingest-source"},
		{`"checkpoint": {"_ingest-source": {}}`, `"checkpoint": {"k": {"a": "1", "a": "2", "a": "3"}}`, "repeated index.checkpoint.*.* 2 index.checkpoint.k.a"},
		{`"sources": []`, `"sources": [{"version":"0.9","source_id":"k","source_type":"kafka","params":{"topic":"t","client_params":{"x":1,"x":2}}}]`,
			"repeated index.sources[*].params.client_params.* 1 index.sources[0].params.client_params.x"},
		// Both are kept.
		{`"sources": []`, `"sources": [], "mood": 1, "mood": 2`, ""},
		{`"num_docs": 3`, `"num_docs": 3, "mood": 1, "mood": 2`, ""},
	} {
		written, lost, err := through("old", edited(t, smallDocument("0.9", ""), test.old, test.new))
		if err != nil {
			t.Fatalf("%s: %v", test.new, err)
		}
		if test.want != "" {
			expectLosses(t, lost, test.want)
			continue
		}
		expectLosses(t, lost)
		if !strings.Contains(written, `"mood":1,"mood":2`) {
			t.Errorf("%s: written as %s", test.new, written)
		}
	}
}

func TestWhatIsKeptWithAnotherValueIsNamed(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70)
	for _, test := range []struct{ old, new, want string }{
		{`"delete_tasks": []`, `"delete_tasks": [{"create_timestamp": 1, "opstamp": 1, "delete_query": null}]`, "changed delete_tasks[*].delete_query 1 delete_tasks[0].delete_query"},
		{`"num_docs": 3`, `"num_docs": 3, "mood": ` + deep, "left_out splits[*].mood 1 splits[0].mood"},
		{`"num_docs": 3`, `"num_docs": 3, "maturity": {"type": "mature", "maturation_period_millis": 5}`,
			"left_out splits[*].maturity.maturation_period_millis 1 splits[0].maturity.maturation_period_millis"},
	} {
		_, lost, err := through("old", edited(t, smallDocument("0.9", ""), test.old, test.new))
		if err != nil {
			t.Fatalf("%s: %v", test.new, err)
		}
		expectLosses(t, lost, test.want)
	}
}

func TestUpgradesOfOldDocumentsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, test := range [][]string{
		{`"follower_id": null`, `"follower_id": "node-b"`},
		{`"doc_mapping_uid": "01J9ZP00000000000000000002"`, `"doc_mapping_uid": null, "publish_token": null`},
		{`"doc_mapping": {`, `"doc_mapping": {"doc_mapping_uid": "01j9zp00000000000000000002", "document_length": true, "tag_fields": [], "dynamic_mapping": null,`},
		{`"doc_mapping": {`, `"indexing_settings": {"merge_policy": {"type": "default", "maturation_period": "48h"}, "resources": {"heap_size": "2 GB", "max_merge_write_throughput": "1 MB"}},
			"ingest_settings": {"validate_docs": true}, "retention": null, "doc_mapping": {`},
		{`"field_mappings": []`, `"field_mappings": [{"name": "at", "type": "datetime", "precision": "seconds", "fast": true, "input_formats": ["RFC3339", "rfc3339"]},
			{"name": "t", "type": "text", "fast": true}]`},
		{`s3://bucket/old`, `file:///a/b/../c/`},
		{`"footer_offsets": {"start": 5, "end": 9}`, `"footer_offsets": [5, 9], "time_range": [1, 2], "node_id": "node/3", "source_id": null, "tags": ["b", "a", "b"]`},
		{`"sources": []`, `"sources": [{"version": "0.7", "source_id": "a", "num_pipelines": 3, "desired_num_pipelines": 1, "source_type": "void", "params": {}, "transform": null},
			{"version": "0.8", "source_id": "b", "source_type": "vec", "input_format": "plain", "params": {"docs": ["ab"], "batch_num_docs": 1}}]`},
		{`"delete_tasks": []`, `"delete_tasks": [{"create_timestamp": 1, "opstamp": 1, "delete_query": {"index_id": "old:01J9ZP00000000000000000001", "query": "{}", "start_timestamp": null}}]`},
	} {
		for _, version := range []string{"0.7", "0.8", "0.9"} {
			_, lost, err := through("old", edited(t, smallDocument(version, ""), test...))
			if err != nil {
				t.Fatalf("%s, %s: %v", version, test[1], err)
			}
			expectLosses(t, lost)
		}
	}
}

func TestARepeatedImportStillSaysWhatIsNotCarried(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	text := edited(t, peerText(t, "audit"), `"leader_id"`, `"colour": 1, "leader_id"`)
	const want = "left_out shards.*[*].colour 1 shards._ingest-source[0].colour"
	looked, err := ReadPeerDocument(t.Context(), peerDocumentOf("audit", text))
	if err != nil {
		t.Fatal(err)
	}
	expectLosses(t, looked.Dropped, want)
	expectLosses(t, importText(t, s, "audit", text).Dropped, want)
	again := importText(t, s, "audit", text)
	if expectLosses(t, again.Dropped, want); !again.Existed {
		t.Error("it was imported twice")
	}
	text = edited(t, text, `"splits": [`, `"splits": [`+firstSplit(text)+",")
	again = importText(t, s, "audit", text)
	if expectLosses(t, again.Dropped, want, "repeated splits[*] 1 splits[1]"); !again.Existed {
		t.Error("it was imported twice")
	}
}

// firstSplit returns the text of the first split of a document.
func firstSplit(text string) string {
	rest := text[strings.Index(text, `"splits": [`)+len(`"splits": [`):]
	value, err := jsontext.NewDecoder(bytes.NewBufferString(rest)).ReadValue()
	if err != nil {
		panic(err)
	}
	return string(value)
}

func TestMembersThatWereKeptSurviveChangesOfWhatTheyBelongTo(t *testing.T) {
	t.Parallel()
	text := edited(t, peerText(t, "events"),
		`"retention": {`, `"of-the-config": 1, "retention": {`,
		`"source_id": "nothing",`, `"source_id": "nothing", "of-the-source": 2,`,
		`"kind": "Metrics",`, `"of-the-metrics": 3, "kind": "Metrics",`)
	text = strings.ReplaceAll(text, `"split_state":`, `"of-the-split": {"a": [4]}, "split_state":`)
	b := memBucket(t)
	s := openOn(t, b)
	imported := importText(t, s, "events", text)
	expectLosses(t, imported.Dropped)
	uid := imported.IndexUID
	var staged, published, metrics []string
	state, err := s.stateOf(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	state.splits.ascend("", func(split *splitRecord) bool {
		switch split.state {
		case metastore.Staged:
			staged = append(staged, split.id)
		case metastore.Published:
			published = append(published, split.id)
		}
		return true
	})
	state.parquet[metastore.MetricsSplits].ascend("", func(split *metastore.ParquetSplit) bool {
		metrics = append(metrics, split.Metadata.SplitID)
		return true
	})
	for name, change := range map[string]func(ctx context.Context) error{
		"publishing": func(ctx context.Context) error { return s.PublishSplits(ctx, publishing(uid, staged...)) },
		"another delete opstamp": func(ctx context.Context) error {
			return s.UpdateSplitsDeleteOpstamp(ctx, uid, published, 7)
		},
		"enabling a source": func(ctx context.Context) error { return s.ToggleSource(ctx, uid, "nothing", true) },
		"marking metrics": func(ctx context.Context) error {
			return s.MarkParquetSplitsForDeletion(ctx, metastore.MetricsSplits, uid, metrics)
		},
	} {
		if err := change(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := s.MarkSplitsForDeletion(t.Context(), uid, published); err != nil {
		t.Fatal(err)
	}
	written := exportText(t, openOn(t, keepOpen{b}), "events") // from the log
	for member, times := range map[string]int{`"of-the-config":1`: 1, `"of-the-source":2`: 1, `"of-the-metrics":3`: 1, `"of-the-split":{"a":[4]}`: state.splits.len()} {
		if got := strings.Count(written, member); got != times {
			t.Errorf("%s is there %d times, want %d", member, got, times)
		}
	}
}

// FuzzMembersThatNobodyKnows puts a member into one object of a document.
func FuzzMembersThatNobodyKnows(f *testing.F) {
	documents := map[string]string{"rich": richDocument(f)}
	for id := range peerIndexes {
		documents[id] = peerText(f, id)
	}
	ids := slices.Sorted(maps.Keys(documents))
	places := map[string][]place{}
	for i, id := range ids {
		places[id] = objectsIn(f, documents[id])
		f.Add(uint(i), uint(i*7), "colour", `{"a":1}`)
		f.Add(uint(i), uint(i*11), "a \"name\"\n", `[null,1e400,{"a":1,"a":2}]`)
	}
	f.Add(uint(1), uint(40), "deep", strings.Repeat("[", 200)+strings.Repeat("]", 200))
	f.Add(uint(1), uint(1), "text", `"ä\u00e4\ud83d\ude00"`)
	f.Fuzz(func(t *testing.T, document, position uint, name, value string) {
		if !jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true)) {
			return // no document
		}
		id := ids[document%uint(len(ids))]
		at := places[id][position%uint(len(places[id]))]
		name = "x " + name // no name that anybody knows
		indexID := id
		if id == "rich" {
			indexID = "events"
		}
		written, lost, err := through(indexID, with(documents[id], at, name, value))
		key := string(strictjson.AppendString(nil, name)) + ":"
		switch isKept := strings.Contains(written, key); {
		case err != nil:
			if len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		case len(lost) == 0 && !isKept:
			t.Errorf("in %s of %s: %s%s is neither kept nor named", at.path, id, key, value)
		case len(lost) > 0:
			text, err := json.Marshal(lost)
			if err != nil {
				t.Fatal(err)
			}
			if lost[0].Reason == losses.LeftOut && isKept {
				t.Errorf("in %s of %s: %s%s is kept, and lost are %s", at.path, id, key, value, text)
			}
		}
	})
}
