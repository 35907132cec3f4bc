package reconcile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader reads the lines of a file that are not blank.
type lineReader struct {
	from  *bufio.Reader
	limit int
	lines int // that were returned
}

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// next returns the next line, valid until the next call, or io.EOF.
func (r *lineReader) next() ([]byte, error) {
	for {
		var line []byte
		for {
			part, err := r.from.ReadSlice('\n')
			if len(line)+len(part) > r.limit {
				return nil, fmt.Errorf("a line has more than %d bytes", r.limit)
			}
			if line == nil && err == nil {
				line = part
				break
			}
			line = append(line[:len(line):len(line)], part...)
			if err == nil || errors.Is(err, io.EOF) {
				if len(line) == 0 {
					return nil, io.EOF
				}
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, err
			}
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.lines++
			return line, nil
		}
	}
}
