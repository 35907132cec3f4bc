package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile"
)

// Skeleton is the configuration of a lost index as far as its files tell.
type Skeleton struct {
	// Config is an index config document that can be read, to be completed by a person.
	Config json.RawMessage `json:"config"`
	// Unknown says what no file holds, and what had to be guessed.
	Unknown []string `json:"unknown"`
}

// maxMetaJSON bounds the schema file that is read, in bytes; real ones have a few thousand.
const maxMetaJSON = 4 << 20

// inferSkeleton makes the skeleton from the newest readable split. It returns nil if none has a
// schema that can be read.
func (w *indexWork) inferSkeleton(ctx context.Context) *Skeleton {
	newest := -1
	for i := range w.objects {
		object := &w.objects[i]
		if object.content == lineage.Unreadable || object.content == lineage.WithEntry && object.metadata.IndexUID.IndexID != w.indexID {
			continue
		}
		if newest < 0 || object.lineageObject().CreateTimestamp > w.objects[newest].lineageObject().CreateTimestamp {
			newest = i
		}
	}
	if newest < 0 {
		return nil
	}
	schema, err := w.readSchema(ctx, &w.objects[newest])
	if err != nil {
		return nil // the finding says without it what is to be done
	}
	s := newSkeletonWriter(w, &w.objects[newest])
	for i := range schema {
		s.field(&schema[i])
	}
	return s.finish()
}

func (w *indexWork) readSchema(ctx context.Context, object *splitObject) (_ []schemaField, err error) {
	reader, done, err := w.bucket.Open(ctx, object.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	file, err := splitfile.Open(ctx, reader, splitfile.Options{SplitID: object.id, Size: metastore.Some(object.Size)})
	if err != nil {
		return nil, err
	}
	text, err := file.ReadEntry(ctx, splitfile.MetaJSONName, maxMetaJSON)
	if err != nil {
		return nil, err
	}
	var meta struct {
		Schema []schemaField `json:"schema"`
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return nil, err
	}
	if len(meta.Schema) == 0 {
		return nil, errors.New("the schema is empty")
	}
	return meta.Schema, nil
}

// schemaField is a field of the schema in the file meta.json of a split.
type schemaField struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Options struct {
		Stored    bool            `json:"stored"`
		Indexed   bool            `json:"indexed"`
		Fast      json.RawMessage `json:"fast"`
		Precision string          `json:"precision"`
		Expand    bool            `json:"expand_dots_enabled"`
		Indexing  *struct {
			Record     string `json:"record"`
			Fieldnorms bool   `json:"fieldnorms"`
			Tokenizer  string `json:"tokenizer"`
		} `json:"indexing"`
	} `json:"options"`
}

// skeletonWriter collects the doc mapping.
type skeletonWriter struct {
	work    *indexWork
	mapping map[string]any
	fields  []any
	times   []string // fast date fields
	unknown []string
}

func newSkeletonWriter(w *indexWork, newest *splitObject) *skeletonWriter {
	s := &skeletonWriter{work: w, mapping: map[string]any{"mode": "lenient"}, fields: []any{}}
	if newest.content == lineage.WithEntry && !newest.metadata.DocMappingUID.IsZero() {
		s.mapping["doc_mapping_uid"] = newest.metadata.DocMappingUID.String()
	}
	return s
}

func (s *skeletonWriter) field(f *schemaField) {
	switch f.Name {
	case "_source", "_field_presence": // they are there whatever the configuration says
	case "_doc_length":
		s.mapping["store_document_size"] = true
	case "_dynamic":
		s.mapping["mode"] = "dynamic"
		s.mapping["dynamic_mapping"] = f.options()
	default:
		kind, known := quickwitTypes[f.Type]
		if !known || strings.HasPrefix(f.Name, "_") {
			s.unknown = append(s.unknown, fmt.Sprintf("what declares the field %s of type %s", f.Name, f.Type))
			return
		}
		if kind == "datetime" && f.fast() != nil {
			s.times = append(s.times, f.Name)
		}
		s.place(f.Name, kind, f)
	}
}

// quickwitTypes are the types of field mappings by those of schemas.
var quickwitTypes = map[string]string{
	"text": "text", "u64": "u64", "i64": "i64", "f64": "f64", "bool": "bool", "date": "datetime",
	"ip_addr": "ip", "bytes": "bytes", "json_object": "json",
}

// place adds a field; a dot in its name separates it from the object it is in.
func (s *skeletonWriter) place(path, kind string, f *schemaField) {
	fields := &s.fields
	for {
		head, rest, nested := strings.Cut(path, ".")
		if !nested || strings.HasSuffix(head, `\`) {
			options := f.options()
			options["name"], options["type"] = strings.ReplaceAll(path, `\.`, "."), kind
			*fields = append(*fields, options)
			return
		}
		fields = object(fields, head)
		path = rest
	}
}

// objectField is a field of type object under construction.
type objectField struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Fields []any  `json:"field_mappings"`
}

func object(fields *[]any, name string) *[]any {
	for _, field := range *fields {
		if o, is := field.(*objectField); is && o.Name == name {
			return &o.Fields
		}
	}
	o := &objectField{Name: name, Type: "object"}
	*fields = append(*fields, o)
	return &o.Fields
}

// fast returns the option fast as a field mapping has it, nil if the field is not fast.
func (f *schemaField) fast() any {
	var normalizer struct {
		Name string `json:"with_tokenizer"`
	}
	switch {
	case string(f.Options.Fast) == "true":
		return true
	case json.Unmarshal(f.Options.Fast, &normalizer) == nil && normalizer.Name != "":
		return map[string]any{"normalizer": normalizer.Name}
	default:
		return nil
	}
}

func (f *schemaField) options() map[string]any {
	options := map[string]any{"stored": f.Options.Stored}
	if fast := f.fast(); fast != nil {
		options["fast"] = fast
	}
	switch f.Type {
	case "text", "json_object":
		indexing := f.Options.Indexing
		options["indexed"] = indexing != nil
		if indexing != nil {
			options["record"], options["tokenizer"] = indexing.Record, indexing.Tokenizer
		}
		if f.Type == "text" && indexing != nil {
			options["fieldnorms"] = indexing.Fieldnorms
		}
		if f.Type == "json_object" {
			options["expand_dots"] = f.Options.Expand
		}
	default:
		options["indexed"] = f.Options.Indexed
	}
	if f.Type == "date" && f.Options.Precision != "" {
		options["fast_precision"] = f.Options.Precision
	}
	return options
}

// finish returns the document. If it is not one that can be read there is no skeleton.
func (s *skeletonWriter) finish() *Skeleton {
	w := s.work
	s.mapping["field_mappings"] = s.fields
	s.timestampField()
	s.tagFields()
	text, err := json.Marshal(map[string]any{
		"version": "0.9", "index_id": w.indexID, "index_uri": w.location.String(), "doc_mapping": s.mapping,
	})
	if err == nil {
		_, err = indexconfig.ParseIndexConfig(text, ulid.Make)
	}
	if err != nil {
		return nil
	}
	s.unknown = append(s.unknown,
		"input and output formats of datetime, bytes and number fields, and which fields are arrays or concatenations",
		"whether the source of documents is stored (store_source), and the presence of fields indexed (index_field_presence)",
		"definitions of custom tokenizers, and the options of the partition key",
		"search settings, indexing settings with the merge policy, ingest settings, and retention",
		"sources, their checkpoints, shards, delete tasks and index templates",
	)
	if s.mapping["mode"] == "lenient" {
		s.unknown = append(s.unknown, "whether the mode is lenient or strict")
	}
	return &Skeleton{Config: text, Unknown: s.unknown}
}

func (s *skeletonWriter) timestampField() {
	ranges := false
	for i := range s.work.objects {
		ranges = ranges || s.work.objects[i].metadata.TimeRange.Set
	}
	switch {
	case ranges && len(s.times) == 1:
		s.mapping["timestamp_field"] = s.times[0]
	case ranges:
		s.unknown = append(s.unknown, "which field is the timestamp field; splits have time ranges, so there is one. Candidates: "+strings.Join(s.times, ", "))
	}
}

// tagFields are named by the tags that end in an exclamation mark.
func (s *skeletonWriter) tagFields() {
	var fields []string
	for i := range s.work.objects {
		for _, tag := range s.work.objects[i].metadata.Tags {
			if name, is := strings.CutSuffix(tag, "!"); is && !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	if len(fields) > 0 {
		slices.Sort(fields)
		s.mapping["tag_fields"] = fields
	}
}
