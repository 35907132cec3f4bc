package indexconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// FieldMapping declares one field of a doc mapping, or of an object in it.
// Which options count depends on the type; the others are zero.
type FieldMapping struct {
	Name string
	// Type is text, i64, u64, f64, bool, ip, bytes, datetime or json, each of
	// them also in the form array<...>, or object or concatenate.
	Type string

	Description *string
	Indexed     bool
	Stored      bool
	Fast        bool
	Normalizer  string // of a fast text or json field: "raw" or "lowercase"

	Tokenizer  string // text, json, concatenate; empty when not indexed
	Record     string // text, json, concatenate; empty when not indexed
	Fieldnorms bool   // text
	ExpandDots bool   // json

	Coerce        bool     // numbers
	InputFormat   string   // bytes
	InputFormats  []string // datetime
	OutputFormat  string   // numbers, bytes, datetime
	FastPrecision string   // datetime

	ConcatenateFields    []string       // concatenate
	IncludeDynamicFields bool           // concatenate
	Fields               []FieldMapping // object
}

// scalarType returns the type without "array<...>", and whether that was there.
func (f *FieldMapping) scalarType() (name string, array bool) {
	if inner, found := strings.CutPrefix(f.Type, "array<"); found {
		return strings.TrimSuffix(inner, ">"), true
	}
	return f.Type, false
}

// optionsOf returns the options of a type in the order in which they are
// written, which is bytewise. It returns nil for an unknown type.
func optionsOf(fieldType string) []string {
	scalar, array := strings.CutPrefix(fieldType, "array<")
	if array {
		var closed bool
		if scalar, closed = strings.CutSuffix(scalar, ">"); !closed {
			return nil
		}
	}
	switch scalar {
	case "text":
		return []string{"description", "fast", "fieldnorms", "indexed", "record", "stored", "tokenizer"}
	case "i64", "u64", "f64":
		return []string{"coerce", "description", "fast", "indexed", "output_format", "stored"}
	case "bool", "ip":
		return []string{"description", "fast", "indexed", "stored"}
	case "bytes":
		return []string{"description", "fast", "indexed", "input_format", "output_format", "stored"}
	case "datetime":
		return []string{"description", "fast", "fast_precision", "indexed", "input_formats", "output_format", "stored"}
	case "json":
		return []string{"description", "expand_dots", "fast", "indexed", "record", "stored", "tokenizer"}
	}
	if array {
		return nil
	}
	switch fieldType {
	case "concatenate":
		return []string{"concatenate_fields", "description", "include_dynamic_fields", "record", "tokenizer"}
	case "object":
		return []string{"field_mappings"}
	default:
		return nil
	}
}

// defaultField returns a field with the defaults of its type.
func defaultField(fieldType string) FieldMapping {
	f := FieldMapping{Type: fieldType, Indexed: true, Stored: true}
	switch scalar, _ := f.scalarType(); scalar {
	case "text":
		f.Tokenizer, f.Record = "default", "basic"
	case "json":
		f.Tokenizer, f.Record, f.ExpandDots = "raw", "basic", true
	case "concatenate":
		f.Tokenizer, f.Record, f.ConcatenateFields = "default", "basic", []string{}
	case "i64", "u64", "f64":
		f.Coerce, f.OutputFormat = true, "number"
	case "bytes":
		f.InputFormat, f.OutputFormat = "base64", "base64"
	case "datetime":
		f.InputFormats, f.OutputFormat, f.FastPrecision = defaultInputFormats(), "rfc3339", "seconds"
	}
	return f
}

// defaultDynamicMapping is the dynamic mapping of a doc mapping that has none:
// unlike one that is given as {}, it is fast.
func defaultDynamicMapping() *FieldMapping {
	f := defaultField("json")
	f.Fast, f.Normalizer = true, "raw"
	return &f
}

func (f *FieldMapping) read(r *strictjson.Reader) error {
	return r.Tagged("type", func(fieldType string) error {
		options := optionsOf(fieldType)
		if options == nil {
			return strictjson.Within("type", fmt.Errorf("unknown type %s; known types are text, i64, u64, f64, bool, ip, bytes, datetime, json, "+
				"array<...> of one of these, object, concatenate", strictjson.Quote(fieldType)))
		}
		keys := strictjson.Keys{{Name: "name", Required: true}, {Name: "type"}}
		unknown := strictjson.Reject
		if fieldType == "object" {
			unknown = strictjson.Ignore
		}
		*f = defaultField(fieldType)
		if err := f.readOptions(r, append(keys, optionKeys(options)...), unknown); err != nil {
			return err
		}
		return f.checkShape()
	})
}

// readDynamic reads the options of a dynamic mapping: those of a json field.
func (f *FieldMapping) readDynamic(r *strictjson.Reader) error {
	*f = defaultField("json")
	return f.readOptions(r, optionKeys(optionsOf("json")), strictjson.Reject)
}

func optionKeys(options []string) strictjson.Keys {
	keys := make(strictjson.Keys, len(options))
	for i, option := range options {
		keys[i].Name = option
		switch option {
		case "fast_precision":
			keys[i].Alias = "precision"
		case "field_mappings":
			keys[i].Required = true
		}
	}
	return keys
}

// checkShape checks what the peer checks while it reads a field, before any
// mapper is built.
func (f *FieldMapping) checkShape() error {
	if err := validateFieldName(f.Name); err != nil {
		return strictjson.Within("name", err)
	}
	switch {
	case f.Type == "array<bytes>" && f.Fast:
		return strictjson.Within("fast", errors.New("is not allowed for array<bytes>"))
	case f.Type == "object" && len(f.Fields) == 0:
		return strictjson.Within("field_mappings", errors.New("an object must have at least one field"))
	case f.Type == "concatenate" && len(f.ConcatenateFields) == 0 && !f.IncludeDynamicFields:
		return strictjson.Within("concatenate_fields", errors.New("must name at least one field, or include_dynamic_fields must be true"))
	}
	return nil
}

const maxFieldNameLength = 255

// validateFieldName checks the name of a field: 1 to 255 characters, a letter or
// one of "@", "$", "_", "-" first, then also digits, "/" and ".", and not one of
// the names that the peer uses itself.
func validateFieldName(name string) error {
	if len(name) == 0 || len(name) > maxFieldNameLength {
		return fmt.Errorf("a field name must have 1 to %d characters, not %d", maxFieldNameLength, len(name))
	}
	for i := range len(name) {
		c := name[i]
		valid := isLetter(c) || strings.IndexByte("@$_-", c) >= 0 || i > 0 && (isDigit(c) || c == '/' || c == '.')
		if !valid && i == 0 {
			return fmt.Errorf("the field name %s must begin with an ASCII letter, \"@\", \"$\", \"_\" or \"-\"", strictjson.Quote(name))
		}
		if !valid {
			return fmt.Errorf("the field name %s may hold only ASCII letters, digits and @ $ _ - / . after its first character", strictjson.Quote(name))
		}
	}
	if slices.Contains([]string{"_doc_length", "_dynamic", "_field_presence", "_source"}, name) {
		return fmt.Errorf("the field name %q is reserved", name)
	}
	return nil
}
