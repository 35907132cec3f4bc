package indexconfig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// readOptions reads the options of a field whose defaults are set already.
func (f *FieldMapping) readOptions(r *strictjson.Reader, keys strictjson.Keys, unknown strictjson.Unknown) error {
	var indexedOnly string // an option given that makes sense for an indexed field only
	err := r.Object(keys, unknown, func(key string) error {
		if err := f.readOption(r, key); err != nil {
			return err
		}
		if key == "tokenizer" || key == "record" || key == "fieldnorms" && f.Fieldnorms {
			indexedOnly = key
		}
		return nil
	})
	if err != nil || f.Indexed {
		return err
	}
	if indexedOnly != "" {
		return strictjson.Within(indexedOnly, errors.New("is allowed only if indexed is true"))
	}
	f.Tokenizer, f.Record = "", ""
	return nil
}

func (f *FieldMapping) readOption(r *strictjson.Reader, key string) error {
	switch key {
	case "name":
		return r.String(&f.Name)
	case "description":
		return strictjson.Optional(r, &f.Description, r.String)
	case "indexed":
		return r.Bool(&f.Indexed)
	case "stored":
		return r.Bool(&f.Stored)
	case "fast":
		return f.readFast(r)
	case "tokenizer":
		return r.String(&f.Tokenizer)
	case "record":
		return r.Enum(&f.Record, "basic", "freq", "position")
	case "fieldnorms":
		return r.Bool(&f.Fieldnorms)
	case "expand_dots":
		return r.Bool(&f.ExpandDots)
	case "coerce":
		return r.Bool(&f.Coerce)
	case "input_format":
		return r.Enum(&f.InputFormat, "base64", "hex")
	case "output_format":
		return f.readOutputFormat(r)
	case "input_formats":
		return readInputFormats(r, &f.InputFormats)
	case "fast_precision":
		return r.Enum(&f.FastPrecision, "seconds", "milliseconds", "microseconds", "nanoseconds")
	case "concatenate_fields":
		return strictjson.List(r, &f.ConcatenateFields, r.String)
	case "include_dynamic_fields":
		return r.Bool(&f.IncludeDynamicFields)
	case "field_mappings":
		return strictjson.List(r, &f.Fields, func(inner *FieldMapping) error { return inner.read(r) })
	default:
		return r.Skip() // the type, known already
	}
}

var normalizerKeys = strictjson.Keys{{Name: "normalizer", Required: true}}

// readFast reads a boolean, or for text and json also {"normalizer": ...}; true
// stands for the normalizer raw.
func (f *FieldMapping) readFast(r *strictjson.Reader) error {
	scalar, _ := f.scalarType()
	normalized := scalar == "text" || scalar == "json"
	f.Normalizer = ""
	if normalized && r.Kind() == jsontext.KindBeginObject {
		f.Fast = true
		return r.Object(normalizerKeys, strictjson.Reject, func(string) error {
			return r.Enum(&f.Normalizer, "raw", "lowercase")
		})
	}
	err := r.Bool(&f.Fast)
	if normalized && f.Fast {
		f.Normalizer = "raw"
	}
	return err
}

func (f *FieldMapping) readOutputFormat(r *strictjson.Reader) error {
	switch scalar, _ := f.scalarType(); scalar {
	case "bytes":
		return r.Enum(&f.OutputFormat, "base64", "hex")
	case "datetime":
		return readDateTimeOutputFormat(r, &f.OutputFormat)
	default:
		return r.Enum(&f.OutputFormat, "number", "string")
	}
}

// write writes a field of the top level: name and type first, then the options
// sorted.
func (f *FieldMapping) write(w *strictjson.Writer) {
	w.Begin('{').Key("name").String(f.Name).Key("type").String(f.Type)
	for _, option := range optionsOf(f.Type) {
		f.writeOption(w, option)
	}
	w.End('}')
}

// writeNested writes a field inside an object: name, type and options sorted
// together.
func (f *FieldMapping) writeNested(w *strictjson.Writer) {
	keys := append(optionsOf(f.Type), "name", "type")
	slices.Sort(keys)
	w.Begin('{')
	for _, key := range keys {
		f.writeOption(w, key)
	}
	w.End('}')
}

// writeDynamic writes a dynamic mapping, whose options have an order of their
// own.
func (f *FieldMapping) writeDynamic(w *strictjson.Writer) {
	w.Begin('{')
	for _, option := range []string{"description", "indexed", "tokenizer", "record", "stored", "expand_dots", "fast"} {
		f.writeOption(w, option)
	}
	w.End('}')
}

func (f *FieldMapping) writeOption(w *strictjson.Writer, key string) {
	text := func(value string) {
		if value != "" {
			w.Key(key).String(value)
		}
	}
	switch key {
	case "name":
		w.Key(key).String(f.Name)
	case "type":
		w.Key(key).String(f.Type)
	case "description":
		if f.Description != nil {
			w.Key(key).String(*f.Description)
		}
	case "indexed":
		w.Key(key).Bool(f.Indexed)
	case "stored":
		w.Key(key).Bool(f.Stored)
	case "fast":
		w.Key(key)
		if f.Normalizer != "" {
			w.Begin('{').Key("normalizer").String(f.Normalizer).End('}')
		} else {
			w.Bool(f.Fast)
		}
	case "tokenizer":
		if f.Indexed {
			w.Key(key).String(f.Tokenizer)
		}
	case "record":
		text(f.Record)
	case "fieldnorms":
		w.Key(key).Bool(f.Fieldnorms)
	case "expand_dots":
		w.Key(key).Bool(f.ExpandDots)
	case "coerce":
		w.Key(key).Bool(f.Coerce)
	case "input_format":
		text(f.InputFormat)
	case "output_format":
		text(f.OutputFormat)
	case "input_formats":
		w.Key(key).Strings(f.InputFormats)
	case "fast_precision":
		text(f.FastPrecision)
	case "concatenate_fields":
		w.Key(key).Strings(f.ConcatenateFields)
	case "include_dynamic_fields":
		w.Key(key).Bool(f.IncludeDynamicFields)
	case "field_mappings":
		w.Key(key).Begin('[')
		for i := range f.Fields {
			f.Fields[i].writeNested(w)
		}
		w.End(']')
	default:
		panic(fmt.Sprintf("indexconfig: field option %q has no writer", key))
	}
}
