package losses

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value. It aliases the text that it was parsed from.
type value struct {
	kind jsontext.Kind
	// text is that of a string, without quotes and escapes, or that of another scalar as it is spelled.
	text string
	// names are those of the members of an object, in their order, repeated ones too.
	names []string
	// list holds the members of an object or the elements of an array.
	list []value
}

func parse(text []byte) (value, error) {
	return read(jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)))
}

func read(d *jsontext.Decoder) (value, error) {
	token, err := d.ReadToken()
	if err != nil {
		return value{}, err
	}
	v := value{kind: token.Kind()}
	switch v.kind {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
	default:
		v.text = token.String()
		return v, nil
	}
	for d.PeekKind() != jsontext.KindEndObject && d.PeekKind() != jsontext.KindEndArray {
		if v.kind == jsontext.KindBeginObject {
			name, err := d.ReadToken()
			if err != nil {
				return value{}, err
			}
			v.names = append(v.names, name.String())
		}
		inner, err := read(d)
		if err != nil {
			return value{}, err
		}
		v.list = append(v.list, inner)
	}
	_, err = d.ReadToken()
	return v, err
}

func (v *value) isNull() bool   { return v.kind == jsontext.KindNull }
func (v *value) isString() bool { return v.kind == jsontext.KindString }
func (v *value) isObject() bool { return v.kind == jsontext.KindBeginObject }
func (v *value) isArray() bool  { return v.kind == jsontext.KindBeginArray }

// isEmpty reports whether it is null, false, 0, or holds nothing.
func (v *value) isEmpty() bool {
	switch v.kind {
	case jsontext.KindNull, jsontext.KindFalse:
		return true
	case jsontext.KindNumber:
		return v.text == "0"
	case jsontext.KindString:
		return v.text == ""
	case jsontext.KindTrue:
		return false
	}
	return len(v.list) == 0
}

// member returns the last member of that name, nil if there is none.
func (v *value) member(name string) *value {
	for i := len(v.names) - 1; i >= 0; i-- {
		if v.names[i] == name {
			return &v.list[i]
		}
	}
	return nil
}

// sameScalar reports whether two scalars are the same. Numbers that are no integers may be spelled differently.
func sameScalar(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	if a.text == b.text || a.kind != jsontext.KindNumber || !isFloat(a.text) || !isFloat(b.text) {
		return a.text == b.text
	}
	x, err1 := strconv.ParseFloat(a.text, 64)
	y, err2 := strconv.ParseFloat(b.text, 64)
	return err1 == nil && err2 == nil && x == y
}

// same reports whether two values are the same, the order of members included.
func same(a, b *value) bool {
	if !sameScalar(a, b) || !slices.Equal(a.names, b.names) || len(a.list) != len(b.list) {
		return false
	}
	for i := range a.list {
		if !same(&a.list[i], &b.list[i]) {
			return false
		}
	}
	return true
}

// isFloat reports whether the peer reads a number as one of floating point.
func isFloat(number string) bool {
	return number == "-0" || strings.ContainsAny(number, ".eE")
}
