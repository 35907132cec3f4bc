package strictjson

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many arrays and objects may be open at once.
const MaxDepth = 127

// Reader reads the values of one document in the order of its text. Each
// method reads exactly one value. Texts it hands out alias the document, which
// must not be changed while the Reader or those texts are in use.
type Reader struct {
	text   []byte
	source bytes.Buffer
	dec    jsontext.Decoder
}

// Decode reads text with read, which must consume exactly one value, and
// checks that nothing follows it. name begins the path of every error; it may
// be empty.
func Decode(name string, text []byte, read func(*Reader) error) error {
	err := decode(text, read)
	if name == "" {
		return err
	}
	return Within(name, err)
}

func decode(text []byte, read func(*Reader) error) error {
	r := newReader(text)
	if r.dec.PeekKind() == jsontext.KindInvalid && len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return errors.New("the text is empty; a JSON document is required")
	}
	if err := read(r); err != nil {
		return err
	}
	return r.end()
}

func newReader(text []byte) *Reader {
	r := &Reader{text: text, source: *bytes.NewBuffer(text)}
	r.dec.Reset(&r.source, jsontext.AllowDuplicateNames(true))
	return r
}

func (r *Reader) end() error {
	rest := r.text[r.dec.InputOffset():]
	if trimmed := bytes.TrimLeft(rest, " \t\r\n"); len(trimmed) > 0 {
		return fmt.Errorf("text after the end of the document at byte %d", len(r.text)-len(trimmed))
	}
	return nil
}

// IsNull reports whether the next value is null. It does not consume it.
func (r *Reader) IsNull() bool { return r.dec.PeekKind() == jsontext.KindNull }

// Kind returns the kind of the next value without consuming it.
func (r *Reader) Kind() jsontext.Kind { return r.dec.PeekKind() }

// Skip consumes one value of any kind.
func (r *Reader) Skip() error {
	var ignored []byte
	return r.Raw(&ignored)
}

// Raw reads one value of any kind as the text of the document has it, white
// space inside it included. The text is valid JSON and aliases the document.
func (r *Reader) Raw(into *[]byte) error {
	value, err := r.dec.ReadValue()
	if err != nil {
		return syntaxError(err)
	}
	allowed := MaxDepth - r.dec.StackDepth()
	if isDeeper(value, allowed) {
		return r.tooDeep()
	}
	*into = value
	return nil
}

// isDeeper reports whether more than allowed arrays and objects are open at once
// in a value. Few values have that many, so counting comes first: it is fast.
func isDeeper(value []byte, allowed int) bool {
	if bytes.Count(value, []byte("["))+bytes.Count(value, []byte("{")) <= allowed {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > allowed {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

func (r *Reader) tooDeep() error {
	return fmt.Errorf("nested too deeply before byte %d: at most %d arrays and objects may be open at once", r.dec.InputOffset(), MaxDepth)
}

// scalar reads a value that must be of the given kind.
func (r *Reader) scalar(kind jsontext.Kind) ([]byte, error) {
	if got := r.dec.PeekKind(); got != kind {
		return nil, r.mismatch(got, kindName(kind))
	}
	value, err := r.dec.ReadValue()
	if err != nil {
		return nil, syntaxError(err)
	}
	return value, nil
}

// mismatch says that the next value, of kind got, is not what is wanted.
func (r *Reader) mismatch(got jsontext.Kind, wanted string) error {
	if got == jsontext.KindInvalid {
		if err := r.Skip(); err != nil { // the error that the peek met
			return err
		}
	}
	return fmt.Errorf("must be %s, not %s", wanted, kindName(got))
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	default:
		return "the end of an array or object"
	}
}
