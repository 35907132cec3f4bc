package segment_test

import (
	"strings"
	"testing"

	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// everything reads all that the package reads; each error must be a FormatError that names the file.
func everything(t testing.TB, file *splitfiletest.File) {
	s, _, err := tryOpen(t, file, segment.Limits{PlainBlock: 1 << 20, Dictionary: 1 << 20})
	var failures []error
	if err == nil {
		if store, err := s.Store(t.Context()); err != nil {
			failures = append(failures, err)
		} else {
			failures = append(failures, store.ReadBlocks(t.Context(), 0, len(store.Blocks), func(_ int, _ uint32, d segment.Documents) error {
				for i := range d.Len() {
					_, _ = segment.DecodeDocument(d.At(i), store.Version)
					d.Digest(i)
				}
				return nil
			}))
		}
		_, _, timesErr := s.Times(t.Context(), "at")
		failures = append(failures, timesErr)
		if terms, err := s.Terms(t.Context()); err != nil {
			failures = append(failures, err)
		} else {
			_, originErr := terms.Origin(t.Context())
			_, textErr := terms.Tags(t.Context(), "path")
			_, numberErr := terms.Tags(t.Context(), "tenant")
			failures = append(failures, originErr, textErr, numberErr)
		}
	} else {
		failures = append(failures, err)
	}
	for _, err := range failures {
		if err != nil {
			requireFault(t, err, "")
		}
	}
}

// tagged is a split with a time and two tag fields.
func tagged() *segmenttest.Split {
	at := int64(1_700_000_000_000_000_000)
	docs := someDocs(5)
	for i := range docs {
		docs[i].Time = &at
		docs[i].Terms = map[string][][]byte{"path": {[]byte("/a"), []byte("/a/b")}, "tenant": {{0, 0, 0, 0, 0, 0, 0, byte(i)}}}
	}
	return segmenttest.Merge(segmenttest.Index(segmenttest.Settings{
		TimeField: "at", BlockSize: 40, Compression: segment.Zstd,
		Fields: []segmenttest.Field{
			{Name: "at", Type: "date", Indexed: true, Fast: true},
			{Name: "path", Type: "text", Indexed: true, Tokenizer: "raw"}, {Name: "tenant", Type: "u64", Indexed: true},
		},
	}, docs...))
}

// fuzzComponent fuzzes the body of one file of the segment.
func fuzzComponent(f *testing.F, extension string) {
	for _, split := range []*segmenttest.Split{tagged(), exampleSplit(), someSplit(0)} {
		for _, entry := range split.File("some").Entries {
			if strings.HasSuffix(entry.Name, extension) {
				f.Add(entry.Data[:len(entry.Data)-94])
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		everything(t, replaced(tagged(), extension, segmenttest.Envelope(body)))
	})
}

func FuzzADocumentStore(f *testing.F)   { fuzzComponent(f, ".store") }
func FuzzTermDictionaries(f *testing.F) { fuzzComponent(f, ".term") }
func FuzzColumns(f *testing.F)          { fuzzComponent(f, ".fast") }

// FuzzABlock keeps the skip index right, so that the fuzzer gets to the blocks.
func FuzzABlock(f *testing.F) {
	for c, split := range map[segment.Compression]*segmenttest.Split{0: someSplit(2), 1: someSplit(2), 4: someSplit(2)} {
		f.Add(split.Blocks[0].Bytes, byte(c), uint16(2))
	}
	f.Fuzz(func(t *testing.T, block []byte, compression byte, docs uint16) {
		if len(block) > 0 && docs > 0 {
			split := someSplit(0)
			split.Compression = segment.Compression(compression)
			split.Blocks = []segmenttest.Block{{Docs: someDocs(int(docs)), Bytes: block}}
			everything(t, split.File("some"))
		}
	})
}

func FuzzAnEnvelope(f *testing.F) {
	f.Add([]byte(`{"version":{"index_format_version":7},"crc":1}` + "\x2e\x00\x00\x00\x39\x05\x00\x00"))
	f.Fuzz(func(t *testing.T, content []byte) { everything(t, replaced(tagged(), ".store", content)) })
}

func FuzzMetaJSON(f *testing.F) {
	for _, entry := range tagged().File("some").Entries {
		if entry.Name == splitfile.MetaJSONName {
			f.Add(entry.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) { everything(t, replaced(tagged(), "meta.json", text)) })
}

func FuzzAStoredDocument(f *testing.F) {
	for _, value := range everyValue() {
		f.Add(segmenttest.EncodeDocument(2, segment.FieldValue{Field: 3, Value: value}), uint8(2))
	}
	f.Fuzz(func(t *testing.T, doc []byte, version uint8) {
		values, err := segment.DecodeDocument(doc, uint32(version))
		if err == nil {
			again, err := segment.DecodeDocument(segmenttest.EncodeDocument(uint32(version), values...), uint32(version))
			if err != nil || len(again) != len(values) {
				t.Fatalf("%v\n%v\n%v", values, again, err)
			}
		}
	})
}
