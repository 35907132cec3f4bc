package segment

import (
	"context"
	"encoding/binary"
	"math"

	"holdfast/reconcile/splitfile"
)

// termsFooterSize is what of a field's dictionary says how long it is and how many terms it has.
const termsFooterSize = 24

// termsKind is the kind of dictionary that is understood: an sstable.
const termsKind = 2

// Terms are the dictionaries of the fields' terms. The body of the file .term has the dictionaries one
// after the other, then a list of them, vint count, and each vint increment of the offset, u32 field id,
// vint 0; then u32 length of the list. A dictionary is an sstable, then u64 offset of its index, u64 number of
// terms, u32 version of the sstable, u32 kind of the dictionary.
type Terms struct {
	segment *Segment
	part    *component
	places  map[uint32]splitfile.Span // of the dictionaries by field id
	counts  map[uint32]uint64
}

// Terms opens the dictionaries: it reads the list of them.
func (s *Segment) Terms(ctx context.Context) (*Terms, error) {
	part, err := s.component(ctx, ".term")
	if err != nil {
		return nil, err
	}
	t := &Terms{segment: s, part: part, places: map[uint32]splitfile.Span{}, counts: map[uint32]uint64{}}
	if err := t.open(ctx); err != nil {
		return nil, s.named(err)
	}
	return t, nil
}

func (t *Terms) open(ctx context.Context) error {
	part := t.part
	if part.length() < 4 {
		return fault("terms list length", part.start, number(part.length()), "bytes are too few for dictionaries")
	}
	last, err := part.read(ctx, part.end-4, part.end)
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(last))
	if length > part.length()-4 || length > t.segment.limits.Dictionary {
		return fault("terms list length", part.end-4, number(length), "is more than the file has, or than the %d bytes that are allowed", t.segment.limits.Dictionary)
	}
	at := part.end - 4 - length
	data, err := part.read(ctx, at, part.end-4)
	if err != nil {
		return err
	}
	c := &cursor{field: "terms list", start: at, data: data}
	count := c.vint()
	if count > uint64(len(t.segment.Meta.Fields)) {
		c.fail(number(count), "dictionaries are more than the schema has fields")
	}
	offset, area := uint64(0), uint64(at-part.start)
	previous, first := uint32(0), true
	for ; count > 0 && c.err == nil; count-- {
		more := c.vint()
		field := c.u32()
		kind := c.vint()
		_, again := t.places[field]
		switch {
		case c.err != nil:
		case more > area-offset:
			c.fail(number(more), "leads out of the file")
		case uint64(field) >= uint64(len(t.segment.Meta.Fields)) || again:
			c.fail(number(field), "is not a field of the schema, or repeated")
		case kind != 0:
			c.fail(number(kind), "is not 0")
		default:
			offset += more
			begin := part.start + int64(offset)
			if !first {
				place := t.places[previous]
				place.End = begin
				t.places[previous] = place
			}
			t.places[field] = splitfile.Span{Start: begin, End: at}
			previous, first = field, false
		}
	}
	if c.err == nil && c.left() > 0 {
		c.fail("", "goes on behind its last entry")
	}
	return c.err
}

// count returns how many terms a field has; found is false if it has no dictionary.
func (t *Terms) count(ctx context.Context, field uint32) (count uint64, found bool, err error) {
	place, found := t.places[field]
	if !found {
		return 0, false, nil
	}
	if n, known := t.counts[field]; known {
		return n, true, nil
	}
	if place.Len() < termsFooterSize {
		return 0, true, fault("terms footer", place.Start, number(place.Len()), "bytes are too few for a dictionary")
	}
	footer, err := t.part.read(ctx, place.End-termsFooterSize, place.End)
	if err != nil {
		return 0, true, err
	}
	at := place.End - termsFooterSize
	if kind := binary.LittleEndian.Uint32(footer[20:]); kind != termsKind {
		return 0, true, fault("terms dictionary kind", at+20, number(kind), "is not %d", termsKind)
	}
	if version := binary.LittleEndian.Uint32(footer[16:]); version != 2 && version != 3 {
		return 0, true, fault("terms dictionary version", at+16, number(version), "is neither 2 nor 3")
	}
	if index := binary.LittleEndian.Uint64(footer); index > uint64(place.Len()-termsFooterSize) {
		return 0, true, fault("terms index offset", at, number(index), "is more than the dictionary has")
	}
	n := binary.LittleEndian.Uint64(footer[8:])
	if n > math.MaxInt64 {
		return 0, true, fault("terms", at+8, number(n), "are too many")
	}
	t.counts[field] = n
	return n, true, nil
}

// each calls visit with the terms of a field that has a dictionary.
func (t *Terms) each(ctx context.Context, field uint32, visit func(term []byte) error) error {
	place := t.places[field]
	footer, err := t.part.read(ctx, place.End-termsFooterSize, place.End)
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint64(footer)) // count has checked it
	if length > t.segment.limits.Dictionary {
		return fault("terms index offset", place.End-termsFooterSize, number(length), "is more than the %d bytes that are allowed", t.segment.limits.Dictionary)
	}
	data, err := t.part.read(ctx, place.Start, place.Start+length)
	if err != nil {
		return err
	}
	table := &sstable{field: "terms", data: data, offset: place.Start, limit: t.segment.limits.Dictionary, values: termValues}
	return table.each(func(key []byte, _ byteRange) error { return visit(key) })
}

// Origin is whether a segment came from an indexer or from a merge or a rewrite.
type Origin uint8

// The origins. An indexer makes dictionaries for fields that have terms, a merge or a rewrite for every
// indexed field.
const (
	// Undecided: every indexed field has terms.
	Undecided Origin = iota
	// Indexed: some indexed field has no dictionary.
	Indexed
	// Merged: some indexed field has a dictionary without terms.
	Merged
)

// Origin tells how the segment was made. Fields without terms are rare but for the one that says which
// fields a document has, which is nearly always without: it is looked at first.
func (t *Terms) Origin(ctx context.Context) (Origin, error) {
	fields := t.segment.Meta.Fields
	for id := range fields {
		if _, found := t.places[uint32(id)]; fields[id].Indexed && !found {
			return Indexed, nil
		}
	}
	for id := range fields {
		if !fields[id].Indexed {
			continue
		}
		n, _, err := t.count(ctx, uint32(id))
		if err != nil {
			return Undecided, t.segment.named(err)
		}
		if n == 0 {
			return Merged, nil
		}
	}
	return Undecided, nil
}
