package segment

import (
	"context"
	"encoding/binary"
	"encoding/json"

	"holdfast/reconcile/splitfile"
)

// magic ends each file of a segment but meta.json.
const magic = 1337

// Format versions of segments that are understood: those of the releases 0.5 to 0.9 of the peer.
const (
	minFormatVersion = 5
	maxFormatVersion = 7
)

// component is one file of the segment: its body, and what the envelope says about it.
type component struct {
	file      *splitfile.File
	name      string
	start     int64 // offset of the body in the object
	end       int64 // behind the body
	checksum  uint32
	version   uint32 // format version
	tail      []byte // the last bytes of the bundled file, which the first read took
	tailStart int64
}

// component reads the end of a file of the segment.
func (s *Segment) component(ctx context.Context, extension string) (*component, error) {
	name := s.Meta.SegmentID + extension
	entry, ok := s.file.Entry(name)
	if !ok {
		return nil, s.named(fault(fileField(name), s.file.Layout.FooterStart, "", "is missing"))
	}
	c := &component{file: s.file, name: name, start: entry.Start, tailStart: max(entry.Start, entry.End-tailSize)}
	var err error
	if c.tail, err = s.file.ReadRange(ctx, c.tailStart, entry.End); err != nil {
		return nil, err
	}
	if err := c.open(entry.End); err != nil {
		return nil, s.named(err)
	}
	return c, nil
}

// open reads the envelope. end is the end of the bundled file.
func (c *component) open(end int64) error {
	field := fileField(c.name)
	if len(c.tail) < 8 {
		return fault(field, c.start, number(len(c.tail)), "bytes are too few for a file of a segment")
	}
	last := c.tail[len(c.tail)-8:]
	if m := binary.LittleEndian.Uint32(last[4:]); m != magic {
		return fault(field+" magic", end-4, number(m), "is not %d", magic)
	}
	length := binary.LittleEndian.Uint32(last)
	if length > maxEnvelope || int64(length) > int64(len(c.tail)-8) {
		return fault(field+" envelope length", end-8, number(length), "is more than the file has, or than the %d bytes that are allowed", maxEnvelope)
	}
	text := c.tail[len(c.tail)-8-int(length) : len(c.tail)-8]
	c.end = end - 8 - int64(length)
	var envelope struct {
		Version struct {
			Format *uint32 `json:"index_format_version"`
		} `json:"version"`
		Checksum *uint32 `json:"crc"`
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return fault(field+" envelope", c.end, "", "is not the JSON of an envelope: %.200s", err.Error())
	}
	if envelope.Version.Format == nil || envelope.Checksum == nil {
		return fault(field+" envelope", c.end, "", "lacks the version or the checksum")
	}
	c.version, c.checksum = *envelope.Version.Format, *envelope.Checksum
	if c.version < minFormatVersion || c.version > maxFormatVersion {
		return fault(field+" index_format_version", c.end, number(c.version), "is not one of %d to %d", minFormatVersion, maxFormatVersion)
	}
	return nil
}

// read returns the bytes [start, end) of the object, which lie in the body.
func (c *component) read(ctx context.Context, start, end int64) ([]byte, error) {
	if start >= c.tailStart {
		return c.tail[start-c.tailStart : end-c.tailStart], nil
	}
	return c.file.ReadRange(ctx, start, end)
}

// length is the number of bytes of the body.
func (c *component) length() int64 { return c.end - c.start }

func fileField(name string) string { return `files["` + name + `"]` }
