package partition

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"holdfast/reconcile/splitfile/segment"
)

// Document is the JSON of a document as it was indexed.
type Document = segment.Object

// ErrNotExact says that a document is stored in a way that does not tell its JSON exactly.
var ErrNotExact = errors.New("the stored document does not tell its partition exactly")

// Of returns the partition of a document. It fails with ErrNotExact.
func (k Key) Of(doc Document) (uint64, error) {
	if k.root == nil {
		return 0, nil
	}
	text, err := k.root.appendValue(k.root.appendTree(nil), doc)
	if err != nil {
		return 0, err
	}
	return sipHash(text), nil
}

// path is a field in an object, in an object, ...
type path []string

func (p path) appendTree(to []byte) []byte {
	to = binary.LittleEndian.AppendUint64(append(to, 0), uint64(len(p)))
	return append(to, strings.Join(p, ".")...)
}

func (p path) appendValue(to []byte, doc Document) ([]byte, error) {
	to = append(to, 0)
	var value segment.Value = doc
	for _, name := range p {
		object, _ := value.(segment.Object)
		i := slices.IndexFunc(object, func(m segment.Member) bool { return m.Key == name })
		if i < 0 {
			return append(to, 0), nil
		}
		value = object[i].Value
	}
	return appendJSON(append(to, 1), value)
}

// list is two expressions or more.
type list []expression

func (l list) appendTree(to []byte) []byte {
	to = append(to, 1)
	for _, member := range l {
		to = member.appendTree(to)
	}
	return to
}

func (l list) appendValue(to []byte, doc Document) ([]byte, error) {
	to = append(to, 1)
	var err error
	for _, member := range l {
		if to, err = member.appendValue(to, doc); err != nil {
			return nil, err
		}
	}
	return to, nil
}

type hashMod struct {
	inner   expression
	modulus uint64
}

func (h hashMod) appendTree(to []byte) []byte {
	return binary.LittleEndian.AppendUint64(h.inner.appendTree(append(to, 2)), h.modulus)
}

func (h hashMod) appendValue(to []byte, doc Document) ([]byte, error) {
	text, err := h.inner.appendValue(nil, doc)
	if err != nil {
		return nil, err
	}
	if h.modulus == 0 {
		return nil, fmt.Errorf("%w: the key divides by 0", ErrNotExact)
	}
	return binary.LittleEndian.AppendUint64(append(to, 2), sipHash(text)%h.modulus), nil
}

func appendJSON(to []byte, value segment.Value) ([]byte, error) {
	var err error
	switch v := value.(type) {
	case nil:
		return append(to, 0), nil
	case bool:
		if v {
			return append(to, 1, 1), nil
		}
		return append(to, 1, 0), nil
	case uint64:
		return binary.LittleEndian.AppendUint64(append(to, 2), v), nil
	case int64:
		return binary.LittleEndian.AppendUint64(append(to, 2), uint64(v)), nil
	case float64:
		if v == 0 {
			v = 0 // not the negative one
		}
		return binary.LittleEndian.AppendUint64(append(to, 2), math.Float64bits(v)), nil
	case string:
		return appendText(append(to, 3), v), nil
	case []segment.Value:
		to = binary.LittleEndian.AppendUint64(append(to, 4), uint64(len(v)))
		for _, item := range v {
			if to, err = appendJSON(to, item); err != nil {
				return nil, err
			}
		}
		return to, nil
	case segment.Object:
		to = binary.LittleEndian.AppendUint64(append(to, 5), uint64(len(v)))
		sorted := slices.SortedFunc(slices.Values(v), func(a, b segment.Member) int { return cmp.Compare(a.Key, b.Key) })
		for _, m := range sorted {
			if to, err = appendJSON(appendText(to, m.Key), m.Value); err != nil {
				return nil, err
			}
		}
		return to, nil
	default:
		// A date or an address was a text whose spelling is not known any more.
		return nil, ErrNotExact
	}
}

func appendText(to []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint64(to, uint64(len(text))), text...)
}

// sipHash is SipHash-2-4 with a key of zeroes.
func sipHash(data []byte) uint64 {
	v0, v1, v2, v3 := uint64(0x736f6d6570736575), uint64(0x646f72616e646f6d), uint64(0x6c7967656e657261), uint64(0x7465646279746573)
	round := func() {
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	last := uint64(len(data)) << 56
	for ; len(data) >= 8; data = data[8:] {
		m := binary.LittleEndian.Uint64(data)
		v3 ^= m
		round()
		round()
		v0 ^= m
	}
	for i, b := range data {
		last |= uint64(b) << (8 * i)
	}
	v3 ^= last
	round()
	round()
	v0 ^= last
	v2 ^= 0xFF
	for range 4 {
		round()
	}
	return v0 ^ v1 ^ v2 ^ v3
}
