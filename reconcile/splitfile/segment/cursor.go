package segment

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"holdfast/reconcile/splitfile"
)

// fault is a FormatError without the file's name.
func fault(field string, offset int64, value, problem string, args ...any) *splitfile.FormatError {
	if len(args) > 0 {
		problem = fmt.Sprintf(problem, args...)
	}
	return &splitfile.FormatError{Field: field, Offset: offset, Value: value, Problem: problem}
}

func number[T ~int | ~int64 | ~uint8 | ~uint32 | ~uint64](n T) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

// cursor reads a part of a file from its beginning. The first fault stays; everything read behind it
// is zero.
type cursor struct {
	field string // what is read, for faults
	start int64  // offset of data in the object
	data  []byte
	pos   int
	err   error
}

func (c *cursor) at() int64 { return c.start + int64(c.pos) }

func (c *cursor) left() int { return len(c.data) - c.pos }

func (c *cursor) fail(value, problem string, args ...any) {
	if c.err == nil {
		c.err = fault(c.field, c.at(), value, problem, args...)
	}
}

// take returns the next n bytes, nil if they are not there.
func (c *cursor) take(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.left()) {
		c.fail("", "ends within %d bytes that should follow", n)
		return nil
	}
	taken := c.data[c.pos : c.pos+int(n) : c.pos+int(n)]
	c.pos += int(n)
	return taken
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// vint reads 7 bits a byte, low bits first; the highest bit ends the number.
func (c *cursor) vint() uint64 { return c.variable(0x80) }

// leb reads 7 bits a byte, low bits first; the highest bit continues the number.
func (c *cursor) leb() uint64 { return c.variable(0) }

// variable reads a number whose last byte has last in its highest bit.
func (c *cursor) variable(last byte) uint64 {
	var value uint64
	from := c.pos
	for shift := 0; ; shift += 7 {
		if c.err != nil {
			return 0
		}
		if c.pos == len(c.data) {
			c.fail("", "ends within a number")
			return 0
		}
		b := c.data[c.pos]
		if shift == 63 && b&0x7E != 0 || shift > 63 {
			c.pos = from
			c.fail("", "has a number of more than 64 bits")
			return 0
		}
		c.pos++
		value |= uint64(b&0x7F) << shift
		if b&0x80 == last {
			return value
		}
	}
}
