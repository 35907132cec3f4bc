package splitfile_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// fuzzLimits are low so that a fuzzer's files can reach them.
var fuzzLimits = splitfile.Limits{BundleMetadata: 8 << 10, RecoveryEntry: 512, Entries: 16}

// checkOpening opens a file in two ways and checks what must hold of any file.
func checkOpening(t *testing.T, file []byte, id string) {
	t.Helper()
	var found [2]*splitfile.File
	var errs [2]error
	for i, options := range []splitfile.Options{
		{Size: metastore.Some(int64(len(file)))},
		{Size: metastore.Some(int64(len(file))), TailSize: 64},
	} {
		options.SplitID, options.Limits = id, fuzzLimits
		recorder := splitfiletest.Record(file)
		found[i], errs[i] = splitfile.Open(context.Background(), recorder, options)
		for _, span := range recorder.Ranges() {
			if span.Len() <= 0 || span.Start < 0 || span.End > int64(len(file)) || span.Len() > 128<<10 {
				t.Fatalf("read of [%d,%d) of %d bytes", span.Start, span.End, len(file))
			}
		}
		var format *splitfile.FormatError
		if errs[i] != nil && (!errors.As(errs[i], &format) || format.SplitID != id) {
			t.Fatalf("error of type %T: %v", errs[i], errs[i])
		}
	}
	if errs[0] != nil || errs[1] != nil {
		if errs[0] == nil || errs[1] == nil || errs[0].Error() != errs[1].Error() {
			t.Fatalf("how much is read at once makes a difference: %v / %v", errs[0], errs[1])
		}
		return
	}
	f := found[0]
	if f.Layout != found[1].Layout || f.Layout.Size != int64(len(file)) || f.Layout.FooterStart >= f.Layout.Size {
		t.Fatalf("layout %+v / %+v", f.Layout, found[1].Layout)
	}
	if len(f.Entries) > fuzzLimits.Entries {
		t.Fatalf("%d entries", len(f.Entries))
	}
	for _, entry := range f.Entries {
		if entry.Start < 0 || entry.Start > entry.End || entry.End > f.Layout.FooterStart {
			t.Fatalf("entry %+v", entry)
		}
		if _, err := f.ReadEntry(context.Background(), entry.Name, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	m, parents, err := f.RecoveryEntry()
	var format *splitfile.FormatError
	switch {
	case errors.Is(err, splitfile.ErrLegacy), errors.As(err, &format):
		return
	case err != nil:
		t.Fatalf("error of type %T: %v", err, err)
	}
	if m.SplitID != id || m.FooterStart != uint64(f.Layout.FooterStart) || m.FooterEnd != uint64(len(file)) {
		t.Fatalf("metadata %+v", m)
	}
	if _, err := metastore.ParseSplitMetadata([]byte(m.Document())); err != nil {
		t.Fatal(err)
	}
	// Written anew it is the same row.
	again, err := splitfile.Open(context.Background(), splitfiletest.Memory(splitfiletest.New(&m, parents).Encode()), splitfile.Options{SplitID: id})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := again.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	second.FooterStart, second.FooterEnd = m.FooterStart, m.FooterEnd
	if second.Document() != m.Document() {
		t.Fatalf("%s\n%s", m.Document(), second.Document())
	}
}

func FuzzAWholeFile(f *testing.F) {
	f.Add(exampleFile(f, false), "S1")
	f.Add(exampleFile(f, true), "S1")
	f.Add(someFile().Encode(), someSplitID)
	f.Add(splitfiletest.NewLegacy().Encode(), someSplitID)
	f.Add((&splitfiletest.File{}).Encode(), "x")
	for _, path := range []string{"main/audit/01M8P1PA9S91PCPBGPCNFFC1QX", "trailer/web-access/0KWJ_01M8P1MSVC5CA24TBY40CS"} {
		file, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(path)+".split"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, filepath.Base(path))
	}
	f.Fuzz(func(t *testing.T, file []byte, id string) {
		if id != "" {
			checkOpening(t, file, id)
		}
	})
}

// FuzzAFooter keeps the lengths right, so that the fuzzer gets to the parts behind them.
func FuzzAFooter(f *testing.F) {
	f.Add([]byte{1, 2, 3}, unhex(f, exampleBody)[3:], []byte(exampleJSON), []byte{0xAA, 0xBB}, true)
	f.Add([]byte{1, 2, 3}, unhex(f, exampleBody)[3:], []byte(exampleJSON), []byte{}, false)
	f.Add([]byte{1, 2, 3}, []byte{}, []byte(`{"files":{"a":{"start":0,"end":3}}}`), []byte{}, false)
	f.Fuzz(func(t *testing.T, body, entry, text, hotcache []byte, trailer bool) {
		file := append(append([]byte{}, body...), entry...)
		start := uint64(len(file))
		file = append(file, 0xAE, 0xBE, 0x12, 0x18, 1, 0, 0, 0)
		file = append(file, text...)
		file = binary.LittleEndian.AppendUint32(file, uint32(8+len(text)))
		file = append(file, hotcache...)
		file = binary.LittleEndian.AppendUint32(file, uint32(len(hotcache)))
		if trailer {
			file = binary.LittleEndian.AppendUint64(file, start)
			file = append(file, "\x01\x00\x00\x00QWFT"...)
		}
		checkOpening(t, file, "S1")
	})
}

// FuzzARecoveryEntry fuzzes the entry alone in a file that is otherwise right.
func FuzzARecoveryEntry(f *testing.F) {
	f.Add(unhex(f, exampleBody)[3:])
	f.Fuzz(func(t *testing.T, entry []byte) {
		checkOpening(t, withEntry(entry), "S1")
	})
}
