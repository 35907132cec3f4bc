package indexconfig

import "strings"

// splitFieldPath splits a path of field names at its dots. A backslash before a
// dot makes the dot part of a name.
func splitFieldPath(path string) []string {
	var names []string
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path) && path[i+1] == '.':
			name.WriteByte('.')
			i++
		case path[i] == '.':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(path[i])
		}
	}
	return append(names, name.String())
}

// fieldTree finds declared fields by name, level by level.
type fieldTree map[string]fieldNode

type fieldNode struct {
	field *FieldMapping
	inner fieldTree // of an object
}

func newFieldTree(fields []FieldMapping) fieldTree {
	tree := make(fieldTree, len(fields))
	for i := range fields {
		node := fieldNode{field: &fields[i]}
		if node.field.Type == "object" {
			node.inner = newFieldTree(node.field.Fields)
		}
		tree[node.field.Name] = node
	}
	return tree
}

// walk follows a path through objects to the first field that is not an object,
// and returns it with the names that are left; nil when there is none.
func (t fieldTree) walk(path string) (*FieldMapping, []string) {
	names := splitFieldPath(path)
	for i, name := range names {
		node, found := t[name]
		if !found {
			return nil, nil
		}
		if node.inner == nil {
			return node.field, names[i+1:]
		}
		t = node.inner
	}
	return nil, nil
}

// resolve returns the field at a path, nil when there is none. An object is not
// a field.
func (t fieldTree) resolve(path string) *FieldMapping {
	f, rest := t.walk(path)
	if len(rest) > 0 {
		return nil
	}
	return f
}

// resolveSearched is resolve for a field to be searched: a path may go on inside
// a json field, and leads to the dynamic mapping when nothing is declared there.
func (t fieldTree) resolveSearched(path string, dynamic *FieldMapping) *FieldMapping {
	f, rest := t.walk(path)
	if f != nil {
		if scalar, _ := f.scalarType(); len(rest) == 0 || scalar == "json" {
			return f
		}
	}
	return dynamic
}
