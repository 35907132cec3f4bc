package segment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/reconcile/splitfile"
)

// Segment is the segment of a split file that was opened.
type Segment struct {
	Meta   Meta
	file   *splitfile.File
	limits Limits
}

// Meta is what meta.json says.
type Meta struct {
	SegmentID string // as in the names of the segment's files: 32 hexadecimal digits
	MaxDoc    uint64 // documents, deleted ones included
	NumDocs   uint64 // documents, without deleted ones
	Opstamp   uint64
	// BlockSize is the number of bytes above which a block of the document store is closed.
	BlockSize uint64
	// Fields are the fields of the schema; the place of a field is its id.
	Fields []Field
	// SchemaHash is SHA-256 of the schema in canonical form: equal for equal schemas only.
	SchemaHash [sha256.Size]byte
}

// Field is a field of the schema.
type Field struct {
	Name      string
	Type      string // "text", "u64", "i64", "date", ...
	Indexed   bool   // whether its terms can be searched
	Fast      bool   // whether it has a column
	Tokenizer string // of an indexed text
}

// defaultBlockSize counts where meta.json does not say.
const defaultBlockSize = 1_000_000

// maxDocs is the cap on the documents of a segment, whose numbers have 32 bits.
const maxDocs = 1 << 31

// Open reads meta.json of an opened split file. It fails with the errors of package splitfile.
func Open(ctx context.Context, file *splitfile.File, limits Limits) (*Segment, error) {
	s := &Segment{file: file, limits: limits.withDefaults()}
	text, err := file.ReadEntry(ctx, splitfile.MetaJSONName, s.limits.MetaJSON)
	if err != nil {
		return nil, err
	}
	entry, _ := file.Entry(splitfile.MetaJSONName)
	if s.Meta, err = parseMeta(text, entry.Start, s.limits); err != nil {
		return nil, s.named(err)
	}
	return s, nil
}

// named tells a FormatError which file it is about.
func (s *Segment) named(err error) error {
	var format *splitfile.FormatError
	if errors.As(err, &format) && format.SplitID == "" {
		format.SplitID = s.file.SplitID
	}
	return err
}

type metaJSON struct {
	Segments []struct {
		SegmentID string  `json:"segment_id"`
		MaxDoc    *uint64 `json:"max_doc"`
		Deletes   *struct {
			NumDeleted uint64 `json:"num_deleted_docs"`
		} `json:"deletes"`
	} `json:"segments"`
	Settings struct {
		BlockSize *uint64 `json:"docstore_blocksize"`
	} `json:"index_settings"`
	Schema  json.RawMessage `json:"schema"`
	Opstamp *uint64         `json:"opstamp"`
}

type fieldJSON struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Options struct {
		Indexed  bool            `json:"indexed"`
		Fast     json.RawMessage `json:"fast"`
		Indexing *struct {
			Tokenizer string `json:"tokenizer"`
		} `json:"indexing"`
	} `json:"options"`
}

// parseMeta reads meta.json; offset is where it is in the object.
func parseMeta(text []byte, offset int64, limits Limits) (Meta, error) {
	refuse := func(field, value, problem string, args ...any) (Meta, error) {
		return Meta{}, fault("meta.json "+field, offset, value, problem, args...)
	}
	var meta metaJSON
	if err := json.Unmarshal(text, &meta); err != nil {
		return Meta{}, fault("meta.json", offset, "", "is not valid: %.200s", err.Error())
	}
	if len(meta.Segments) != 1 {
		return refuse("segments", number(len(meta.Segments)), "is not 1, the number of segments of a split")
	}
	segment := &meta.Segments[0]
	m := Meta{SegmentID: strings.ReplaceAll(segment.SegmentID, "-", ""), BlockSize: defaultBlockSize}
	if len(m.SegmentID) != 32 || strings.Trim(m.SegmentID, "0123456789abcdef") != "" {
		return refuse("segment_id", clip(segment.SegmentID), "is not an id of 32 hexadecimal digits")
	}
	if segment.MaxDoc == nil {
		return refuse("max_doc", "", "is missing")
	}
	m.MaxDoc, m.NumDocs = *segment.MaxDoc, *segment.MaxDoc
	if m.NumDocs > maxDocs {
		return refuse("max_doc", number(m.NumDocs), "is more than the %d that are possible", maxDocs)
	}
	if segment.Deletes != nil {
		if segment.Deletes.NumDeleted > m.NumDocs {
			return refuse("num_deleted_docs", number(segment.Deletes.NumDeleted), "is more than the %d documents", m.NumDocs)
		}
		m.NumDocs -= segment.Deletes.NumDeleted
	}
	if meta.Opstamp == nil {
		return refuse("opstamp", "", "is missing")
	}
	m.Opstamp = *meta.Opstamp
	if meta.Settings.BlockSize != nil {
		m.BlockSize = *meta.Settings.BlockSize
	}
	var fields []fieldJSON
	if err := json.Unmarshal(meta.Schema, &fields); err != nil {
		return refuse("schema", "", "is not valid: %.200s", err.Error())
	}
	if len(fields) == 0 || len(fields) > limits.Fields {
		return refuse("schema", number(len(fields)), "fields are none, or more than the %d that are allowed", limits.Fields)
	}
	for i := range fields {
		f := &fields[i]
		field := Field{Name: f.Name, Type: f.Type, Indexed: f.Options.Indexed || f.Options.Indexing != nil}
		// A text says false, or how its values are normalized.
		field.Fast = len(f.Options.Fast) > 0 && !slices.Contains([]string{"false", "null"}, string(f.Options.Fast))
		if f.Options.Indexing != nil {
			field.Tokenizer = f.Options.Indexing.Tokenizer
		}
		m.Fields = append(m.Fields, field)
	}
	var err error
	if m.SchemaHash, err = hashSchema(meta.Schema); err != nil {
		return refuse("schema", "", "is not valid: %.200s", err.Error())
	}
	return m, nil
}

// hashSchema hashes a schema without blanks, with sorted keys and with numbers as they are written.
func hashSchema(schema []byte) ([sha256.Size]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return [sha256.Size]byte{}, err
	}
	text, err := json.Marshal(value)
	return sha256.Sum256(text), err
}

// field returns the id of a field of the schema.
func (m *Meta) field(name string) (id uint32, ok bool) {
	i := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Name == name })
	return uint32(max(i, 0)), i >= 0
}

// clip quotes text for an error and cuts it when it is long.
func clip(text string) string {
	const limit = 100
	if len(text) > limit {
		return fmt.Sprintf("%q... (%d bytes)", text[:limit], len(text))
	}
	return fmt.Sprintf("%q", text)
}
