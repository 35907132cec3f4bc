package splitfile

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// fetcher reads ranges of one object, keeps what it has read, and makes sure that every answer is
// about the same object.
type fetcher struct {
	ctx      context.Context
	reader   RangeReader
	splitID  string
	size     int64 // of the object, negative as long as it is unknown
	version  string
	answered bool // whether version is known
	segments []segment
	reads    int
	bytes    int64
}

// segment is a part of the object that was read.
type segment struct {
	start int64
	data  []byte
}

func (s *segment) end() int64 { return s.start + int64(len(s.data)) }

// get returns the bytes [start, end), which must lie within the object. If some were not read yet,
// one read takes them and what lies between from and start.
func (f *fetcher) get(start, end, from int64) ([]byte, error) {
	if start == end {
		// A range request cannot say "nothing".
		return nil, nil
	}
	missing := end
	var rest []byte // what is there of the range's end
	for i := range f.segments {
		s := &f.segments[i]
		if s.start <= start && s.end() >= end {
			return s.data[start-s.start : end-s.start], nil
		}
		if s.start > start && s.start < missing && s.end() >= end {
			missing, rest = s.start, s.data[:end-s.start]
		}
	}
	from = max(0, min(from, start))
	data, err := f.read(from, missing)
	if err != nil {
		return nil, err
	}
	// A reader may hand out a part of a buffer that it goes on using.
	data = append(slices.Clip(data), rest...)
	f.segments = append(f.segments, segment{start: from, data: data})
	return data[start-from:], nil
}

// read reads [start, end) with one request. As long as the size is unknown the range may reach beyond
// the end of the object.
func (f *fetcher) read(start, end int64) ([]byte, error) {
	failed := func(err error) error {
		return &ReadError{SplitID: f.splitID, Offset: start, Length: end - start, Err: err}
	}
	f.reads++
	answer, err := f.reader.ReadRange(f.ctx, start, end-start)
	if err != nil {
		return nil, failed(err)
	}
	f.bytes += int64(len(answer.Data))
	if answer.Size < 0 {
		return nil, failed(fmt.Errorf("the storage answers with the object size %d", answer.Size))
	}
	if f.size < 0 {
		f.size = answer.Size
	}
	if f.size != answer.Size || f.answered && f.version != answer.Version {
		return nil, &ChangedError{
			SplitID: f.splitID, Size: f.size, NewSize: answer.Size, Version: f.version, NewVersion: answer.Version,
		}
	}
	f.version, f.answered = answer.Version, true
	switch want := available(start, end-start, f.size); {
	case int64(len(answer.Data)) < want:
		return nil, failed(io.ErrUnexpectedEOF)
	case int64(len(answer.Data)) > want:
		return nil, failed(fmt.Errorf("the storage answers with %d bytes", len(answer.Data)))
	}
	return answer.Data, nil
}

// tail reads the last bytes of the object, first its first ones if the size is unknown.
func (f *fetcher) tail(size int64) error {
	if f.size < 0 {
		data, err := f.read(0, size)
		if err != nil {
			return err
		}
		f.segments = append(f.segments, segment{data: data})
	}
	start := max(0, f.size-size)
	_, err := f.get(start, f.size, start)
	return err
}
