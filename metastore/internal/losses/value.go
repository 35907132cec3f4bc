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

// parser parses values. It is used for one after the other.
type parser struct {
	source bytes.Buffer
	dec    jsontext.Decoder
	text   string // that is parsed, which values alias
	// names and values are those of the objects and arrays that are not complete yet, innermost last.
	names  []string
	values []value
}

func (p *parser) parse(text []byte) (value, error) {
	p.text = string(text)
	p.names, p.values = p.names[:0], p.values[:0]
	p.source = *bytes.NewBuffer(text)
	p.dec.Reset(&p.source, jsontext.AllowDuplicateNames(true))
	return p.value()
}

func (p *parser) value() (value, error) {
	v := value{kind: p.dec.PeekKind()}
	if !v.isObject() && !v.isArray() {
		text, err := p.scalar()
		v.text = text
		return v, err
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return value{}, err
	}
	firstName, firstValue := len(p.names), len(p.values)
	for p.dec.PeekKind() != jsontext.KindEndObject && p.dec.PeekKind() != jsontext.KindEndArray {
		if v.isObject() {
			name, err := p.scalar()
			if err != nil {
				return value{}, err
			}
			p.names = append(p.names, name)
		}
		inner, err := p.value()
		if err != nil {
			return value{}, err
		}
		p.values = append(p.values, inner)
	}
	v.names, v.list = slices.Clone(p.names[firstName:]), slices.Clone(p.values[firstValue:])
	p.names, p.values = p.names[:firstName], p.values[:firstValue]
	_, err := p.dec.ReadToken()
	return v, err
}

// scalar reads a scalar or a name.
func (p *parser) scalar() (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	end := int(p.dec.InputOffset())
	text := p.text[end-len(raw) : end]
	if raw.Kind() != jsontext.KindString {
		return text, nil
	}
	if !strings.Contains(text, `\`) {
		return text[1 : len(text)-1], nil
	}
	unquoted, err := jsontext.AppendUnquote(nil, text)
	return string(unquoted), err
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
