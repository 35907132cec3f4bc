package splitfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// RangeReader reads parts of one object.
type RangeReader interface {
	// ReadRange reads length bytes at offset, fewer only if the object ends before. offset is not
	// negative and length is positive. An object that is not there is an error that wraps
	// fs.ErrNotExist.
	ReadRange(ctx context.Context, offset, length int64) (Range, error)
}

// Range is the answer of one range read.
type Range struct {
	Data []byte
	// Size is the length of the whole object at the time of the read.
	Size int64
	// Version differs when the object was replaced, as an ETag, a generation or a time does. Empty if
	// the storage does not tell.
	Version string
}

// ReaderAt is a RangeReader of Size bytes in memory or in a file.
type ReaderAt struct {
	Reader io.ReaderAt
	Size   int64
}

var _ RangeReader = ReaderAt{}

// ReadRange implements RangeReader.
func (r ReaderAt) ReadRange(ctx context.Context, offset, length int64) (Range, error) {
	if err := ctx.Err(); err != nil {
		return Range{}, err
	}
	data := make([]byte, available(offset, length, r.Size))
	n, err := r.Reader.ReadAt(data, offset)
	if n < len(data) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Range{}, err
	}
	return Range{Data: data, Size: r.Size}, nil
}

// LocalFile is a RangeReader of a file of the local file system. It must be closed.
type LocalFile struct {
	file *os.File
}

var _ RangeReader = (*LocalFile)(nil)

// OpenLocalFile opens a regular file; anything else, a directory or a pipe, is an error.
func OpenLocalFile(path string) (*LocalFile, error) {
	// A pipe must be found out before opening it, which would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a regular file")}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &LocalFile{file: file}, nil
}

// ReadRange implements RangeReader.
func (f *LocalFile) ReadRange(ctx context.Context, offset, length int64) (Range, error) {
	info, err := f.file.Stat()
	if err != nil {
		return Range{}, err
	}
	answer, err := ReaderAt{Reader: f.file, Size: info.Size()}.ReadRange(ctx, offset, length)
	if err != nil {
		return Range{}, fmt.Errorf("read %s: %w", f.file.Name(), err)
	}
	answer.Version = strconv.FormatInt(info.ModTime().UnixNano(), 10)
	return answer, nil
}

// Close closes the file.
func (f *LocalFile) Close() error { return f.file.Close() }

// available returns how much of a range lies within size bytes.
func available(offset, length, size int64) int64 {
	return max(0, min(length, size-offset))
}
