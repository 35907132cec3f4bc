package splitfiletest

import (
	"io"
)

// Sparse is a file with a hotcache of zeroes that takes no memory, however long it is.
type Sparse struct {
	head, tail []byte
	gap        int64
}

var _ io.ReaderAt = (*Sparse)(nil)

// Sparse returns the file with a hotcache of HotcacheSize zeroes.
func (f *File) Sparse() *Sparse {
	head, tail := f.parts()
	return &Sparse{head: head, tail: tail, gap: int64(f.hotcacheSize())}
}

// NewSparse returns a file of any content around zeroes.
func NewSparse(head []byte, zeroes int64, tail []byte) *Sparse {
	return &Sparse{head: head, gap: zeroes, tail: tail}
}

// Size returns the length of the file in bytes.
func (s *Sparse) Size() int64 { return int64(len(s.head)) + s.gap + int64(len(s.tail)) }

// ReadAt implements io.ReaderAt.
func (s *Sparse) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= s.Size() {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), s.Size()-offset))
	clear(p[:n])
	overlay(p[:n], offset, s.head, 0)
	overlay(p[:n], offset, s.tail, s.Size()-int64(len(s.tail)))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// overlay copies the part of data, which is at position at, that lies in p, which is at offset.
func overlay(p []byte, offset int64, data []byte, at int64) {
	from, to := max(offset, at), min(offset+int64(len(p)), at+int64(len(data)))
	if from < to {
		copy(p[from-offset:], data[from-at:to-at])
	}
}
