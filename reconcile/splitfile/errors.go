package splitfile

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrLegacy says that a split file has no recovery entry: it was written by release 0.9 of the peer or
// an older one. Its parents are unknown, which is not the same as none.
var ErrLegacy = errors.New("the split file has no recovery entry (legacy)")

// FormatError says what is wrong with the content of a split file that was read.
type FormatError struct {
	SplitID string // the id that the name of the object gives
	Field   string // "hotcache length", `files["meta.json"].end`, "num_docs", ...
	Offset  int64  // where the field is in the object; where it should be if it is absent
	Value   string // as text, cut when long; empty if the field is absent
	Problem string
}

// Error implements error.
func (e *FormatError) Error() string {
	value := ""
	if e.Value != "" {
		value = " " + e.Value
	}
	return fmt.Sprintf("split file %s: %s%s at offset %d %s", clip(e.SplitID), e.Field, value, e.Offset, e.Problem)
}

// ReadError says that a part of a split file could not be read. It is no evidence about the content of
// the file, nor that the file is absent: not even fs.ErrNotExist, which it wraps when the storage says
// so, tells more than that the object is not there now.
type ReadError struct {
	SplitID        string
	Offset, Length int64
	Err            error
}

// Error implements error.
func (e *ReadError) Error() string {
	return fmt.Sprintf("split file %s: reading %d bytes at offset %d: %v", clip(e.SplitID), e.Length, e.Offset, e.Err)
}

// Unwrap returns the failure of the storage.
func (e *ReadError) Unwrap() error { return e.Err }

// ChangedError says that a split file was replaced or cut while it was read, or since it was listed.
type ChangedError struct {
	SplitID             string
	Size, NewSize       int64 // bytes, as expected and as answered
	Version, NewVersion string
}

// Error implements error.
func (e *ChangedError) Error() string {
	what := fmt.Sprintf("its size was %d bytes and is %d", e.Size, e.NewSize)
	if e.Size == e.NewSize {
		what = fmt.Sprintf("its version was %s and is %s", clip(e.Version), clip(e.NewVersion))
	}
	return fmt.Sprintf("split file %s changed while it was read: %s", clip(e.SplitID), what)
}

// fault is a FormatError about a field with a value.
func fault(field string, offset int64, value, problem string, args ...any) *FormatError {
	if len(args) > 0 {
		problem = fmt.Sprintf(problem, args...)
	}
	return &FormatError{Field: field, Offset: offset, Value: value, Problem: problem}
}

func number[T int64 | uint32 | uint64](n T) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

// clip quotes text for an error message and cuts it when it is long.
func clip[T string | []byte](text T) string {
	const limit = 100
	if len(text) > limit {
		return fmt.Sprintf("%q... (%d bytes)", string(text[:limit]), len(text))
	}
	return strconv.Quote(string(text))
}
