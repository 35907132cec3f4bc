package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value that keeps the order of keys and the text of numbers.
type value struct {
	kind    jsontext.Kind // null, true, false, string, number, object or array
	text    string        // of a string, or the literal of a number
	items   []value       // of an array
	members []member      // of an object, in their order
}

type member struct {
	key   string
	value value
}

func stringValue(text string) value { return value{kind: '"', text: text} }

// parseValue reads exactly one JSON value.
func parseValue(text []byte) (value, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	v, err := readValue(decoder)
	if err != nil {
		return value{}, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return value{}, fmt.Errorf("text after the JSON value at byte %d", decoder.InputOffset())
	}
	return v, nil
}

func readValue(decoder *jsontext.Decoder) (value, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return value{}, err
	}
	v := value{kind: token.Kind()}
	switch v.kind {
	case '"', '0':
		v.text = token.String()
	case '[':
		for decoder.PeekKind() != ']' {
			item, err := readValue(decoder)
			if err != nil {
				return value{}, err
			}
			v.items = append(v.items, item)
		}
		_, err = decoder.ReadToken()
	case '{':
		for decoder.PeekKind() != '}' {
			key, err := decoder.ReadToken()
			if err != nil {
				return value{}, err
			}
			name := key.String()
			item, err := readValue(decoder)
			if err != nil {
				return value{}, err
			}
			v.members = append(v.members, member{name, item})
		}
		_, err = decoder.ReadToken()
	}
	return v, err
}

// get returns the member of that key.
func (v value) get(key string) (value, bool) {
	for _, m := range v.members {
		if m.key == key {
			return m.value, true
		}
	}
	return value{}, false
}

// only returns the member of that key if there is no other.
func (v value) only(key string) (value, bool) {
	if v.kind != '{' || len(v.members) != 1 || v.members[0].key != key {
		return value{}, false
	}
	return v.members[0].value, true
}

// append appends the compact JSON text.
func (v value) append(dst []byte) []byte {
	switch v.kind {
	case '"':
		quoted, err := jsontext.AppendQuote(dst, v.text)
		if err != nil {
			panic("replay: quote a string that was read from JSON: " + err.Error())
		}
		return quoted
	case '0':
		return append(dst, v.text...)
	case '[':
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.append(dst)
		}
		return append(dst, ']')
	case '{':
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(stringValue(m.key).append(dst), ':')
			dst = m.value.append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, v.kind.String()...)
}

func (v value) String() string { return string(v.append(nil)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(text []byte) (err error) {
	*v, err = parseValue(text)
	return err
}
