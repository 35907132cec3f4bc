package strictjson

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer writes compact JSON as the peer writes it: no white space, keys in the
// order of the calls, only quotes, backslashes and control characters escaped.
// The caller opens and closes arrays and objects in pairs; the Writer puts the
// commas. The zero value writes to a new buffer.
type Writer struct {
	out   []byte
	comma bool // the next value or key is preceded by another one
}

// AppendTo returns a Writer that appends to dst.
func AppendTo(dst []byte) *Writer { return &Writer{out: dst} }

// Bytes returns everything written so far, after what dst held before.
func (w *Writer) Bytes() []byte { return w.out }

// Begin opens an object or array: '{' or '['.
func (w *Writer) Begin(bracket byte) *Writer {
	w.separate()
	w.out = append(w.out, bracket)
	w.comma = false
	return w
}

// End closes an object or array: '}' or ']'.
func (w *Writer) End(bracket byte) *Writer {
	w.out = append(w.out, bracket)
	w.comma = true
	return w
}

// Key writes a key; its value must follow.
func (w *Writer) Key(key string) *Writer {
	w.separate()
	w.out = AppendString(w.out, key)
	w.out = append(w.out, ':')
	w.comma = false
	return w
}

// String writes a string.
func (w *Writer) String(text string) *Writer {
	w.separate()
	w.out = AppendString(w.out, text)
	return w
}

// Strings writes an array of strings.
func (w *Writer) Strings(texts []string) *Writer {
	w.Begin('[')
	for _, text := range texts {
		w.String(text)
	}
	return w.End(']')
}

// OptionalString writes a string, or null for nil.
func (w *Writer) OptionalString(text *string) *Writer {
	if text == nil {
		return w.Null()
	}
	return w.String(*text)
}

// Uint64 writes an integer.
func (w *Writer) Uint64(n uint64) *Writer {
	w.separate()
	w.out = strconv.AppendUint(w.out, n, 10)
	return w
}

// Int64 writes an integer.
func (w *Writer) Int64(n int64) *Writer {
	w.separate()
	w.out = strconv.AppendInt(w.out, n, 10)
	return w
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) *Writer {
	w.separate()
	w.out = strconv.AppendBool(w.out, b)
	return w
}

// Null writes null.
func (w *Writer) Null() *Writer { return w.Raw([]byte("null")) }

// Raw writes text that is JSON already, as it is.
func (w *Writer) Raw(json []byte) *Writer {
	w.separate()
	w.out = append(w.out, json...)
	return w
}

func (w *Writer) separate() {
	if w.comma {
		w.out = append(w.out, ',')
	}
	w.comma = true
}

// AppendString appends text as a JSON string with the escapes that the peer
// writes: the short ones where they exist, \u00xx for other control characters,
// anything else raw. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, text string) []byte {
	quoted, _ := jsontext.AppendQuote(dst, text) // the error is about what was replaced
	return quoted
}

// AppendStrings appends a JSON array of strings, [] when there are none.
func AppendStrings(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, text)
	}
	return append(dst, ']')
}

// AppendCompact appends json, which must be valid, without the white space
// between its tokens. Numbers and strings stay as they are spelled.
func AppendCompact(dst, json []byte) []byte {
	for i := 0; i < len(json); i++ {
		switch c := json[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			start := i
			for i++; json[i] != '"'; i++ {
				if json[i] == '\\' {
					i++
				}
			}
			dst = append(dst, json[start:i+1]...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
