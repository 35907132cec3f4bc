package indexconfig

import (
	"errors"
	"fmt"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// validateMapper checks that a doc mapper could be built from a mapping and the
// search settings of its index, as far as that can be told without a search
// engine. Its errors name the path from the index config on.
func validateMapper(mapping *DocMapping, search *SearchSettings) error {
	m := mapper{DocMapping: mapping, tree: newFieldTree(mapping.Fields)}
	if err := m.validate(); err != nil {
		return strictjson.Within("doc_mapping", err)
	}
	return strictjson.Within("search_settings", strictjson.Within("default_search_fields", m.validateSearchFields(search.DefaultSearchFields)))
}

// mapper is a doc mapping under validation.
type mapper struct {
	*DocMapping
	tree       fieldTree
	tokenizers map[string]bool // names of the custom ones
}

func (m *mapper) validate() error {
	if err := m.validateTokenizers(); err != nil {
		return strictjson.Within("tokenizers", err)
	}
	if err := m.validateFields(m.Fields); err != nil {
		return strictjson.Within("field_mappings", err)
	}
	if m.Dynamic != nil {
		if err := m.validateTokenizer(m.Dynamic); err != nil {
			return strictjson.Within("dynamic_mapping", err)
		}
	}
	if m.TimestampField != nil {
		if err := m.validateTimestampField(*m.TimestampField); err != nil {
			return strictjson.Within("timestamp_field", err)
		}
	}
	for _, path := range m.TagFields {
		if err := m.validateTagField(path); err != nil {
			return strictjson.Within("tag_fields", fmt.Errorf("tag field %s %w", strictjson.Quote(path), err))
		}
	}
	if m.PartitionKey != nil {
		return strictjson.Within("partition_key", validatePartitionKey(*m.PartitionKey))
	}
	return nil
}

func (m *mapper) validateTokenizers() error {
	m.tokenizers = make(map[string]bool, len(m.Tokenizers))
	for i := range m.Tokenizers {
		t := &m.Tokenizers[i]
		err := t.validate()
		switch {
		case isBuiltInTokenizer(t.Name):
			err = fmt.Errorf("the name %s is that of a built-in tokenizer", strictjson.Quote(t.Name))
		case m.tokenizers[t.Name]:
			err = fmt.Errorf("the tokenizer %s is declared twice", strictjson.Quote(t.Name))
		}
		if err != nil {
			return at(i, err)
		}
		m.tokenizers[t.Name] = true
	}
	return nil
}

// validateFields checks the fields of one level and those below.
func (m *mapper) validateFields(fields []FieldMapping) error {
	names := make(map[string]bool, len(fields))
	for i := range fields {
		f := &fields[i]
		if names[f.Name] {
			return at(i, fmt.Errorf("the field %s is declared twice", strictjson.Quote(f.Name)))
		}
		names[f.Name] = true
		if err := m.validateField(f); err != nil {
			return at(i, err)
		}
	}
	return nil
}

func (m *mapper) validateField(f *FieldMapping) error {
	if f.Type == "object" {
		return strictjson.Within("field_mappings", m.validateFields(f.Fields))
	}
	if err := m.validateTokenizer(f); err != nil {
		return err
	}
	if f.Type != "concatenate" {
		return nil
	}
	if f.IncludeDynamicFields && m.Mode != ModeDynamic {
		return strictjson.Within("include_dynamic_fields", fmt.Errorf("is allowed only with mode %q, not with mode %q", ModeDynamic, m.Mode))
	}
	for i, path := range f.ConcatenateFields {
		if err := m.validateConcatenated(path); err != nil {
			return strictjson.Within("concatenate_fields", at(i, err))
		}
	}
	return nil
}

func (m *mapper) validateTokenizer(f *FieldMapping) error {
	if f.Tokenizer == "" || isBuiltInTokenizer(f.Tokenizer) || m.tokenizers[f.Tokenizer] {
		return nil
	}
	return strictjson.Within("tokenizer", fmt.Errorf("unknown tokenizer %s; it is neither built in nor declared in tokenizers", strictjson.Quote(f.Tokenizer)))
}

func (m *mapper) validateConcatenated(path string) error {
	f := m.tree.resolve(path)
	if f == nil {
		return fmt.Errorf("the field %s is not declared", strictjson.Quote(path))
	}
	switch scalar, _ := f.scalarType(); scalar {
	case "text", "u64", "i64", "f64", "bool", "json":
		return nil
	default:
		return fmt.Errorf("the field %s of type %s cannot be concatenated", strictjson.Quote(path), f.Type)
	}
}

func (m *mapper) validateTimestampField(path string) error {
	if err := validateFieldPath(path); err != nil {
		return err
	}
	f := m.tree.resolve(path)
	switch {
	case f == nil:
		return fmt.Errorf("the field %s is not declared", strictjson.Quote(path))
	case f.Type == "array<datetime>":
		return fmt.Errorf("the field %s must be single-valued", strictjson.Quote(path))
	case f.Type != "datetime":
		return fmt.Errorf("the field %s must be of type datetime, not %s", strictjson.Quote(path), f.Type)
	case !f.Fast:
		return fmt.Errorf("the field %s must be fast", strictjson.Quote(path))
	}
	return nil
}

func (m *mapper) validateTagField(path string) error {
	if err := validateFieldPath(path); err != nil {
		return err
	}
	f := m.tree.resolve(path)
	if f == nil {
		return errors.New("is not declared")
	}
	switch scalar, _ := f.scalarType(); {
	case !f.Indexed:
		return errors.New("must be indexed")
	case scalar == "u64" || scalar == "i64" || scalar == "text" && f.Tokenizer == "raw":
		return nil
	case scalar == "text":
		return fmt.Errorf("is a text field with the tokenizer %s; only raw is allowed", strictjson.Quote(f.Tokenizer))
	default:
		return fmt.Errorf("is of type %s; only u64, i64 and text are allowed", f.Type)
	}
}

// validateSearchFields checks that each field can be searched. In dynamic mode a
// field that is not declared is one of the dynamic mapping.
func (m *mapper) validateSearchFields(paths []string) error {
	seen := make(map[string]bool, len(paths))
	for i, path := range paths {
		if seen[path] {
			return at(i, fmt.Errorf("the field %s is given twice", strictjson.Quote(path)))
		}
		seen[path] = true
		f := m.tree.resolveSearched(path, m.Dynamic)
		if f == nil {
			return at(i, fmt.Errorf("the field %s is not declared", strictjson.Quote(path)))
		}
		if !f.Indexed {
			return at(i, fmt.Errorf("the field %s is not indexed", strictjson.Quote(path)))
		}
	}
	return nil
}

func validateFieldPath(path string) error {
	if strings.HasPrefix(path, ".") || strings.HasPrefix(path, `\.`) {
		return fmt.Errorf("%s must not begin with a dot", strictjson.Quote(path))
	}
	if strings.HasSuffix(path, ".") {
		return fmt.Errorf("%s must not end with a dot", strictjson.Quote(path))
	}
	return nil
}

func at(position int, err error) error {
	return strictjson.Within(fmt.Sprintf("[%d]", position), err)
}
