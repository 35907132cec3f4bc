// Package splitinput reads the splits that a person or a program wants to stage, from a JSON array,
// from JSON lines, from a single object, or from the metastore.json of an index. It holds one split
// in memory at a time.
package splitinput

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxSplitSize bounds the text of one split, in bytes; real ones have less than two thousand.
	MaxSplitSize = 1 << 20
	// maxOtherSize bounds one value of a metastore.json that is no split, such as its index, in bytes.
	maxOtherSize = 256 << 20
)

// Form is the form of an input, known once the first split was read or the end was reached.
type Form string

// The forms of input.
const (
	Unknown       Form = ""
	Array         Form = "JSON array"
	Lines         Form = "JSON lines"
	MetastoreFile Form = "metastore.json"
)

// Item is one split of the input.
type Item struct {
	// Number counts the splits of the input from 1.
	Number int
	// Document is the metadata document: compact JSON without the keys that only a row of a metastore
	// has. It belongs to the caller.
	Document []byte
	// State is the state that the input gives the row, empty if it says nothing.
	State string
}

// Reader reads splits. Make one with NewReader.
type Reader struct {
	bounded *boundedReader
	decoder *jsontext.Decoder
	name    string
	form    Form
	count   int
	next    func() ([]byte, error)
	failed  error
}

// NewReader returns a reader of splits. The name of the input appears in errors.
func NewReader(from io.Reader, name string) *Reader {
	r := &Reader{bounded: &boundedReader{from: from}, name: name}
	r.decoder = jsontext.NewDecoder(r.bounded)
	r.next = r.first
	return r
}

// Form returns the form of the input.
func (r *Reader) Form() Form { return r.form }

// Next returns the next split, or io.EOF behind the last one. Any other error says where in the
// input the problem is; every later call gives the same error.
func (r *Reader) Next() (Item, error) {
	if r.failed != nil {
		return Item{}, r.failed
	}
	item, err := r.read()
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.locate(err)
	}
	r.failed = err
	return item, err
}

func (r *Reader) read() (Item, error) {
	text, err := r.next()
	if err != nil {
		return Item{}, err
	}
	r.count++
	document, state, err := documentOf(text)
	if err != nil {
		return Item{}, fmt.Errorf("split %d: %w", r.count, err)
	}
	return Item{Number: r.count, Document: document, State: state}, nil
}

// errTruncated replaces io.EOF inside of a value.
var errTruncated = errors.New("the JSON text is cut off")

// locate adds the name of the input and the byte offset.
func (r *Reader) locate(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w after byte %d", r.name, errTruncated, r.decoder.InputOffset())
	case errors.As(err, &syntax):
		place := ""
		if syntax.JSONPointer != "" {
			place = fmt.Sprintf(" (%.100s)", syntax.JSONPointer)
		}
		return fmt.Errorf("%s: byte %d%s is no JSON: %w", r.name, syntax.ByteOffset, place, syntax.Err)
	default:
		return fmt.Errorf("%s: before byte %d: %w", r.name, r.decoder.InputOffset(), err)
	}
}

// first looks at the beginning of the input to find its form.
func (r *Reader) first() ([]byte, error) {
	switch kind, err := r.peek(); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the input is empty; expected a JSON array of splits, one split in a line, or a metastore.json")
	case err != nil:
		return nil, err
	case kind == '[':
		r.form = Array
		if _, err := r.decoder.ReadToken(); err != nil {
			return nil, err
		}
		r.next = r.element
		return r.element()
	case kind == '{':
		r.next = r.firstObject
		return r.firstObject()
	default:
		return nil, errors.New("the input must begin with \"[\" or \"{\": a JSON array of splits, one split in a line, or a metastore.json")
	}
}

// peek returns the kind of the next token. It gives a new value its own budget.
func (r *Reader) peek() (jsontext.Kind, error) {
	r.bounded.allow(MaxSplitSize)
	kind := r.decoder.PeekKind()
	if kind != 0 {
		return kind, nil
	}
	// PeekKind keeps its error for the next read.
	_, err := r.decoder.ReadToken()
	if err == nil {
		err = errTruncated
	}
	return 0, err
}

// element returns the next element of an array of splits.
func (r *Reader) element() ([]byte, error) {
	kind, err := r.peek()
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	if kind != ']' {
		return r.object(kind)
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, unexpectedEnd(err)
	}
	if r.form == MetastoreFile {
		return nil, r.restOfFile()
	}
	return nil, r.end("the array")
}

// object reads one value that has to be an object.
func (r *Reader) object(kind jsontext.Kind) ([]byte, error) {
	if kind != '{' {
		return nil, fmt.Errorf("split %d is a JSON %s, must be an object", r.count+1, kindName(kind))
	}
	value, err := r.decoder.ReadValue()
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	return value, nil
}

// line returns the next object of JSON lines.
func (r *Reader) line() ([]byte, error) {
	kind, err := r.peek()
	if err != nil {
		return nil, err // io.EOF is the regular end here
	}
	return r.object(kind)
}

// end demands that nothing follows.
func (r *Reader) end(what string) error {
	switch _, err := r.peek(); {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return err
	default:
		return fmt.Errorf("unexpected data behind the end of %s", what)
	}
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case '[':
		return "array"
	case '"':
		return "string"
	case '0':
		return "number"
	case 't', 'f':
		return "boolean"
	default:
		return "null"
	}
}
