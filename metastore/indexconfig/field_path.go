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

// resolve returns the declared field at a path, nil when there is none. An
// object is not a field.
func (m *DocMapping) resolve(path string) *FieldMapping {
	f, rest := m.walk(splitFieldPath(path))
	if f == nil || len(rest) > 0 {
		return nil
	}
	return f
}

// resolveSearched is resolve for a field to be searched: a path may go on inside
// a json field, and leads to the dynamic mapping when nothing is declared there.
func (m *DocMapping) resolveSearched(path string) *FieldMapping {
	f, rest := m.walk(splitFieldPath(path))
	if f != nil {
		if scalar, _ := f.scalarType(); len(rest) == 0 || scalar == "json" {
			return f
		}
	}
	return m.Dynamic
}

// walk follows names through objects to the first field that is not an object,
// and returns it with the names that are left.
func (m *DocMapping) walk(names []string) (*FieldMapping, []string) {
	fields := m.Fields
	for i, name := range names {
		f := fieldNamed(fields, name)
		if f == nil {
			return nil, nil
		}
		if f.Type != "object" {
			return f, names[i+1:]
		}
		fields = f.Fields
	}
	return nil, nil
}

func fieldNamed(fields []FieldMapping, name string) *FieldMapping {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}
