package segmenttest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// Document is a document to be stored.
type Document struct {
	Raw []byte // as in the document store
	// Time is the value of the date field Settings.TimeField, in nanoseconds. Nil if it has none.
	Time *int64
	// Terms are the terms of indexed fields by name.
	Terms map[string][][]byte
}

// Settings are what all splits of an index have in common. The zero value is an index without fields.
type Settings struct {
	// Fields are the fields of the schema behind _field_presence.
	Fields []Field
	// TimeField is the date field that documents have a Time for. Empty if there is none.
	TimeField string
	// BlockSize is the number of bytes above which a block is closed. 0 means 1,000,000.
	BlockSize   int
	Compression segment.Compression
	// StoreVersion is 1 or 2; 0 means 2.
	StoreVersion uint32
	// Presence is whether _field_presence has terms.
	Presence bool
}

// Field is a field of the schema.
type Field struct {
	Name, Type string
	Indexed    bool
	Tokenizer  string // of an indexed text
	Fast       bool
}

// Split is a split as an indexer, a merge or a rewrite makes it.
type Split struct {
	Settings
	Blocks  []Block
	Opstamp uint64
	Merged  bool // by a merge or a rewrite
}

// Block is a block of the document store.
type Block struct {
	Docs  []Document
	Bytes []byte // in the file
}

// Docs returns the documents.
func (s *Split) Docs() []Document {
	var docs []Document
	for _, b := range s.Blocks {
		docs = append(docs, b.Docs...)
	}
	return docs
}

// Index returns the split that an indexer makes.
func Index(settings Settings, docs ...Document) *Split {
	s := &Split{Settings: settings}
	w := blockWriter{split: s}
	for _, doc := range docs {
		w.add(doc)
	}
	w.close()
	return s
}

// stackFrom is how many blocks a parent must have for its blocks to be copied as they are.
const stackFrom = 6

// Merge returns the split that a merge makes of parents in the order in which it lists them: the last
// one comes first.
func Merge(parents ...*Split) *Split {
	last := parents[len(parents)-1]
	s := &Split{Settings: last.Settings, Opstamp: last.Opstamp, Merged: true}
	w := blockWriter{split: s}
	w.append(last)
	for _, p := range parents[:len(parents)-1] {
		w.append(p)
	}
	w.close()
	return s
}

// Rewrite returns the split that the given number of delete tasks make of a parent.
func Rewrite(parent *Split, tasks uint64, keep func(i int, doc Document) bool) *Split {
	s := &Split{Settings: parent.Settings, Opstamp: parent.Opstamp + tasks, Merged: true}
	w := blockWriter{split: s}
	docs, kept := parent.Docs(), []Document(nil)
	for i, doc := range docs {
		if keep(i, doc) {
			kept = append(kept, doc)
		}
	}
	if len(kept) == len(docs) {
		w.append(parent)
	} else {
		for _, doc := range kept {
			w.add(doc)
		}
	}
	w.close()
	return s
}

// File returns a split file of the split, without a recovery entry. name makes the id of the segment.
func (s *Split) File(name string) *splitfiletest.File {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:16])
	file := &splitfiletest.File{Hotcache: make([]byte, 12)}
	for extension, body := range map[string][]byte{
		".fast": s.columns(), ".store": s.store(), ".term": s.terms(), ".fieldnorm": nil, ".idx": nil, ".pos": nil,
	} {
		file.Entries = append(file.Entries, splitfiletest.Entry{Name: id + extension, Data: Envelope(body)})
	}
	slices.SortFunc(file.Entries, func(a, b splitfiletest.Entry) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	file.Entries = append(file.Entries,
		splitfiletest.Entry{Name: "meta.json", Data: s.meta(id)},
		splitfiletest.Entry{Name: "split_fields", Data: []byte{2}})
	return file
}

// fields are those of the schema, with the one that every schema has.
func (s *Split) fields() []Field {
	return append([]Field{{Name: "_field_presence", Type: "u64", Indexed: true}}, s.Fields...)
}

func (s *Split) meta(id string) []byte {
	schema := []any{}
	for _, f := range s.fields() {
		options := map[string]any{"stored": true, "fast": f.Fast}
		switch {
		case f.Type == "text" && f.Indexed:
			options["indexing"] = map[string]any{"record": "basic", "fieldnorms": true, "tokenizer": f.Tokenizer}
		case f.Type == "text":
			options["indexing"] = nil
		default:
			options["indexed"] = f.Indexed
		}
		schema = append(schema, map[string]any{"name": f.Name, "type": f.Type, "options": options})
	}
	text, err := json.Marshal(map[string]any{
		"segments": []any{map[string]any{
			"segment_id": id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:], "max_doc": len(s.Docs()), "deletes": nil,
		}},
		"schema": schema, "opstamp": s.Opstamp,
		"index_settings": map[string]any{"docstore_compression": "zstd", "docstore_blocksize": s.blockSize()},
	})
	if err != nil {
		panic("segmenttest: " + err.Error())
	}
	return text
}

// termsOf returns the sorted terms of a field, and whether the field has a dictionary.
func (s *Split) termsOf(f Field) (terms [][]byte, found bool) {
	if !f.Indexed {
		return nil, false
	}
	distinct := map[string]bool{}
	for _, doc := range s.Docs() {
		for _, term := range doc.Terms[f.Name] {
			distinct[string(term)] = true
		}
		if f.Name == "_field_presence" && s.Presence {
			distinct["presence"] = true
		}
	}
	for _, term := range slices.Sorted(maps.Keys(distinct)) {
		terms = append(terms, []byte(term))
	}
	return terms, s.Merged || len(terms) > 0
}
