package interop_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore/file"
	"holdfast/metastore/interop"
)

// peerStores holds real stores of the peer: shop and events.
const peerStores = "../file/testdata/quickwit"

// copyStore copies a store of the peer so that it may be changed.
func copyStore(t testing.TB, name string) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(directory, os.DirFS(filepath.Join(peerStores, name))); err != nil {
		t.Fatal(err)
	}
	return directory
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// Renamed, because somebody may read it at the same time.
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit replaces a text in a file, which must have it.
func edit(t testing.TB, path, old, new string) {
	t.Helper()
	text := read(t, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	write(t, path, strings.Replace(text, old, new, 1))
}

func options(from, to string) interop.Options {
	return interop.Options{From: from, To: to, Mask: func(uri string) string { return uri }}
}

func importStore(t testing.TB, o interop.Options) *interop.Summary {
	t.Helper()
	summary, err := interop.Import(t.Context(), o)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	return summary
}

func exportStore(t testing.TB, o interop.Options) *interop.Summary {
	t.Helper()
	summary, err := interop.Export(t.Context(), o)
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	return summary
}

// results returns "id result" of each index.
func results(summary *interop.Summary) []string {
	var list []string
	for _, index := range summary.Indexes {
		list = append(list, index.IndexID+" "+string(index.Result))
	}
	return list
}

func expectResults(t testing.TB, summary *interop.Summary, want ...string) {
	t.Helper()
	if got := results(summary); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
		for _, index := range summary.Indexes {
			t.Logf("%s: %s", index.IndexID, index.Detail)
		}
	}
}

// expectDropped expects losses, each written as "reason path count first".
func expectDropped(t testing.TB, dropped []file.Loss, want ...string) {
	t.Helper()
	var got []string
	for _, loss := range dropped {
		got = append(got, fmt.Sprint(loss.Reason, " ", loss.Path, " ", loss.Count, " ", loss.First))
	}
	if !slices.Equal(got, want) {
		t.Errorf("dropped are %q, want %q", got, want)
	}
}

// expectSameStores compares every object of two stores of the peer, without any knowledge of them but that
// some lists have no order.
func expectSameStores(t testing.TB, got, want string) {
	t.Helper()
	a, b := documents(t, got), documents(t, want)
	if names, wanted := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)); !slices.Equal(names, wanted) {
		t.Fatalf("got the objects %q, want %q", names, wanted)
	}
	for name := range b {
		if !reflect.DeepEqual(a[name], b[name]) {
			t.Errorf("object %s is\n%v\nwant\n%v", name, a[name], b[name])
		}
	}
}

func documents(t testing.TB, directory string) map[string]any {
	t.Helper()
	found := map[string]any{}
	err := fs.WalkDir(os.DirFS(directory), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		decoder := json.NewDecoder(strings.NewReader(read(t, filepath.Join(directory, path))))
		decoder.UseNumber()
		var document map[string]any
		if err := decoder.Decode(&document); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if splits, ok := document["splits"].([]any); ok {
			sortByText(splits)
		}
		for _, member := range []string{"shards", "metrics_splits", "sketch_splits"} {
			sortLists(document[member])
		}
		found[path] = document
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sortLists sorts the lists anywhere in a value.
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
		sortByText(value)
	}
}

func sortByText(list []any) {
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}
