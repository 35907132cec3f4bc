package strictjson

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxQuoted = 64  // bytes of a document's text that one message repeats
	maxPath   = 240 // bytes of a path in a message
	maxReason = 400 // bytes of a reason in a message
)

// Error says where in a document a value is wrong and what is wrong with it.
// Its text is one line, however long or deep the document is.
type Error struct {
	// Path leads to the value: keys joined by dots, list positions in
	// brackets, as in "index_config.doc_mapping.field_mappings[2].type".
	// Empty when the document has no name and is wrong as a whole.
	Path string
	// Reason says what is wrong with the value.
	Reason string

	cause error
}

func (e *Error) Error() string {
	reason := clip(e.Reason, maxReason)
	if e.Path == "" {
		return reason
	}
	return clipMiddle(e.Path, maxPath) + ": " + reason
}

// Unwrap returns the error that the reader of the value returned.
func (e *Error) Unwrap() error { return e.cause }

// Within says that err concerns the value found under segment: a key, or a
// list position in brackets. It returns nil when err is nil.
func Within(segment string, err error) error {
	if err == nil {
		return nil
	}
	var inner *Error
	if !errors.As(err, &inner) {
		return &Error{Path: segment, Reason: oneLine(err.Error()), cause: err}
	}
	path := segment
	if inner.Path != "" && inner.Path[0] != '[' {
		path += "."
	}
	return &Error{Path: path + inner.Path, Reason: inner.Reason, cause: inner.cause}
}

// Quote returns text in quotes for an error message: on one line, and cut to
// its beginning when it is long.
func Quote(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	return strconv.Quote(clip(text, maxQuoted)) + fmt.Sprintf(" (%d bytes)", len(text))
}

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

func clipMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	tail := len(text) - limit/2
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return clip(text, limit/2) + text[tail:]
}

func oneLine(text string) string {
	if !strings.ContainsAny(text, "\r\n") {
		return text
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
}

// syntaxError words an error of the tokenizer.
func syntaxError(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("not valid JSON: the text ends too early")
	case errors.As(err, &syntactic):
		return fmt.Errorf("not valid JSON at byte %d: %w", syntactic.ByteOffset, syntactic.Err)
	default:
		return fmt.Errorf("not valid JSON: %w", err)
	}
}
