package interop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"holdfast/metastore/interop"
)

// workerVariable turns a run of this test binary into a process that copies from one store to another and stops for ever when
// one index is complete.
const workerVariable = "HOLDFAST_INTEROP_TEST_WORKER"

func TestMain(m *testing.M) {
	if work := os.Getenv(workerVariable); work != "" {
		fmt.Fprintln(os.Stderr, stopHalfway(work, os.Args[1], os.Args[2]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func stopHalfway(work, from, to string) error {
	o := options(from, to)
	o.Progress = func(now interop.Progress) {
		if now.Done == 1 {
			fmt.Println("halfway")
			select {}
		}
	}
	ctx := context.Background()
	if work == "import" {
		_, err := interop.Import(ctx, o)
		return fmt.Errorf("the import ended: %w", err)
	}
	_, err := interop.Export(ctx, o)
	return fmt.Errorf("the export ended: %w", err)
}

// halfway starts a process that stands still in the middle of its work. It is killed by the function that is returned, or
// at the end of the test.
func halfway(t *testing.T, work, from, to string) (kill func()) {
	t.Helper()
	process := exec.Command(os.Args[0], from, to)
	process.Env = append(os.Environ(), workerVariable+"="+work)
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if killed {
			return
		}
		killed = true
		if err := process.Process.Signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		_ = process.Wait() // says that it was killed
	}
	t.Cleanup(kill)
	line := make([]byte, len("halfway"))
	if _, err := output.Read(line); err != nil || string(line) != "halfway" {
		t.Fatalf("the process said %q, error %v", line, err)
	}
	return kill
}

func TestAKilledImportGoesOn(t *testing.T) {
	t.Parallel()
	from, store := copyStore(t, "shop"), t.TempDir()
	kill := halfway(t, "import", from, store)
	if _, err := interop.Import(t.Context(), options(from, store)); !errors.Is(err, interop.ErrBusy) {
		t.Errorf("while it lives: got error %v", err)
	}
	kill()
	summary := importStore(t, options(from, store))
	if got := results(summary); !summary.Resumed || len(got) != 2 || !slices.ContainsFunc(got, func(r string) bool { return strings.HasSuffix(r, " present") }) {
		t.Errorf("got %q, resumed %t", got, summary.Resumed)
	}
	back := t.TempDir()
	exportStore(t, options(store, back))
	expectSameStores(t, back, from)
}

func TestAKilledExportGoesOn(t *testing.T) {
	t.Parallel()
	store, to := shopStore(t), t.TempDir()
	kill := halfway(t, "export", store, to)
	if _, err := interop.Export(t.Context(), options(store, to)); !errors.Is(err, interop.ErrBusy) {
		t.Errorf("while it lives: got error %v", err)
	}
	kill()
	if _, err := os.Stat(filepath.Join(to, "manifest.json")); !os.IsNotExist(err) {
		t.Errorf("the manifest is there before the indexes: %v", err)
	}
	if summary := exportStore(t, options(store, to)); !summary.Resumed {
		t.Error("it did not go on")
	}
	expectSameStores(t, to, filepath.Join(peerStores, "shop"))
}

func TestAnImportOnAnotherMachineCanBeTakenOver(t *testing.T) {
	t.Parallel()
	from, store := copyStore(t, "shop"), t.TempDir()
	write(t, filepath.Join(store, "_holdfast-import.json"), fmt.Sprintf(`{"source":%q,"run":"r","host":"elsewhere.invalid","pid":1,"begun":1790000000,"ended":false}`, from))
	o := options(from, store)
	if _, err := interop.Import(t.Context(), o); !errors.Is(err, interop.ErrBusy) || !strings.Contains(err.Error(), "elsewhere.invalid") {
		t.Errorf("got error %v", err)
	}
	o.TakeOver = true
	if summary := importStore(t, o); !summary.Resumed || len(summary.Indexes) != 2 {
		t.Errorf("got %+v", summary)
	}
}

func TestAnImportStopsWhenItIsTakenOver(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	o := options(filepath.Join(peerStores, "shop"), store)
	taken := false
	o.Progress = func(interop.Progress) {
		if !taken {
			taken = true
			write(t, filepath.Join(store, "_holdfast-import.json"), `{"run":"another"}`)
		}
	}
	if _, err := interop.Import(t.Context(), o); !errors.Is(err, interop.ErrBusy) {
		t.Errorf("got error %v", err)
	}
	if text := read(t, filepath.Join(store, "_holdfast-import.json")); text != `{"run":"another"}` {
		t.Errorf("the claim of the other one is %s", text)
	}
}

func TestTwoImportsAtOnceAreOneImport(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	failures := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := interop.Import(t.Context(), options(filepath.Join(peerStores, "shop"), store))
			failures <- err
		}()
	}
	for range 2 {
		// Whoever comes second finds the other one at work, or its result.
		if err := <-failures; err != nil && !errors.Is(err, interop.ErrBusy) && !errors.Is(err, interop.ErrNotEmpty) {
			t.Error(err)
		}
	}
	back := t.TempDir()
	exportStore(t, options(store, back))
	expectSameStores(t, back, filepath.Join(peerStores, "shop"))
}
