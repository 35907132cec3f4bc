package interop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore/interop"
)

func TestStoresOfThePeerComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shop", "events"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, store, back := filepath.Join(peerStores, name), t.TempDir(), t.TempDir()
			var progress interop.Progress
			o := options(from+"#polling_interval=30s", store)
			o.Progress = func(now interop.Progress) { progress = now }
			imported := importStore(t, o)
			if imported.NeedsPerson() || imported.Resumed || len(imported.Notes) > 0 || len(imported.Dropped) > 0 {
				t.Errorf("got %+v", imported)
			}
			if progress.Done != progress.Total || progress.Bytes != progress.TotalBytes || progress.Done != int64(len(imported.Indexes)) {
				t.Errorf("at the end the progress is %+v", progress)
			}
			exported := exportStore(t, options(store, back))
			if exported.NeedsPerson() || len(exported.Indexes) != len(imported.Indexes) || len(exported.Notes) > 0 {
				t.Errorf("got %+v", exported)
			}
			expectSameStores(t, back, from)
			for i, index := range exported.Indexes {
				expectDropped(t, imported.Indexes[i].Dropped)
				if fmt.Sprint(index) != fmt.Sprint(imported.Indexes[i]) {
					t.Errorf("exported %+v, imported %+v", index, imported.Indexes[i])
				}
			}
			// And what came back can be imported again.
			importStore(t, options(back, t.TempDir()))
		})
	}
}

func TestAnImportSaysWhatItDidNotCarry(t *testing.T) {
	t.Parallel()
	from := copyStore(t, "shop")
	edit(t, filepath.Join(from, "manifest.json"), `"audit": "active",`,
		`"audit": "Alive", "born": "creating", "dying": "Deleting", "lost": "active", "torn": "active", "../up": "active",`)
	edit(t, filepath.Join(from, "manifest.json"), `"version"`, `"colour": 1, "version"`)
	write(t, filepath.Join(from, "torn", "metastore.json"), `{"version":"0.9","splits":[`)
	write(t, filepath.Join(from, "stray", "metastore.json"), `{}`)
	write(t, filepath.Join(from, "splits-only", "x.split"), ``)
	edit(t, filepath.Join(from, "audit", "metastore.json"), `"delete_tasks"`, `"mood": [], "records": [], "delete_tasks"`)
	want := []string{"../up unreadable", "audit copied", "born not_carried", "dying not_carried", "lost missing", "stray not_carried", "torn unreadable", "web-access copied"}

	o := options(from, filepath.Join(t.TempDir(), "never"))
	o.DryRun = true
	planned := importStore(t, o)
	if _, err := os.Stat(o.To); !os.IsNotExist(err) {
		t.Errorf("a dry run made the target: %v", err)
	}
	expectResults(t, planned, strings.Split(strings.ReplaceAll(strings.Join(want, "\n"), "copied", "planned"), "\n")...)

	imported := importStore(t, options(from, t.TempDir()))
	expectResults(t, imported, want...)
	for _, summary := range []*interop.Summary{planned, imported} {
		if !summary.NeedsPerson() || len(summary.Notes) > 0 {
			t.Errorf("got the notes %q", summary.Notes)
		}
		expectDropped(t, summary.Dropped, "left_out colour 1 colour")
		expectDropped(t, summary.Indexes[1].Dropped, "left_out records 1 records")
	}
}

func TestALegacyManifestIsReadWhereThereIsNoOther(t *testing.T) {
	t.Parallel()
	from := copyStore(t, "shop")
	write(t, filepath.Join(from, "indexes_states.json"), `{"audit":"Alive","web-access":"Deleting"}`)
	expectResults(t, importStore(t, options(from, t.TempDir())), "audit copied", "web-access copied")
	if err := os.Remove(filepath.Join(from, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	expectResults(t, importStore(t, options(from, t.TempDir())), "audit copied", "web-access not_carried")
}

func TestATargetThatIsNotEmptyNeedsForce(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	importStore(t, options(filepath.Join(peerStores, "shop"), store))
	from := copyStore(t, "shop")
	edit(t, filepath.Join(from, "audit", "metastore.json"), `"num_merge_ops": 0`, `"num_merge_ops": 9`)
	o := options(from, store)
	if _, err := interop.Import(t.Context(), o); !errors.Is(err, interop.ErrNotEmpty) {
		t.Fatalf("got error %v", err)
	}
	if _, err := os.Stat(filepath.Join(store, "_holdfast-import.json")); !os.IsNotExist(err) {
		t.Errorf("a refused import left its claim: %v", err)
	}
	o.Force = true
	forced := importStore(t, o)
	expectResults(t, forced, "audit conflict", "web-access present")
	// Nothing of it was changed.
	back := t.TempDir()
	exportStore(t, options(store, back))
	expectSameStores(t, back, filepath.Join(peerStores, "shop"))
	// More may be added.
	more := options(filepath.Join(peerStores, "events"), store)
	more.Force = true
	summary := importStore(t, more)
	expectResults(t, summary, "events copied")
	if len(summary.Templates) == 0 || summary.Templates[0].Result != interop.Copied {
		t.Errorf("got the templates %+v", summary.Templates)
	}
	expectResults(t, importStore(t, more), "events present")
}

func TestTemplatesAndIdentityThatTheTargetHasAreKept(t *testing.T) {
	t.Parallel()
	const identity = "c5af39ac-6ed4-41e5-93df-2dc29263f324"
	store, from := t.TempDir(), copyStore(t, "events")
	if first := importStore(t, options(from, store)); first.Identity != identity {
		t.Errorf("the target has the identity %s, want %s", first.Identity, identity)
	}
	edit(t, filepath.Join(from, "manifest.json"), `"priority": 100`, `"priority": 101`)
	edit(t, filepath.Join(from, "manifest.json"), identity, "6b0e1f5c-7c1e-4a39-9f0e-2f0c6a1d4b77")
	o := options(from, store)
	o.Force = true
	second := importStore(t, o)
	if second.Templates[0].Result != interop.Conflict || second.Templates[1].Result != interop.Present || !second.NeedsPerson() {
		t.Errorf("got the templates %+v", second.Templates)
	}
	if second.Identity != identity || len(second.Notes) != 1 || !strings.Contains(second.Notes[0], "6b0e1f5c") {
		t.Errorf("the target has the identity %s, notes %q", second.Identity, second.Notes)
	}
}

func TestAnImportThatWasGivenUpGoesOnWithoutForce(t *testing.T) {
	t.Parallel()
	from, store := copyStore(t, "shop"), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(from, store)
	o.Progress = func(now interop.Progress) {
		if now.Done == 1 {
			cancel()
		}
	}
	if _, err := interop.Import(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not given up: %v", err)
	}
	// Another source cannot go on with it.
	if _, err := interop.Import(t.Context(), options(copyStore(t, "shop"), store)); !errors.Is(err, interop.ErrNotEmpty) || !strings.Contains(err.Error(), from) {
		t.Errorf("an import from elsewhere: %v", err)
	}
	summary := importStore(t, options(from, store))
	if got := results(summary); !summary.Resumed || !slices.Contains(got, "audit present") && !slices.Contains(got, "web-access present") {
		t.Errorf("got %q, resumed %t", got, summary.Resumed)
	}
	back := t.TempDir()
	exportStore(t, options(store, back))
	expectSameStores(t, back, from)
}

func TestWhereQuickwitHasAStoreNothingIsImported(t *testing.T) {
	t.Parallel()
	_, err := interop.Import(t.Context(), options(filepath.Join(peerStores, "shop"), copyStore(t, "events")))
	if err == nil || !strings.Contains(err.Error(), "Quickwit") {
		t.Errorf("got error %v", err)
	}
	if _, err := interop.Import(t.Context(), options(t.TempDir(), t.TempDir())); !errors.Is(err, interop.ErrNoStore) {
		t.Errorf("from an empty directory: %v", err)
	}
	broken := copyStore(t, "shop")
	write(t, filepath.Join(broken, "manifest.json"), `{"version":"1.0"}`)
	if _, err := interop.Import(t.Context(), options(broken, t.TempDir())); !errors.Is(err, interop.ErrManifest) {
		t.Errorf("from a broken manifest: %v", err)
	}
}
