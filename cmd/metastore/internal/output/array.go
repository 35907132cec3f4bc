package output

import (
	"bufio"
	"io"
)

// Array writes a JSON array element by element, each on its own line. Nothing is written before the
// first element or Close, so that a command that fails early leaves its output empty.
type Array struct {
	to    *bufio.Writer
	begun bool
}

// NewArray returns an empty array.
func NewArray(to io.Writer) *Array { return &Array{to: bufio.NewWriterSize(to, 1<<16)} }

// Element adds one JSON value, which must be compact.
func (a *Array) Element(value []byte) error {
	separator := ",\n"
	if !a.begun {
		separator = "[\n"
		a.begun = true
	}
	if _, err := a.to.WriteString(separator); err != nil {
		return err
	}
	_, err := a.to.Write(value)
	return err
}

// Close ends the array. Without a call of Close what was written is no JSON value, and a reader
// cannot take it for the whole.
func (a *Array) Close() error {
	end := "\n]\n"
	if !a.begun {
		end = "[]\n"
	}
	if _, err := a.to.WriteString(end); err != nil {
		return err
	}
	return a.to.Flush()
}

// WriteArray writes the documents of the items, which are compact JSON, as an array.
func WriteArray[T interface{ AppendJSON(dst []byte) []byte }](to io.Writer, items []T) error {
	array := NewArray(to)
	for _, item := range items {
		if err := array.Element(item.AppendJSON(nil)); err != nil {
			return err
		}
	}
	return array.Close()
}

// Abort writes what there is without ending the array.
func (a *Array) Abort() error { return a.to.Flush() }
