package segmenttest

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"

	"holdfast/reconcile/splitfile/segment"
)

// EncodeDocument returns the raw bytes of a document of a store of that version.
func EncodeDocument(storeVersion uint32, values ...segment.FieldValue) []byte {
	doc := AppendVint(nil, uint64(len(values)))
	for _, v := range values {
		doc = appendValue(binary.LittleEndian.AppendUint32(doc, v.Field), v.Value, storeVersion)
	}
	return doc
}

// Text returns the raw bytes of a document with one text in field 0.
func Text(text string) []byte { return EncodeDocument(2, segment.FieldValue{Value: text}) }

func appendValue(to []byte, value segment.Value, version uint32) []byte {
	text := func(kind byte, s string) []byte { return append(AppendVint(append(to, kind), uint64(len(s))), s...) }
	number := func(kind byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(append(to, kind), n) }
	switch v := value.(type) {
	case string:
		return text(0, v)
	case uint64:
		return number(1, v)
	case int64:
		return number(2, uint64(v))
	case segment.Facet:
		return text(3, string(v))
	case []byte:
		return text(4, string(v))
	case time.Time:
		if version == 1 {
			return number(5, uint64(v.UnixMicro()))
		}
		return number(5, uint64(v.UnixNano()))
	case float64:
		if b := math.Float64bits(v); b>>63 == 0 {
			return number(6, b^1<<63)
		} else {
			return number(6, ^b)
		}
	case bool:
		if v {
			return append(to, 9, 1)
		}
		return append(to, 9, 0)
	case netip.Addr:
		to = append(to, 10)
		big := v.As16()
		for i := 15; i >= 0; i-- {
			to = append(to, big[i])
		}
		return to
	case nil:
		return append(to, 11)
	case []segment.Value:
		to = AppendVint(append(to, 12), uint64(len(v)))
		for _, item := range v {
			to = appendValue(to, item, version)
		}
		return to
	case segment.Object:
		to = AppendVint(append(to, 13), uint64(2*len(v)))
		for _, m := range v {
			to = appendValue(appendValue(to, m.Key, version), m.Value, version)
		}
		return to
	default:
		panic(fmt.Sprintf("segmenttest: a value of type %T", value))
	}
}
