package interop_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

// The members of the peer's documents, each with the letters of the types that its value may have: s string, n whole number, b boolean, o
// object, a array, 0 null. A question mark means that it may be missing.
const (
	manifestMembers = "version:s indexes:o templates:a identity:s?"
	templateMembers = "version:s template_id:s index_id_patterns:a index_root_uri:s0 priority:n description:s0 doc_mapping:o indexing_settings:o ingest_settings:o search_settings:o retention:o0"
	documentMembers = "version:s index:o splits:a shards:o? delete_tasks:a metrics_splits:a? sketch_splits:a?"
	metadataMembers = "version:s index_uid:s index_config:o checkpoint:o create_timestamp:n sources:a"
	configMembers   = "version:s index_id:s index_uri:s doc_mapping:o indexing_settings:o ingest_settings:o search_settings:o retention:o0"
	sourceMembers   = "version:s source_id:s num_pipelines:n enabled:b source_type:s params:o0? transform:o? input_format:s"
	splitMembers    = "split_state:s update_timestamp:n publish_timestamp:n0 version:s split_id:s index_uid:s partition_id:n source_id:s node_id:s num_docs:n " +
		"uncompressed_docs_size_in_bytes:n time_range:o0 create_timestamp:n maturity:o tags:a footer_offsets:o delete_opstamp:n num_merge_ops:n doc_mapping_uid:s"
	shardMembers           = "index_uid:s source_id:s shard_id:s leader_id:s shard_state:n publish_position_inclusive:s? publish_token:s? doc_mapping_uid:s0 update_timestamp:n"
	taskMembers            = "create_timestamp:n opstamp:n delete_query:o"
	queryMembers           = "index_uid:s start_timestamp:n? end_timestamp:n? query_ast:s"
	parquetMembers         = "metadata:o state:s update_timestamp:n create_timestamp:n node_id:s delete_opstamp:n maturity_timestamp:n"
	parquetMetadataMembers = "kind:s partition_id:n split_id:s index_uid:s time_range:o num_rows:n size_bytes:n metric_names:a low_cardinality_tags:o high_cardinality_tag_keys:a created_at:o " +
		"maturity:o parquet_file:s window_start:n? window_duration_secs:n sort_fields:s num_merge_ops:n row_keys_proto:a? zonemap_regexes:o? rg_partition_prefix_len:n?"
	rangeMembers        = "start:n end:n"
	parquetRangeMembers = "start_secs:n end_secs:n"
	instantMembers      = "secs_since_epoch:n nanos_since_epoch:n"
	maturityMembers     = "type:s maturation_period_millis:n?"
)

// checkNamesAndDocuments goes by one description of the peer's stores, their copies, and stores that only we wrote.
func checkNamesAndDocuments(t *testing.T) {
	for name, directory := range map[string]string{"the peer's shop": filepath.Join(peerStores, "shop"), "the peer's events": filepath.Join(peerStores, "events")} {
		store := t.TempDir()
		importStore(t, options(directory, store))
		expectStore(t, name, directory)
		expectStore(t, "the copy of "+name, exported(t, store))
	}
	expectStore(t, "our own", exported(t, fullStore(t)))
}

// expectStore checks every object of a store of the peer's.
func expectStore(t *testing.T, name, directory string) {
	t.Helper()
	found := documents(t, directory)
	manifest := expectMembers(t, name+": manifest.json", found["manifest.json"], manifestMembers)
	want := []string{"manifest.json"}
	for id, state := range manifest["indexes"].(map[string]any) {
		want = append(want, id+"/metastore.json")
		if state != "active" {
			t.Errorf("%s: %s is %v", name, id, state)
		}
	}
	slices.Sort(want)
	if names := filesIn(t, directory); !slices.Equal(names, want) {
		t.Errorf("%s: the objects are %q, want %q", name, names, want)
	}
	for _, template := range manifest["templates"].([]any) {
		expectMembers(t, name+": template", template, templateMembers)
	}
	for _, path := range want {
		if indexID, isDocument := strings.CutSuffix(path, "/metastore.json"); isDocument {
			expectDocument(t, name+": "+path, indexID, found[path])
		}
	}
}

func expectDocument(t *testing.T, name, indexID string, value any) {
	t.Helper()
	document := expectMembers(t, name, value, documentMembers)
	index := expectMembers(t, name+": index", document["index"], metadataMembers)
	config := expectMembers(t, name+": index_config", index["index_config"], configMembers)
	if config["index_id"] != indexID {
		t.Errorf("%s: index_id is %v", name, config["index_id"])
	}
	for _, source := range index["sources"].([]any) {
		expectMembers(t, name+": source", source, sourceMembers)
	}
	for _, split := range document["splits"].([]any) {
		split := expectMembers(t, name+": split", split, splitMembers)
		expectOneOf(t, name+": split_state", split["split_state"], "Staged", "Published", "MarkedForDeletion")
		expectMembers(t, name+": footer_offsets", split["footer_offsets"], rangeMembers)
		expectMembers(t, name+": maturity", split["maturity"], maturityMembers)
		if split["time_range"] != nil {
			expectMembers(t, name+": time_range", split["time_range"], rangeMembers)
		}
	}
	shards, _ := document["shards"].(map[string]any)
	for _, list := range shards {
		for _, shard := range list.([]any) {
			expectOneOf(t, name+": shard_state", expectMembers(t, name+": shard", shard, shardMembers)["shard_state"], json.Number("1"), json.Number("3"))
		}
	}
	for _, task := range document["delete_tasks"].([]any) {
		expectMembers(t, name+": delete_query", expectMembers(t, name+": delete task", task, taskMembers)["delete_query"], queryMembers)
	}
	for member, kind := range map[string]string{"metrics_splits": "Metrics", "sketch_splits": "Sketches"} {
		list, _ := document[member].([]any)
		for _, split := range list {
			split := expectMembers(t, name+": "+member, split, parquetMembers)
			expectOneOf(t, name+": state", split["state"], "Staged", "Published", "MarkedForDeletion")
			metadata := expectMembers(t, name+": metadata of "+member, split["metadata"], parquetMetadataMembers)
			expectOneOf(t, name+": kind", metadata["kind"], kind)
			expectMembers(t, name+": time_range of "+member, metadata["time_range"], parquetRangeMembers)
			expectMembers(t, name+": created_at of "+member, metadata["created_at"], instantMembers)
			expectMembers(t, name+": maturity of "+member, metadata["maturity"], maturityMembers)
		}
	}
}

func expectOneOf(t *testing.T, name string, got any, want ...any) {
	t.Helper()
	if !slices.Contains(want, got) {
		t.Errorf("%s is %v, want one of %v", name, got, want)
	}
}

// expectMembers checks that an object has members of these names and types and no others. A version must be 0.9.
func expectMembers(t *testing.T, name string, value any, members string) map[string]any {
	t.Helper()
	object, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("%s is no object: %v", name, value)
	}
	unknown := maps.Clone(object)
	for _, member := range strings.Fields(members) {
		key, types, _ := strings.Cut(member, ":")
		types, optional := strings.CutSuffix(types, "?")
		got, there := object[key]
		delete(unknown, key)
		switch {
		case !there && !optional:
			t.Errorf("%s has no %s", name, key)
		case there && !strings.Contains(types, typeOf(got)):
			t.Errorf("%s: %s is %v", name, key, got)
		case there && key == "version" && got != "0.9":
			t.Errorf("%s is of version %v", name, got)
		}
	}
	if len(unknown) > 0 {
		t.Errorf("%s has %v besides", name, unknown)
	}
	return object
}

func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "0"
	case string:
		return "s"
	case bool:
		return "b"
	case json.Number:
		if strings.ContainsAny(value.String(), ".eE") {
			return "not whole"
		}
		return "n"
	case []any:
		return "a"
	default:
		return "o"
	}
}

var (
	uidText      = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{2,254}:[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	ulidText     = regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	positionText = regexp.MustCompile(`^(~?[0-9]{20}|~)?$`)
)

func checkOpstampsAndTexts(t *testing.T) {
	directory := fullStore(t)
	copied := t.TempDir()
	importStore(t, options(exported(t, directory), copied))
	store := openStore(t, copied)
	for _, c := range []struct {
		id   string
		want uint64
	}{{"full", 3}, {"full", 4}, {"bare", 1}} {
		found, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(c.id)})
		must(t, err)
		if got := createTask(t, store, found.IndexUID); got != c.want {
			t.Errorf("the next opstamp of %s is %d, want %d", c.id, got, c.want)
		}
	}
	written := documents(t, exported(t, copied))
	for id, want := range map[string]string{"full": "[1 2 3 4]", "bare": "[1]"} {
		var opstamps []any
		for _, task := range written[id+"/metastore.json"].(map[string]any)["delete_tasks"].([]any) {
			opstamps = append(opstamps, task.(map[string]any)["opstamp"])
		}
		if fmt.Sprint(opstamps) != want {
			t.Errorf("the opstamps of %s are %v, want %s", id, opstamps, want)
		}
	}
	positions, uids := 0, 0
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, element := range value {
				walk(element)
			}
		case map[string]any:
			for key, member := range value {
				text, _ := member.(string)
				var form *regexp.Regexp
				switch key {
				case "index_uid":
					form = uidText
					uids++
				case "doc_mapping_uid":
					form = ulidText
				case "publish_position_inclusive", "p": // "p" is the partition of source void
					form = positionText
					positions++
				}
				if form != nil && !form.MatchString(text) {
					t.Errorf("%s is %v", key, member)
				}
				walk(member)
			}
		}
	}
	walk(written["full/metastore.json"])
	if positions != 4 || uids != 1+4+3+4+4 {
		t.Errorf("%d positions and %d UIDs were found", positions, uids)
	}
}

// filesIn returns the paths of all files in a directory, sorted.
func filesIn(t *testing.T, directory string) (paths []string) {
	t.Helper()
	must(t, fs.WalkDir(os.DirFS(directory), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	}))
	slices.Sort(paths)
	return paths
}

// contentsOf returns all that is in a directory.
func contentsOf(t *testing.T, directory string) string {
	t.Helper()
	var text strings.Builder
	for _, path := range filesIn(t, directory) {
		fmt.Fprintf(&text, "%s: %s\n", path, read(t, filepath.Join(directory, path)))
	}
	return text.String()
}
