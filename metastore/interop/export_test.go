package interop_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/interop"
)

// shopStore is a store of ours with the indexes of shop.
func shopStore(t testing.TB) string {
	t.Helper()
	store := t.TempDir()
	importStore(t, options(filepath.Join(peerStores, "shop"), store))
	return store
}

func TestAnExportReplacesNothingWithoutForce(t *testing.T) {
	t.Parallel()
	store := shopStore(t)
	for _, taken := range []string{"manifest.json", "indexes_states.json", "audit/metastore.json"} {
		to := t.TempDir()
		write(t, filepath.Join(to, filepath.FromSlash(taken)), "{}")
		write(t, filepath.Join(to, "audit", "x.split"), "a split file is no obstacle")
		if _, err := interop.Export(t.Context(), options(store, to)); !errors.Is(err, interop.ErrNotEmpty) || !strings.Contains(err.Error(), taken) {
			t.Errorf("%s: got error %v", taken, err)
		}
		if entries, err := os.ReadDir(to); err != nil || len(entries) > 2 {
			t.Errorf("%s: the target has %v, error %v", taken, entries, err)
		}
	}
}

func TestAForcedExportReplacesTheStoreAndNamesWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	to := copyStore(t, "events")
	o := options(shopStore(t), to+"#polling_interval=5s")
	o.Force = true
	write(t, filepath.Join(to, "audit", "metastore.json"), "torn")
	summary := exportStore(t, o)
	expectResults(t, summary, "audit copied", "events left_behind", "web-access copied")
	if !summary.NeedsPerson() {
		t.Error("nobody has to look at it")
	}
	if err := os.RemoveAll(filepath.Join(to, "events")); err != nil {
		t.Fatal(err)
	}
	expectSameStores(t, to, filepath.Join(peerStores, "shop"))
	expectResults(t, exportStore(t, o), "audit present", "web-access present")
}

func TestAnExportThatWasGivenUpShowsNothingAndGoesOn(t *testing.T) {
	t.Parallel()
	store, to := shopStore(t), t.TempDir()
	// The manifest cannot be written.
	if err := os.Mkdir(filepath.Join(to, "manifest.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	summary, err := interop.Export(t.Context(), options(store, to))
	if err == nil {
		t.Fatal("the export did not fail")
	}
	expectResults(t, summary, "audit copied", "web-access copied")
	if err := os.Remove(filepath.Join(to, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	again := exportStore(t, options(store, to))
	expectResults(t, again, "audit present", "web-access present")
	if !again.Resumed {
		t.Error("it did not go on")
	}
	expectSameStores(t, to, filepath.Join(peerStores, "shop"))
}

func TestAnExportNeedsAStoreOfOursAndAnotherPlace(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if _, err := interop.Export(t.Context(), options(empty, t.TempDir())); !errors.Is(err, interop.ErrNoStore) {
		t.Errorf("from an empty directory: %v", err)
	}
	if entries, err := os.ReadDir(empty); err != nil || len(entries) > 0 {
		t.Errorf("the source has %v now, error %v", entries, err)
	}
	store := shopStore(t)
	if _, err := interop.Export(t.Context(), options(store, store+"/../"+filepath.Base(store))); err == nil {
		t.Error("onto itself: no error")
	}
	o := options(store, shopStore(t))
	o.Force = true
	if _, err := interop.Export(t.Context(), o); !errors.Is(err, interop.ErrNotEmpty) {
		t.Errorf("onto another store of ours: %v", err)
	}
}

// openAudit opens a store for changes to its index audit. It is to be closed.
func openAudit(t *testing.T, directory string) (*file.Store, metastore.IndexUID) {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: directory})
	if err != nil {
		t.Fatal(err)
	}
	found, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("audit")})
	if err != nil {
		t.Fatal(err)
	}
	return store, found.IndexUID
}

func TestAnExportSaysThatIdempotencyRecordsAreNotCarried(t *testing.T) {
	t.Parallel()
	directory := shopStore(t)
	store, audit := openAudit(t, directory)
	var marked []string
	err := store.ListSplits(t.Context(), metastore.AllSplits(audit), func(row *metastore.SplitRow) error {
		split, err := row.Split()
		if split.State == metastore.Published {
			marked = []string{split.Metadata.SplitID}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := idempotency.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	keyed := store.WithRecord(idempotency.Record{Key: key, Binding: idempotency.Binding{
		Principal: idempotency.Anonymous, Operation: "MarkSplitsForDeletion", Resource: "index/audit", FingerprintVersion: idempotency.FingerprintVersion,
	}})
	if err := keyed.MarkSplitsForDeletion(t.Context(), audit, marked); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	summary := exportStore(t, options(directory, t.TempDir()))
	expectResults(t, summary, "audit copied", "web-access copied")
	if len(summary.Notes) != 1 || !strings.HasPrefix(summary.Notes[0], "1 idempotency record") {
		t.Errorf("got the notes %q", summary.Notes)
	}
}

func TestAnExportSaysThatARaisedCounterOfDeleteOpstampsIsNotCarried(t *testing.T) {
	t.Parallel()
	directory := shopStore(t)
	store, audit := openAudit(t, directory)
	if err := store.RaiseDeleteOpstampFloor(t.Context(), audit, 40); err != nil {
		t.Fatal(err)
	}
	summary := exportStore(t, options(directory, t.TempDir()))
	expectResults(t, summary, "audit copied", "web-access copied")
	exported := summary.Indexes[0]
	expectDropped(t, exported.Dropped, "changed holdfast.delete_opstamp_floor 1 holdfast.delete_opstamp_floor")
	if !summary.NeedsPerson() || !strings.Contains(exported.Detail, "above 40, and in Quickwit above 1,") || len(summary.Indexes[1].Dropped) > 0 {
		t.Errorf("got %+v", summary.Indexes)
	}
	// A delete task has an opstamp above the counter, and then nothing is lost.
	if _, err := store.CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: audit, QueryAST: "{}"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	summary = exportStore(t, options(directory, t.TempDir()))
	if expectDropped(t, summary.Indexes[0].Dropped); summary.NeedsPerson() {
		t.Errorf("after one more delete task: %+v", summary.Indexes[0])
	}
}
