package segment_test

import (
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// everyValue has a value of every type.
func everyValue() []segment.Value {
	return []segment.Value{
		nil, "", "text", uint64(1<<64 - 1), int64(-1 << 63), int64(7), 0.0, -1.5, math.Inf(-1), 1e300, true, false, []byte{0, 255},
		time.Unix(-5, 500).UTC(), netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("2001:db8::1"), segment.Facet("a\x00b"),
		[]segment.Value{[]segment.Value{}, []segment.Value{uint64(1), nil}},
		segment.Object{{Key: "b", Value: segment.Object{}}, {Key: "a", Value: []segment.Value{segment.Object{{Key: "c", Value: -2.5}}}}},
	}
}

func TestEveryTypeOfValueIsDecoded(t *testing.T) {
	t.Parallel()
	for _, value := range everyValue() {
		want := []segment.FieldValue{{Field: 1 << 31, Value: value}, {Field: 2, Value: "next"}}
		got, err := segment.DecodeDocument(segmenttest.EncodeDocument(2, want...), 2)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestDatesOfTheFirstStoreVersionAreInMicroseconds(t *testing.T) {
	t.Parallel()
	at := time.UnixMicro(-1_500_001).UTC()
	got, err := segment.DecodeDocument(segmenttest.EncodeDocument(1, segment.FieldValue{Value: at}), 1)
	require.NoError(t, err)
	require.Equal(t, at, got[0].Value)
}

func TestMalformedDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string][]byte{
		"empty":                          {},
		"a value that is not there":      {0x81},
		"an unknown type":                {0x81, 0, 0, 0, 0, 8},
		"bytes behind the last":          {0x80, 0},
		"a text longer than it is":       {0x81, 0, 0, 0, 0, 0, 0x85, 'a'},
		"a length of 2^63":               {0x81, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81},
		"a length of more than 2^64":     {0x81, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x82},
		"an array of 2^60 values":        {0x81, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0x90},
		"an object of half an entry":     {0x81, 0, 0, 0, 0, 13, 0x81, 0, 0x80},
		"an object with a number as key": {0x81, 0, 0, 0, 0, 13, 0x82, 9, 1, 9, 1},
		"nested 200 deep":                append([]byte{0x81, 0, 0, 0, 0}, []byte(strings.Repeat("\x0c\x81", 200)+"\x0b")...),
		"two million values":             append([]byte{0x81, 0, 0, 0, 0, 12, 0, 0, 0x80 | 0x7F}, make([]byte, 1)...),
	} {
		_, err := segment.DecodeDocument(doc, 2)
		require.ErrorContains(t, err, "stored document", name)
	}
}
