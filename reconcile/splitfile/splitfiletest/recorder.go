package splitfiletest

import (
	"bytes"
	"context"
	"sync"

	"holdfast/reconcile/splitfile"
)

// Recorder is a RangeReader that remembers the ranges which it was asked for. It is safe for
// concurrent use.
type Recorder struct {
	Reader splitfile.RangeReader
	// Before is called before each read with its position, from 0, and its range. An error is the
	// answer of the read; it may also exchange Reader.
	Before func(read int, offset, length int64) error

	mu     sync.Mutex
	ranges []splitfile.Span
}

var _ splitfile.RangeReader = (*Recorder)(nil)

// Record returns a Recorder of a file in memory.
func Record(file []byte) *Recorder { return &Recorder{Reader: Memory(file)} }

// Memory returns a RangeReader of a file in memory.
func Memory(file []byte) splitfile.RangeReader {
	return splitfile.ReaderAt{Reader: bytes.NewReader(file), Size: int64(len(file))}
}

// ReadRange implements splitfile.RangeReader.
func (r *Recorder) ReadRange(ctx context.Context, offset, length int64) (splitfile.Range, error) {
	r.mu.Lock()
	read := len(r.ranges)
	r.ranges = append(r.ranges, splitfile.Span{Start: offset, End: offset + length})
	r.mu.Unlock()
	if r.Before != nil {
		if err := r.Before(read, offset, length); err != nil {
			return splitfile.Range{}, err
		}
	}
	return r.Reader.ReadRange(ctx, offset, length)
}

// Ranges returns the ranges in the order of the reads.
func (r *Recorder) Ranges() []splitfile.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]splitfile.Span(nil), r.ranges...)
}

// Versioned gives the answers of a reader a version.
type Versioned struct {
	Reader  splitfile.RangeReader
	Version string
}

// ReadRange implements splitfile.RangeReader.
func (v Versioned) ReadRange(ctx context.Context, offset, length int64) (splitfile.Range, error) {
	answer, err := v.Reader.ReadRange(ctx, offset, length)
	answer.Version = v.Version
	return answer, err
}

// Fixed is a RangeReader that answers every read with the same range.
type Fixed splitfile.Range

// ReadRange implements splitfile.RangeReader.
func (f Fixed) ReadRange(context.Context, int64, int64) (splitfile.Range, error) {
	return splitfile.Range(f), nil
}
