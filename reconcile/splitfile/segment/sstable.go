package segment

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// sstable is a sorted table of keys with values:
//
//	blocks   each: u32 length, u8 flag, payload of length-1 bytes; a length of at most 1 ends them
//	index    not needed to read them in order
//
// The flag is 1 if the payload is a zstd frame. A payload has the values of the block, in a form that
// depends on the table, and then the keys up to its end: one byte, whose low 4 bits say how many bytes
// the key shares with the one before it, and whose high 4 bits how many it adds, or, if the byte is 1,
// leb shared, leb added; then the added bytes.
type sstable struct {
	field  string
	data   []byte
	offset int64 // of data in the object
	// limit is the cap on the bytes of a block when decompressed, and of a key.
	limit int64
	// values reads the values of a block.
	values func(c *cursor) []byteRange
}

// byteRange is a value of a dictionary of columns: where the column is in the body.
type byteRange struct{ start, end uint64 }

// each calls visit for each key in order; the key is valid until visit returns. The value is zero where
// the table's values are not ranges.
func (t *sstable) each(visit func(key []byte, value byteRange) error) error {
	blocks := &cursor{field: t.field, start: t.offset, data: t.data}
	for blocks.left() > 0 {
		length := blocks.u32()
		if blocks.err != nil || length <= 1 {
			break
		}
		at := blocks.at()
		payload, err := t.payload(blocks.take(uint64(length)), at)
		if err == nil && blocks.err == nil {
			err = t.block(payload, at, visit)
		}
		if err != nil {
			return err
		}
	}
	return blocks.err
}

func (t *sstable) payload(block []byte, at int64) ([]byte, error) {
	if len(block) == 0 {
		return nil, nil // the cursor has failed
	}
	switch flag, payload := block[0], block[1:]; flag {
	case 0:
		return payload, nil
	case 1:
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(t.limit)))
		if err != nil {
			return nil, err
		}
		defer decoder.Close()
		plain, err := decoder.DecodeAll(payload, nil)
		if err != nil {
			return nil, fault(t.field+" block", at, "", "cannot be decompressed: %.200s", err.Error())
		}
		return plain, nil
	default:
		return nil, fault(t.field+" block flag", at, number(flag), "is neither 0 nor 1")
	}
}

func (t *sstable) block(payload []byte, at int64, visit func(key []byte, value byteRange) error) error {
	c := &cursor{field: t.field + " block", start: at, data: payload}
	values := t.values(c)
	var key []byte
	for i := 0; c.err == nil && c.left() > 0; i++ {
		head := c.u8()
		shared, added := uint64(head&15), uint64(head>>4)
		if head == 1 {
			shared, added = c.leb(), c.leb()
		}
		if shared > uint64(len(key)) {
			c.fail(number(shared), "bytes are shared with a key of %d", len(key))
		}
		more := c.take(added)
		if c.err != nil {
			break
		}
		key = append(key[:shared], more...)
		var value byteRange
		if i < len(values) {
			value = values[i]
		}
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return c.err
}

// errEnough ends the reading of a table early.
var errEnough = errors.New("enough")

// rangeValues: leb n, and if n is not 0, leb start, and n-1 times leb length, of ranges one after the other.
func rangeValues(c *cursor) []byteRange {
	n := c.leb()
	if n == 0 || c.err != nil {
		return nil
	}
	if n > uint64(c.left()) {
		c.fail(number(n), "values are more than the block has room for")
		return nil
	}
	start := c.leb()
	var ranges []byteRange
	for range n - 1 {
		length := c.leb()
		if start+length < start {
			c.fail(number(length), "bytes are too many for a range at %d", start)
		}
		if c.err != nil {
			return nil
		}
		ranges = append(ranges, byteRange{start, start + length})
		start += length
	}
	return ranges
}

// termValues passes over the values of terms: vint n, 2 vints, 3 vints for each.
func termValues(c *cursor) []byteRange {
	n := c.vint()
	if n > uint64(c.left()) {
		c.fail(number(n), "values are more than the block has room for")
	}
	for range 2 {
		c.vint()
	}
	for ; n > 0 && c.err == nil; n-- {
		for range 3 {
			c.vint()
		}
	}
	return nil
}
