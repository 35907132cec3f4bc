package postgres

import (
	"encoding/binary"
	"math"
)

// Arguments of statements and values of results are PostgreSQL's binary format, written and read here: whole
// batches travel as arrays, without a copy for each value. A nil argument is NULL.

// Object ids of the element types of arrays, as the binary format of an array names them.
const (
	oidBytea     = 17
	oidInt8      = 20
	oidInt2      = 21
	oidText      = 25
	oidTimestamp = 1114
	oidUUID      = 2950
)

const (
	// postgresEpoch is where PostgreSQL's timestamps begin to count, in Unix seconds: the year 2000.
	postgresEpoch = 946_684_800
	// The instants before and behind all others.
	minusInfinity = math.MinInt64
	plusInfinity  = math.MaxInt64
)

func textArgument(text string) []byte { return []byte(text) }

func boolArgument(value bool) []byte {
	if value {
		return []byte{1}
	}
	return []byte{0}
}

func int8Argument(value int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(value))
}

func int2Argument(value int16) []byte {
	return binary.BigEndian.AppendUint16(nil, uint16(value))
}

// timestampArgument takes Unix seconds. What lies outside PostgreSQL's range becomes an infinity, which
// compares as the true value would.
func timestampArgument(seconds int64) []byte {
	return int8Argument(microseconds(seconds))
}

// microseconds converts Unix seconds to what PostgreSQL counts.
func microseconds(seconds int64) int64 {
	// The range of the type, 4714 BC to 294276 AD.
	const earliest, latest = -210_866_803_200, 9_224_318_015_999
	switch {
	case seconds < earliest:
		return minusInfinity
	case seconds > latest:
		return plusInfinity
	}
	return (seconds - postgresEpoch) * 1_000_000
}

// textArrayArgument is an array of the texts.
func textArrayArgument(texts []string) []byte {
	return textArrayOf(len(texts), func(i int) string { return texts[i] })
}

// textArrayOf is an array of the texts that at gives for 0 to n-1; it is called twice for each.
func textArrayOf(n int, at func(i int) string) []byte {
	return optionalTextArrayOf(n, func(i int) (string, bool) { return at(i), true })
}

// optionalTextArrayOf is as textArrayOf; false gives NULL.
func optionalTextArrayOf(n int, at func(i int) (string, bool)) []byte {
	size := arrayHeaderSize + 4*n
	for i := range n {
		text, _ := at(i)
		size += len(text)
	}
	dst := appendArrayHeader(make([]byte, 0, size), oidText, n)
	for i := range n {
		text, ok := at(i)
		if !ok {
			dst = binary.BigEndian.AppendUint32(dst, math.MaxUint32)
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(text)))
		dst = append(dst, text...)
	}
	return dst
}

// int8ArrayOf is an array of the integers that at gives for 0 to n-1; false gives NULL.
func int8ArrayOf(n int, at func(i int) (int64, bool)) []byte {
	return fixedArrayOf(oidInt8, n, at)
}

// timestampArrayOf is an array of timestamps, given in Unix seconds.
func timestampArrayOf(n int, at func(i int) int64) []byte {
	return fixedArrayOf(oidTimestamp, n, func(i int) (int64, bool) { return microseconds(at(i)), true })
}

func fixedArrayOf(element uint32, n int, at func(i int) (int64, bool)) []byte {
	dst := appendArrayHeader(make([]byte, 0, arrayHeaderSize+12*n), element, n)
	for i := range n {
		value, ok := at(i)
		if !ok {
			dst = binary.BigEndian.AppendUint32(dst, math.MaxUint32)
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, 8)
		dst = binary.BigEndian.AppendUint64(dst, uint64(value))
	}
	return dst
}

// bytesArrayOf is an array of values in their binary format, which at gives for 0 to n-1; it is called twice for each.
func bytesArrayOf(element uint32, n int, at func(i int) []byte) []byte {
	size := arrayHeaderSize + 4*n
	for i := range n {
		size += len(at(i))
	}
	dst := appendArrayHeader(make([]byte, 0, size), element, n)
	for i := range n {
		value := at(i)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
		dst = append(dst, value...)
	}
	return dst
}

const arrayHeaderSize = 20

func appendArrayHeader(dst []byte, element uint32, n int) []byte {
	if n == 0 {
		// No dimension at all: how an empty array is written.
		dst = binary.BigEndian.AppendUint32(dst, 0)
		dst = binary.BigEndian.AppendUint32(dst, 0)
		return binary.BigEndian.AppendUint32(dst, element)
	}
	dst = binary.BigEndian.AppendUint32(dst, 1) // dimensions
	dst = binary.BigEndian.AppendUint32(dst, 1) // may hold NULLs
	dst = binary.BigEndian.AppendUint32(dst, element)
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	return binary.BigEndian.AppendUint32(dst, 1) // index of the first element
}

// appendArrayLiteral writes the texts as PostgreSQL's text form of an array. Arrays of arrays cannot have rows
// of different lengths, so the tags of many splits travel as an array of these.
func appendArrayLiteral(dst []byte, texts []string) []byte {
	dst = append(dst, '{')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		for j := range len(text) {
			if text[j] == '"' || text[j] == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, text[j])
		}
		dst = append(dst, '"')
	}
	return append(dst, '}')
}
