package segment

import (
	"context"
	"encoding/binary"
	"math/bits"
	"time"

	"holdfast/metastore"
)

const (
	columnsFooterSize = 20
	columnsMagic      = 0x42777102 // 02 71 77 42 on disk
	dateColumn        = 7
	// columnHead is what is read of a column's values: more than a codec and four numbers take.
	columnHead = 64
)

// Times is what the column of a date field says about the documents that the segment holds.
type Times struct {
	// Found is false if no document has the field.
	Found bool
	// Min and Max are in nanoseconds since 1970.
	Min, Max int64
}

// Range returns the range in seconds, both ends truncated toward zero as an indexer does it.
func (t Times) Range() metastore.TimeRange {
	const second = int64(time.Second)
	return metastore.TimeRange{Start: t.Min / second, End: t.Max / second}
}

// Times reads the smallest and the greatest value of a date field from the head of its column.
//
// The body of the file .fast ends with a dictionary of columns, an sstable whose keys are the field's
// name, a zero and the type, and whose values are ranges of the body, and with 20 bytes: u64 length of the
// dictionary, u32 rows, u32 version 1 or 2, 02 71 77 42. A column is an index of the documents that have
// values, the values, u32 length of the index. Values start with u8 codec, vint minimum, vint divisor,
// vint (maximum - minimum) / divisor, vint count; dates are nanoseconds plus 2^63.
//
// plausible is false if the numbers can only be meant as microseconds, as early releases may have
// written them.
func (s *Segment) Times(ctx context.Context, field string) (times Times, plausible bool, err error) {
	part, err := s.component(ctx, ".fast")
	if err != nil {
		return Times{}, false, err
	}
	column, found, err := s.findColumn(ctx, part, field)
	if err == nil && found {
		times, err = readTimes(ctx, part, column)
	}
	if err != nil {
		return Times{}, false, s.named(err)
	}
	return times, times.Plausible(part.version), nil
}

// Plausible says whether the numbers can be nanoseconds: the first releases may hold microseconds, and recent times look like the first days of 1970 then.
func (t Times) Plausible(formatVersion uint32) bool {
	const in1975, in2100 = 5 * 365 * 24 * int64(time.Hour), 130 * 365 * 24 * int64(time.Hour)
	return !t.Found || formatVersion > minFormatVersion || t.Min >= in1975 ||
		t.Min < in1975/1000 || t.Max > in2100/1000
}

// findColumn looks a column up in the dictionary.
func (s *Segment) findColumn(ctx context.Context, part *component, field string) (column byteRange, found bool, err error) {
	if part.length() < columnsFooterSize {
		return byteRange{}, false, fault("columns footer", part.start, number(part.length()), "bytes are too few for columns")
	}
	footerAt := part.end - columnsFooterSize
	footer, err := part.read(ctx, footerAt, part.end)
	if err != nil {
		return byteRange{}, false, err
	}
	if m := binary.LittleEndian.Uint32(footer[16:]); m != columnsMagic {
		return byteRange{}, false, fault("columns magic", footerAt+16, number(m), "is not %d", columnsMagic)
	}
	if v := binary.LittleEndian.Uint32(footer[12:]); v != 1 && v != 2 {
		return byteRange{}, false, fault("columns version", footerAt+12, number(v), "is neither 1 nor 2")
	}
	length := binary.LittleEndian.Uint64(footer)
	if length > uint64(part.length()-columnsFooterSize) || length > uint64(s.limits.Dictionary) {
		return byteRange{}, false, fault("columns dictionary length", footerAt, number(length), "is more than the file has, or than the %d bytes that are allowed", s.limits.Dictionary)
	}
	at := footerAt - int64(length)
	data, err := part.read(ctx, at, footerAt)
	if err != nil {
		return byteRange{}, false, err
	}
	table := &sstable{field: "columns dictionary", data: data, offset: at, limit: s.limits.Dictionary, values: rangeValues}
	wanted := field + "\x00" + string(rune(dateColumn))
	err = table.each(func(key []byte, value byteRange) error {
		if string(key) == wanted {
			column, found = value, true
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		err = nil
	}
	if err == nil && found && (column.end > uint64(at-part.start) || column.end-column.start < 4) {
		err = fault("columns dictionary", at, number(column.end), "is the end of a column outside of the file, or too short")
	}
	return column, found, err
}

func readTimes(ctx context.Context, part *component, column byteRange) (Times, error) {
	start, end := part.start+int64(column.start), part.start+int64(column.end)-4
	last, err := part.read(ctx, end, end+4)
	if err != nil {
		return Times{}, err
	}
	index := int64(binary.LittleEndian.Uint32(last))
	if index > end-start {
		return Times{}, fault("column index length", end, number(index), "is more than the %d bytes of the column", end-start)
	}
	at := start + index
	head, err := part.read(ctx, at, min(end, at+columnHead))
	if err != nil {
		return Times{}, err
	}
	c := &cursor{field: "column", start: at, data: head}
	if codec := c.u8(); codec > 2 {
		c.fail(number(codec), "is not a known codec")
	}
	lowest, divisor, steps, count := c.vint(), c.vint(), c.vint(), c.vint()
	high, span := bits.Mul64(divisor, steps)
	greatest, carry := bits.Add64(lowest, span, 0)
	if high != 0 || carry != 0 {
		c.fail("", "has values of more than 64 bits")
	}
	if c.err != nil {
		return Times{}, c.err
	}
	return Times{Found: count > 0, Min: int64(lowest ^ 1<<63), Max: int64(greatest ^ 1<<63)}, nil
}
