package segment

import (
	"encoding/binary"
	"math"
	"net/netip"
	"time"
)

// Value is a stored value of a field: nil, string, uint64, int64, float64, bool, []byte, time.Time,
// netip.Addr, Facet, []Value or Object.
type Value any

// Facet is a path of a facet field.
type Facet string

// Object is a JSON object in the order in which it is stored.
type Object []Member

// Member is an entry of an object.
type Member struct {
	Key   string
	Value Value
}

// FieldValue is one value of a document. Fields with several values occur several times.
type FieldValue struct {
	Field uint32 // id in the schema
	Value Value
}

// maxValueDepth is how deeply values may be nested.
const maxValueDepth = 128

// maxValues is the cap on the values of one document, those in arrays and objects included.
const maxValues = 1 << 20

// DecodeDocument decodes the raw bytes of a document of a store of that version:
//
//	vint       number of values
//	each       u32 field id, u8 type, payload
//
// Only stored fields are there. offset counts from the start of the document in errors.
func DecodeDocument(doc []byte, storeVersion uint32) ([]FieldValue, error) {
	d := documentReader{cursor: cursor{field: "stored document", data: doc}, microseconds: storeVersion == 1}
	count := d.vint()
	if count > uint64(d.left())/5 { // a value has five bytes at least
		d.fail(number(count), "values are more than the document has room for")
	}
	var values []FieldValue
	for ; count > 0 && d.err == nil; count-- {
		field := d.u32()
		values = append(values, FieldValue{Field: field, Value: d.value(0)})
	}
	if d.err == nil && d.left() > 0 {
		d.fail("", "goes on for %d bytes behind its last value", d.left())
	}
	if d.err != nil {
		return nil, d.err
	}
	return values, nil
}

type documentReader struct {
	cursor
	microseconds bool
	values       int
}

func (d *documentReader) value(depth int) Value {
	if depth > maxValueDepth {
		d.fail("", "is nested more than %d deep", maxValueDepth)
		return nil
	}
	if d.values++; d.values > maxValues {
		d.fail("", "has more than the %d values that are allowed", maxValues)
		return nil
	}
	switch kind := d.u8(); kind {
	case 0:
		return d.text()
	case 3:
		return Facet(d.text())
	case 1:
		return d.u64()
	case 2:
		return int64(d.u64())
	case 4:
		return append([]byte{}, d.take(d.vint())...)
	case 5:
		return d.date()
	case 6:
		return sortableFloat(d.u64())
	case 9:
		return d.u8() != 0
	case 10:
		return d.address()
	case 11:
		return nil
	case 12:
		return d.array(depth)
	case 13:
		return d.object(depth)
	default:
		d.fail(number(kind), "is not a known type of a value")
		return nil
	}
}

func (d *documentReader) text() string { return string(d.take(d.vint())) }

func (d *documentReader) date() time.Time {
	n := int64(d.u64())
	if d.microseconds {
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// sortableFloat undoes the mapping of floats to integers of the same order.
func sortableFloat(u uint64) float64 {
	if u>>63 != 0 {
		return math.Float64frombits(u ^ 1<<63)
	}
	return math.Float64frombits(^u)
}

// address reads the IPv6 form of an address as a little-endian number.
func (d *documentReader) address() netip.Addr {
	little := d.take(16)
	if little == nil {
		return netip.Addr{}
	}
	var big [16]byte
	binary.BigEndian.PutUint64(big[:], binary.LittleEndian.Uint64(little[8:]))
	binary.BigEndian.PutUint64(big[8:], binary.LittleEndian.Uint64(little))
	return netip.AddrFrom16(big).Unmap()
}

func (d *documentReader) array(depth int) []Value {
	count := d.vint()
	if count > uint64(d.left()) {
		d.fail(number(count), "values of an array are more than the document has room for")
	}
	values := []Value{}
	for ; count > 0 && d.err == nil; count-- {
		values = append(values, d.value(depth+1))
	}
	return values
}

func (d *documentReader) object(depth int) Object {
	count := d.vint()
	if count%2 != 0 || count > uint64(d.left()) {
		d.fail(number(count), "is not twice a number of entries that the document has room for")
	}
	object := Object{}
	for ; count > 0 && d.err == nil; count -= 2 {
		key, ok := d.value(depth + 1).(string)
		if !ok {
			d.fail("", "has an object whose key is no text")
		}
		object = append(object, Member{Key: key, Value: d.value(depth + 1)})
	}
	return object
}
