package file

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// everyOp returns an entry of each kind of operation that a log can hold.
func everyOp(t testing.TB) *entry {
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{7}}
	index := metastore.NewIndexMetadata(uid, metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}, 5)
	id := rootIndex{indexID: "logs", generation: ulid.ULID{9}}
	return &entry{version: 1<<64 - 1, writeID: uuid.MustParse(someID), time: -5, ops: []op{
		createOp{index}, updateOp{index}, dropOp{uid}, fenceOp{}, importOp{uid}, addIndexOp{id}, removeIndexOp{id}, identityOp(someID),
		putTemplateOp{indexTemplate(t, "logs-template", 7)}, dropTemplatesOp{"a", "\n"},
		stageOp(withUID(uid, newSplits("a", `quote " and \ and é`))), markOp{"a", "\n"}, deleteOp{"a"},
		publishOp{staged: []string{"a"}, replaced: []string{}},
		createDeleteTaskOp{deleteTask(uid, 7)}, raiseDeleteOpstampOp(1<<63 - 2), updateDeleteOpstampOp{[]string{"a"}, 1<<63 - 1},
		recordOp{record: newRecord(t, "AddSource"), purge: time.UnixMilli(-5)},
		openShardsOp(newShards(uid, "a", `quote " and \ and é`)), acquireShardsOp{"source", []string{"a"}, "t"}, deleteShardsOp{"source", []string{"a", ""}},
		publishShardsOp{"source", []shardPosition{{"a", "~7"}}},
		stageParquetOp{metastore.SketchSplits, parquetSplits(t, uid, "a", `quote " and \ and é`)}, publishParquetOp{metastore.MetricsSplits, []string{"a"}, []string{}},
		markParquetOp{metastore.SketchSplits, []string{"a", "\n"}}, deleteParquetOp{metastore.MetricsSplits, []string{}},
		checkpointOp{"source", map[string]metastore.Position{"": "7", `quote "`: "~"}},
	}}
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	written := everyOp(t).append(nil)
	read, err := parseEntry(written)
	if err != nil {
		t.Fatal(err)
	}
	if again := read.append(nil); !bytes.Equal(again, written) {
		t.Fatalf("read as\n%s\nwritten was\n%s", again, written)
	}
}

func FuzzParseEntry(f *testing.F) {
	whole := string(everyOp(f).append(nil))
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)-sealLength] + "}"))
	f.Add([]byte(`{"format":1,"version":3,"write_id":"` + someID + `","time":1,"ops":[{"mark":{"split_ids":["x"]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parseEntry(text)
		if err != nil {
			return
		}
		written := e.append(nil)
		again, err := parseEntry(written)
		if err != nil {
			t.Fatalf("%s\nwas accepted and written as\n%s\nwhich is refused: %v", text, written, err)
		}
		if second := again.append(nil); !bytes.Equal(second, written) {
			t.Fatalf("written as\n%s\nand then as\n%s", written, second)
		}
		// Whatever it says, applying it does not panic.
		_ = applyEntry(newIndexState(), e)
		_ = applyEntry(newRootState(), e)
	})
}

func indexSnapshot(t testing.TB, ids ...string) []byte {
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{7}}
	state := newIndexState()
	e := entry{time: 8, ops: []op{
		createOp{metastore.NewIndexMetadata(uid, metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}, 5)},
		dropOp{uid},
		createOp{metastore.NewIndexMetadata(uid, metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}, 5)},
		stageOp(withUID(uid, newSplits(ids...))),
		recordOp{record: newRecord(t, "StageSplits"), purge: time.UnixMilli(0)},
		openShardsOp(newShards(uid, ids...)),
		stageParquetOp{metastore.MetricsSplits, parquetSplits(t, uid, ids...)}, stageParquetOp{metastore.SketchSplits, parquetSplits(t, uid, ids...)},
		publishParquetOp{kind: metastore.SketchSplits, staged: ids[:1]}, markParquetOp{metastore.MetricsSplits, ids[:1]},
		createDeleteTaskOp{deleteTask(uid, 1)}, createDeleteTaskOp{deleteTask(uid, 7)}, updateDeleteOpstampOp{ids[:1], 7},
		raiseDeleteOpstampOp(9),
	}}
	if err := applyEntry(state, &e); err != nil {
		t.Fatal(err)
	}
	var buffer bytes.Buffer
	err := writeSealed(&buffer, indexWriter(&head[*indexState]{version: 4, writeID: uuid.MustParse(someID), state: state}))
	if err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func FuzzReadIndexSnapshot(f *testing.F) {
	whole := indexSnapshot(f, "a", `quote " and \ and é`)
	f.Add(whole)
	f.Add(append(bytes.Clone(whole[:len(whole)-sealLength]), '}'))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := indexCodec.read(&sealReader{r: bytes.NewReader(text)})
		if err != nil {
			return
		}
		var written, second bytes.Buffer
		if err := writeSealed(&written, indexWriter(h)); err != nil {
			t.Fatal(err)
		}
		again, err := indexCodec.read(&sealReader{r: bytes.NewReader(written.Bytes())})
		if err != nil {
			t.Fatalf("%s\nwas accepted and written as\n%s\nwhich is refused: %v", text, written.Bytes(), err)
		}
		if err := writeSealed(&second, indexWriter(again)); err != nil || !bytes.Equal(second.Bytes(), written.Bytes()) {
			t.Fatalf("written as\n%s\nand then as\n%s", written.Bytes(), second.Bytes())
		}
	})
}

func FuzzReadRootSnapshot(f *testing.F) {
	state := newRootState()
	state.indexes.Set("logs", ulid.ULID{1})
	state.identity = someID
	state.templates.Set("logs-template", indexTemplate(f, "logs-template", 1<<63))
	var whole bytes.Buffer
	if err := writeSealed(&whole, rootWriter(&head[*rootState]{version: 2, writeID: uuid.MustParse(someID), state: state})); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(append(bytes.Clone(whole.Bytes()[:whole.Len()-sealLength]), '}'))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := rootCodec.read(&sealReader{r: bytes.NewReader(text)})
		if err != nil {
			return
		}
		var written bytes.Buffer
		if err := writeSealed(&written, rootWriter(h)); err != nil {
			t.Fatal(err)
		}
		if _, err := rootCodec.read(&sealReader{r: &written}); err != nil {
			t.Fatalf("%s was accepted, but what it is written as is refused: %v", text, err)
		}
	})
}

func TestEveryByteOfASnapshotIsGuarded(t *testing.T) {
	t.Parallel()
	whole := indexSnapshot(t, "a")
	for at := range whole {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		if name := len(whole) - sealLength + len(`,"`); at >= name && at < name+len("crc32c") {
			continue // without the member's name there is no checksum, and nothing else is wrong
		}
		if _, err := indexCodec.read(&sealReader{r: bytes.NewReader(damaged)}); err == nil {
			t.Errorf("byte %d changed from %q to %q, and nobody noticed", at, whole[at], damaged[at])
		}
		if _, err := indexCodec.read(&sealReader{r: bytes.NewReader(whole[:at])}); err == nil {
			t.Errorf("cut at byte %d, and nobody noticed", at)
		}
	}
}

func TestASealIsCheckedHoweverTheBytesArrive(t *testing.T) {
	t.Parallel()
	for size := range 60 {
		text := appendSeal([]byte(strings.Repeat("x", size)))
		for piece := 1; piece <= len(text); piece++ {
			for _, damage := range []bool{false, true} {
				given := bytes.Clone(text)
				if damage {
					if size == 0 {
						continue
					}
					given[size/2]++
				}
				err := readInPieces(given, piece)
				if damage != (err != nil) {
					t.Fatalf("%d bytes in pieces of %d, damaged %v: %v", size, piece, damage, err)
				}
			}
		}
	}
}

func readInPieces(text []byte, piece int) error {
	sealed := &sealReader{r: bytes.NewReader(text)}
	buffer := make([]byte, piece)
	for {
		if _, err := sealed.Read(buffer); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func indexWriter(h *head[*indexState]) func(io.Writer) error {
	return func(w io.Writer) error { return indexCodec.write(w, h) }
}

func rootWriter(h *head[*rootState]) func(io.Writer) error {
	return func(w io.Writer) error { return rootCodec.write(w, h) }
}
