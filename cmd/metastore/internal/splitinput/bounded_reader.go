package splitinput

import (
	"fmt"
	"io"
)

// boundedReader fails when more is read for one value than was allowed, so that an input without
// an end of its value cannot fill the memory.
type boundedReader struct {
	from  io.Reader
	limit int
	left  int
}

// allow begins a new value. The decoder reads ahead, so what it holds already does not count.
func (b *boundedReader) allow(limit int) {
	b.limit = limit
	b.left = limit
}

// Read implements io.Reader.
func (b *boundedReader) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a value has more than %d bytes", b.limit)
	}
	n, err := b.from.Read(into[:min(len(into), b.left)])
	b.left -= n
	return n, err
}
