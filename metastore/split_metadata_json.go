package metastore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/metastore/internal/strictjson"
)

// The peer's names of the split documents' types, as they stand in its errors.
const (
	structSplitMetadata     = "quickwit_metastore::split_metadata::SplitMetadata"
	structSplitMetadataList = "alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>"
	structSplit             = "quickwit_metastore::split_metadata::Split"
)

// unknownID stands in documents for a source or node that is not told.
const unknownID = "unknown"

// maxUnknownNesting is how deeply the value of an unknown key may be nested to be kept; deeper ones
// are dropped. It leaves room for the documents that hold split documents.
const maxUnknownNesting = 64

// ParseSplitMetadata reads the JSON document of a split's metadata, of version 0.7, 0.8 or 0.9.
// Defaults are filled in, a missing create_timestamp with the current time. Unknown keys are kept in
// the document. It fails with JsonDeserializeError.
func ParseSplitMetadata(text []byte) (SplitMetadata, error) {
	m, err := parseSplitMetadata(text, unixNow)
	if err != nil {
		return SplitMetadata{}, JSONDeserialize(structSplitMetadata, err)
	}
	return m, nil
}

// ParseSplitMetadataList reads a JSON array of documents as ParseSplitMetadata does. One that is
// wrong fails the whole list. It fails with JsonDeserializeError; an empty text is an error.
func ParseSplitMetadataList(text []byte) ([]SplitMetadata, error) {
	list, err := parseSplitMetadataList(text, unixNow)
	if err != nil {
		return nil, JSONDeserialize(structSplitMetadataList, err)
	}
	return list, nil
}

func unixNow() int64 { return time.Now().Unix() }

func parseSplitMetadata(text []byte, now func() int64) (SplitMetadata, error) {
	if m, ok := scanSplitMetadata(viewString(text)); ok {
		return m, nil
	}
	var m SplitMetadata
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return m.read(r, now)
	})
	return m, err
}

func parseSplitMetadataList(text []byte, now func() int64) ([]SplitMetadata, error) {
	if list, ok := scanSplitMetadataList(viewString(text)); ok {
		return list, nil
	}
	var list []SplitMetadata
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return strictjson.List(r, &list, func(m *SplitMetadata) error {
			return m.read(r, now)
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// scanSplitMetadata reads a canonical document; ok is false for any other text.
func scanSplitMetadata(text string) (m SplitMetadata, ok bool) {
	s := splitScanner{text: text}
	var layout splitLayout
	if !s.document(&layout) || s.text[s.pos:] != "}" {
		return SplitMetadata{}, false
	}
	return s.metadata(&layout, len(text))
}

// scanSplitMetadataList reads an array of canonical documents; ok is false for any other text.
func scanSplitMetadataList(text string) (list []SplitMetadata, ok bool) {
	s := splitScanner{text: text}
	s.skipSpace()
	if !s.accept("[") {
		return nil, false
	}
	var layout splitLayout
	for {
		s.skipSpace()
		if !s.document(&layout) || !s.accept("}") {
			return nil, false
		}
		m, ok := s.metadata(&layout, s.pos)
		if !ok {
			return nil, false
		}
		if list == nil {
			// Splits of one batch are about equally long.
			list = make([]SplitMetadata, 0, 1+len(text)/s.pos)
		}
		list = append(list, m)
		s.skipSpace()
		if s.accept("]") {
			break
		}
		if !s.accept(",") {
			return nil, false
		}
	}
	s.skipSpace()
	return list, s.pos == len(text)
}

var splitMetadataKeys = strictjson.Keys{
	{Name: "version", Required: true},
	{Name: "split_id", Required: true},
	{Name: "index_uid", Alias: "index_id", Required: true},
	{Name: "partition_id"},
	{Name: "source_id"},
	{Name: "node_id"},
	{Name: "num_docs", Required: true},
	{Name: "uncompressed_docs_size_in_bytes", Alias: "size_in_bytes", Required: true},
	{Name: "time_range"},
	{Name: "create_timestamp"},
	{Name: "maturity"},
	{Name: "tags"},
	{Name: "footer_offsets", Required: true},
	{Name: "delete_opstamp"},
	{Name: "num_merge_ops"},
	{Name: "doc_mapping_uid"},
}

// read reads a document that need not be canonical, and gives it its canonical text.
func (m *SplitMetadata) read(r *strictjson.Reader, now func() int64) error {
	builder := splitMetadataReader{SplitMetadata: m}
	builder.begin()
	err := r.Object(splitMetadataKeys, strictjson.Pass, func(key string) error {
		return builder.field(r, key)
	})
	if err != nil {
		return err
	}
	builder.finish(now)
	return nil
}

// splitMetadataReader collects the fields of a document, whose keys may be mixed with those of a split.
type splitMetadataReader struct {
	*SplitMetadata
	created bool
	unknown []byte // the unknown keys with their values, each led by a comma
}

func (b *splitMetadataReader) begin() {
	*b.SplitMetadata = SplitMetadata{SourceID: unknownID, NodeID: unknownID}
}

func (b *splitMetadataReader) field(r *strictjson.Reader, key string) error {
	var text string
	switch key {
	case "version":
		return r.Enum(&text, "0.9", "0.8", "0.7")
	case "split_id":
		return r.String(&b.SplitID)
	case "index_uid":
		if err := r.String(&text); err != nil {
			return err
		}
		uid, err := ParseIndexUID(text)
		b.IndexUID = uid
		return err
	case "partition_id":
		return r.Uint64(&b.PartitionID)
	case "source_id":
		return stringOrNull(r, &b.SourceID)
	case "node_id":
		err := stringOrNull(r, &b.NodeID)
		b.NodeID = cutNodeID(b.NodeID)
		return err
	case "num_docs":
		return r.Uint64(&b.NumDocs)
	case "uncompressed_docs_size_in_bytes":
		return r.Uint64(&b.UncompressedDocsSize)
	case "time_range":
		if r.IsNull() {
			return r.Skip()
		}
		b.TimeRange.Set = true
		return readRange(r, r.Int64, &b.TimeRange.Value.Start, &b.TimeRange.Value.End)
	case "create_timestamp":
		b.created = true
		return r.Int64(&b.CreateTimestamp)
	case "maturity":
		return b.Maturity.read(r)
	case "tags":
		if err := strictjson.List(r, &b.Tags, r.String); err != nil {
			return err
		}
		slices.Sort(b.Tags)
		b.Tags = slices.Compact(b.Tags)
		return nil
	case "footer_offsets":
		return readRange(r, r.Uint64, &b.FooterStart, &b.FooterEnd)
	case "delete_opstamp":
		return r.Uint64(&b.DeleteOpstamp)
	case "num_merge_ops":
		return r.Uint64(&b.NumMergeOps)
	case "doc_mapping_uid":
		if err := r.String(&text); err != nil {
			return err
		}
		uid, err := ParseULID(text)
		b.DocMappingUID = uid
		return err
	default:
		return b.keepUnknown(r, key)
	}
}

// keepUnknown keeps a key of a newer version. Keys of the enclosing split document are dropped,
// because they would stand in it twice.
func (b *splitMetadataReader) keepUnknown(r *strictjson.Reader, key string) (err error) {
	switch key {
	case "split_state", "update_timestamp", "publish_timestamp":
		return r.Skip()
	}
	b.unknown, err = appendUnknown(r, b.unknown, key)
	return err
}

// appendUnknown appends a key that this program does not know with its value, led by a comma. One that
// is nested too deeply is dropped.
func appendUnknown(r *strictjson.Reader, dst []byte, key string) ([]byte, error) {
	var value []byte
	if err := r.Raw(&value); err != nil {
		return dst, err
	}
	if nesting(value) > maxUnknownNesting {
		return dst, nil
	}
	dst = strictjson.AppendString(append(dst, ','), key)
	return strictjson.AppendCompact(append(dst, ':'), value), nil
}

func (b *splitMetadataReader) finish(now func() int64) {
	if !b.created {
		b.CreateTimestamp = now()
	}
	if len(b.Tags) == 0 {
		b.Tags = nil
	}
	b.document = string(b.appendDocument(make([]byte, 0, 512), b.unknown))
}

// cutNodeID drops what old indexers appended to their node id, "/" and the number of a pipeline. The
// peer cuts at the last slash, and again whenever it reads a stored document, so an id with two slashes
// never stops changing there. We cut at the first: the result is what repeated reading leads to.
func cutNodeID(id string) string {
	node, _, _ := strings.Cut(id, "/")
	return node
}

func stringOrNull(r *strictjson.Reader, into *string) error {
	if r.IsNull() {
		return r.Skip()
	}
	return r.String(into)
}

var rangeKeys = strictjson.Keys{{Name: "start", Required: true}, {Name: "end", Required: true}}

// readRange reads {"start":n,"end":n}, or [n,n], which the peer reads too though nobody writes it.
func readRange[T int64 | uint64](r *strictjson.Reader, read func(*T) error, start, end *T) error {
	if r.Kind() != '[' {
		return r.Object(rangeKeys, strictjson.Reject, func(key string) error {
			if key == "start" {
				return read(start)
			}
			return read(end)
		})
	}
	count := 0
	err := r.Array(func(i int) error {
		count++
		switch i {
		case 0:
			return read(start)
		case 1:
			return read(end)
		}
		return errors.New("a range has two values")
	})
	if err == nil && count != 2 {
		return fmt.Errorf("a range has two values, not %d", count)
	}
	return err
}

var maturityKeys = strictjson.Keys{{Name: "type", Required: true}, {Name: "maturation_period_millis"}}

// read reads {"type":"mature"} or {"type":"immature","maturation_period_millis":n}. A mature split may
// have a period, of any kind, that means nothing.
func (m *Maturity) read(r *strictjson.Reader) error {
	var kind string
	var period []byte
	err := r.Object(maturityKeys, strictjson.Ignore, func(key string) error {
		if key == "type" {
			return r.Enum(&kind, "mature", "immature")
		}
		return r.Raw(&period)
	})
	*m = Maturity{Immature: kind == "immature"}
	switch {
	case err != nil || !m.Immature:
		return err
	case period == nil:
		return errors.New(`required key "maturation_period_millis" is missing`)
	}
	return strictjson.Decode("maturation_period_millis", period, func(r *strictjson.Reader) error {
		return r.Uint64(&m.PeriodMillis)
	})
}
