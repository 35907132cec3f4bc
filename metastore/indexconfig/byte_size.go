package indexconfig

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// byteUnit returns the number of bytes of a unit. Unit names are not
// case-sensitive: "kB", "MB" and so on are powers of 1000, "KiB", "MiB" and so
// on powers of 1024.
func byteUnit(name string) (bytes float64, known bool) {
	switch strings.ToLower(name) {
	case "", "b":
		return 1, true
	case "k", "kb":
		return 1e3, true
	case "m", "mb":
		return 1e6, true
	case "g", "gb":
		return 1e9, true
	case "t", "tb":
		return 1e12, true
	case "p", "pb":
		return 1e15, true
	case "e", "eb":
		return 1e18, true
	case "ki", "kib":
		return 1 << 10, true
	case "mi", "mib":
		return 1 << 20, true
	case "gi", "gib":
		return 1 << 30, true
	case "ti", "tib":
		return 1 << 40, true
	case "pi", "pib":
		return 1 << 50, true
	case "ei", "eib":
		return 1 << 60, true
	default:
		return 0, false
	}
}

// ParseByteSize reads a number of bytes from text: digits alone, or a decimal
// number and a unit, as in "2 GB", "50.0 MB" and "1.5 GiB". Fractions of a byte
// are dropped.
func ParseByteSize(text string) (uint64, error) {
	trimmed := strings.TrimSpace(text)
	if n, err := strconv.ParseUint(trimmed, 10, 64); err == nil {
		return n, nil
	}
	digits := prefixLength(trimmed, func(c byte) bool { return isDigit(c) || c == '.' })
	unit, known := byteUnit(strings.TrimLeft(trimmed[digits:], " "))
	number, err := strconv.ParseFloat(trimmed[:digits], 64)
	if !known || err != nil || !isDigit(trimmed[0]) {
		return 0, fmt.Errorf("%s is not a byte size such as \"2 GB\" or \"1.5 GiB\"", strictjson.Quote(text))
	}
	size := number * unit
	if size >= math.MaxUint64 {
		return 0, fmt.Errorf("the byte size %s does not fit 64 bits", strictjson.Quote(text))
	}
	return uint64(size), nil
}

// readByteSize reads an integer number of bytes or a byte size in text form.
func readByteSize(r *strictjson.Reader, into *uint64) error {
	if r.Kind() != jsontext.KindString {
		return r.Uint64(into)
	}
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	size, err := ParseByteSize(text)
	*into = size
	return err
}
