package indexconfig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/internal/strictjson"
)

// The modes of a doc mapping: what happens to fields that are not declared.
const (
	ModeLenient = "lenient" // they are dropped
	ModeStrict  = "strict"  // the document is refused
	ModeDynamic = "dynamic" // they are indexed by the dynamic mapping
)

// DocMapping says how documents become fields of an index.
type DocMapping struct {
	// UID identifies this version of the mapping. The zero value is the nil
	// UID, that of all mappings of the versions 0.7 and 0.8.
	UID  ulid.ULID
	Mode string
	// Dynamic holds the options of undeclared fields, those of a json field.
	// Set with ModeDynamic and only then.
	Dynamic            *FieldMapping
	Fields             []FieldMapping
	TimestampField     *string
	TagFields          []string // sorted bytewise, distinct
	PartitionKey       *string
	MaxNumPartitions   uint32 // at least 1
	IndexFieldPresence bool
	StoreDocumentSize  bool
	StoreSource        bool
	Tokenizers         []Tokenizer
}

var docMappingKeys = strictjson.Keys{
	{Name: "doc_mapping_uid"},
	{Name: "mode"},
	{Name: "dynamic_mapping"},
	{Name: "field_mappings"},
	{Name: "timestamp_field"},
	{Name: "tag_fields"},
	{Name: "partition_key"},
	{Name: "max_num_partitions"},
	{Name: "index_field_presence"},
	{Name: "store_document_size", Alias: "document_length"},
	{Name: "store_source"},
	{Name: "tokenizers"},
}

// ParseDocMapping reads the document of an update: its shape, not whether a
// mapper could be built from it. newUID draws the UID when the document has
// none; nil leaves it at the nil UID.
func ParseDocMapping(text []byte, newUID func() ulid.ULID) (*DocMapping, error) {
	return parse("doc_mapping", text, func(m *DocMapping, r *strictjson.Reader) error { return m.read(r, newUID) })
}

func (m *DocMapping) read(r *strictjson.Reader, newUID func() ulid.ULID) error {
	*m = DocMapping{
		Mode:             ModeDynamic,
		Fields:           []FieldMapping{},
		TagFields:        []string{},
		MaxNumPartitions: 200,
		Tokenizers:       []Tokenizer{},
	}
	hasUID := false
	err := r.Object(docMappingKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "doc_mapping_uid":
			hasUID = true
			return readULID(r, &m.UID)
		case "mode":
			return r.Enum(&m.Mode, ModeLenient, ModeStrict, ModeDynamic)
		case "dynamic_mapping":
			return strictjson.Optional(r, &m.Dynamic, func(f *FieldMapping) error { return f.readDynamic(r) })
		case "field_mappings":
			return strictjson.List(r, &m.Fields, func(f *FieldMapping) error { return f.read(r) })
		case "timestamp_field":
			return strictjson.Optional(r, &m.TimestampField, r.String)
		case "tag_fields":
			err := strictjson.List(r, &m.TagFields, r.String)
			slices.Sort(m.TagFields)
			m.TagFields = slices.Compact(m.TagFields)
			return err
		case "partition_key":
			return strictjson.Optional(r, &m.PartitionKey, r.String)
		case "max_num_partitions":
			return readPositive(r, &m.MaxNumPartitions)
		case "index_field_presence":
			return r.Bool(&m.IndexFieldPresence)
		case "store_document_size":
			return r.Bool(&m.StoreDocumentSize)
		case "store_source":
			return r.Bool(&m.StoreSource)
		default:
			return strictjson.List(r, &m.Tokenizers, func(t *Tokenizer) error { return t.read(r) })
		}
	})
	if err != nil {
		return err
	}
	if !hasUID && newUID != nil {
		m.UID = newUID()
	}
	return m.settleDynamic()
}

// settleDynamic fills in or refuses the dynamic mapping by the mode.
func (m *DocMapping) settleDynamic() error {
	switch {
	case m.Mode == ModeDynamic && m.Dynamic == nil:
		m.Dynamic = defaultDynamicMapping()
	case m.Mode != ModeDynamic && m.Dynamic != nil:
		return strictjson.Within("dynamic_mapping", fmt.Errorf("is allowed only with mode %q, not with mode %q", ModeDynamic, m.Mode))
	}
	return nil
}

func (m *DocMapping) write(w *strictjson.Writer) {
	w.Begin('{')
	w.Key("doc_mapping_uid").String(m.UID.String())
	m.writeContent(w)
	w.End('}')
}

// writeContent writes everything but the UID.
func (m *DocMapping) writeContent(w *strictjson.Writer) {
	w.Key("mode").String(m.Mode)
	if m.Dynamic != nil {
		w.Key("dynamic_mapping")
		m.Dynamic.writeDynamic(w)
	}
	w.Key("field_mappings").Begin('[')
	for i := range m.Fields {
		m.Fields[i].write(w)
	}
	w.End(']')
	w.Key("timestamp_field").OptionalString(m.TimestampField)
	w.Key("tag_fields").Strings(m.TagFields)
	if m.PartitionKey != nil {
		w.Key("partition_key").String(*m.PartitionKey)
	}
	w.Key("max_num_partitions").Uint64(uint64(m.MaxNumPartitions))
	w.Key("index_field_presence").Bool(m.IndexFieldPresence)
	w.Key("store_document_size").Bool(m.StoreDocumentSize)
	w.Key("store_source").Bool(m.StoreSource)
	w.Key("tokenizers").Begin('[')
	for i := range m.Tokenizers {
		m.Tokenizers[i].write(w)
	}
	w.End(']')
}

// readULID reads 26 characters of Crockford base32 in either case. A text that
// does not fit 128 bits is refused, where the peer reads another ULID from it.
func readULID(r *strictjson.Reader, into *ulid.ULID) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	id, err := ulid.ParseStrict(text)
	switch {
	case errors.Is(err, ulid.ErrOverflow):
		return fmt.Errorf("%s is not a ULID: it does not fit 128 bits", strictjson.Quote(text))
	case err != nil:
		return fmt.Errorf("%s is not a ULID, which is 26 characters of Crockford base32", strictjson.Quote(text))
	}
	*into = id
	return nil
}

func readPositive(r *strictjson.Reader, into *uint32) error {
	if err := r.Uint32(into); err != nil {
		return err
	}
	if *into == 0 {
		return errors.New("must be at least 1")
	}
	return nil
}
