package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Object reads an object of declared keys. field is called for each declared
// key that is present, with its Name even where the document spells the alias,
// and must read the value.
func (r *Reader) Object(keys Keys, unknown Unknown, field func(key string) error) error {
	var seen uint64
	next := 0
	err := r.entries(func(name []byte) error {
		i := keys.find(name, next)
		if i < 0 {
			switch unknown {
			case Ignore:
				return r.Skip()
			case Pass:
				key := string(name)
				return Within(clip(key, maxQuoted), field(key))
			default:
				return keys.unknown(name)
			}
		}
		if seen&(1<<i) != 0 {
			return Within(keys[i].Name, errDuplicate)
		}
		seen |= 1 << i
		next = i + 1
		return Within(keys[i].Name, field(keys[i].Name))
	})
	if err != nil {
		return err
	}
	return keys.missing(seen)
}

// Map reads an object of free keys. entry is called for each in the order of
// the text, a repeated key again, and must read the value.
func (r *Reader) Map(entry func(key string) error) error {
	return r.entries(func(name []byte) error {
		key := string(name)
		return Within("["+Quote(key)+"]", entry(key))
	})
}

func (r *Reader) entries(entry func(name []byte) error) error {
	if err := r.open(jsontext.KindBeginObject); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndObject {
		quoted, err := r.dec.ReadValue()
		if err != nil {
			return syntaxError(err)
		}
		name, err := unquote(quoted)
		if err != nil {
			return err
		}
		if err := entry(name); err != nil {
			return err
		}
	}
	return r.close()
}

// Array reads an array. element is called for each position, counted from 0,
// and must read the value.
func (r *Reader) Array(element func(i int) error) error {
	if err := r.open(jsontext.KindBeginArray); err != nil {
		return err
	}
	for i := 0; r.dec.PeekKind() != jsontext.KindEndArray; i++ {
		if err := element(i); err != nil {
			return Within("["+strconv.Itoa(i)+"]", err)
		}
	}
	return r.close()
}

// List reads an array whose elements read reads. The list is never nil.
func List[T any](r *Reader, into *[]T, read func(*T) error) error {
	list := []T{}
	err := r.Array(func(int) error {
		var element T
		if err := read(&element); err != nil {
			return err
		}
		list = append(list, element)
		return nil
	})
	*into = list
	return err
}

// Optional reads a value that may be null, which gives nil.
func Optional[T any](r *Reader, into **T, read func(*T) error) error {
	*into = nil
	if r.IsNull() {
		return r.Skip()
	}
	value := new(T)
	if err := read(value); err != nil {
		return err
	}
	*into = value
	return nil
}

// Tagged reads an object whose shape depends on the string under the key tag,
// wherever in the object that key is. It looks ahead for the tag and calls read
// with it, which must read the object; the tag key is still in it.
func (r *Reader) Tagged(tag string, read func(value string) error) error {
	if got := r.dec.PeekKind(); got != jsontext.KindBeginObject {
		return r.mismatch(got, kindName(jsontext.KindBeginObject))
	}
	var value string
	ahead := newReader(bytes.TrimLeft(r.text[r.dec.InputOffset():], " \t\r\n,:"))
	err := ahead.entries(func(name []byte) error {
		if string(name) != tag {
			return ahead.Skip()
		}
		if err := ahead.String(&value); err != nil {
			return Within(tag, err)
		}
		return errTagFound
	})
	if errors.Is(err, errTagFound) {
		return read(value)
	}
	// A syntax error met ahead is reported at its place in the document.
	if syntaxErr := r.Skip(); syntaxErr != nil {
		return syntaxErr
	}
	if err == nil {
		err = missingKey(tag)
	}
	return err
}

// errTagFound ends the search for a tag.
var errTagFound = errors.New("tag found")

func (r *Reader) open(kind jsontext.Kind) error {
	if got := r.dec.PeekKind(); got != kind {
		return r.mismatch(got, kindName(kind))
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return syntaxError(err)
	}
	if r.dec.StackDepth() > MaxDepth {
		return r.tooDeep()
	}
	return nil
}

func (r *Reader) close() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return syntaxError(err)
	}
	return nil
}

func unquote(quoted []byte) ([]byte, error) {
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' {
			text, err := jsontext.AppendUnquote(nil, quoted)
			if err != nil {
				return nil, fmt.Errorf("not valid JSON: %w", err)
			}
			return text, nil
		}
	}
	return inner, nil
}
