package strictjson

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// String reads a string.
func (r *Reader) String(into *string) error {
	quoted, err := r.scalar(jsontext.KindString)
	if err != nil {
		return err
	}
	text, err := unquote(quoted)
	if err != nil {
		return err
	}
	*into = string(text)
	return nil
}

// Bool reads true or false.
func (r *Reader) Bool(into *bool) error {
	kind := r.dec.PeekKind()
	if kind != jsontext.KindTrue && kind != jsontext.KindFalse {
		return r.mismatch(kind, "a boolean")
	}
	*into = kind == jsontext.KindTrue
	return r.Skip()
}

// Uint64 reads an integer from 0 to 2^64-1.
func (r *Reader) Uint64(into *uint64) error { return r.unsigned(into, math.MaxUint64) }

// Uint32 reads an integer from 0 to 2^32-1.
func (r *Reader) Uint32(into *uint32) error {
	var n uint64
	err := r.unsigned(&n, math.MaxUint32)
	if err == nil {
		*into = uint32(n)
	}
	return err
}

// Uint8 reads an integer from 0 to 255.
func (r *Reader) Uint8(into *uint8) error {
	var n uint64
	err := r.unsigned(&n, math.MaxUint8)
	if err == nil {
		*into = uint8(n)
	}
	return err
}

// Int64 reads an integer from -2^63 to 2^63-1.
func (r *Reader) Int64(into *int64) error { return r.signed(into, math.MaxInt64) }

// Int32 reads an integer from -2^31 to 2^31-1.
func (r *Reader) Int32(into *int32) error {
	var n int64
	err := r.signed(&n, math.MaxInt32)
	if err == nil {
		*into = int32(n)
	}
	return err
}

// Enum reads a string that must be one of allowed.
func (r *Reader) Enum(into *string, allowed ...string) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	for _, value := range allowed {
		if text == value {
			*into = value
			return nil
		}
	}
	return fmt.Errorf("unknown value %s; known values are %s", Quote(text), strings.Join(allowed, ", "))
}

func (r *Reader) unsigned(into *uint64, limit uint64) error {
	text, negative, magnitude, err := r.integer()
	if err != nil {
		return err
	}
	if negative || magnitude > limit {
		return fmt.Errorf("must be an integer from 0 to %d, not %s", limit, clip(string(text), maxQuoted))
	}
	*into = magnitude
	return nil
}

// signed reads an integer from -limit-1 to limit.
func (r *Reader) signed(into *int64, limit int64) error {
	text, negative, magnitude, err := r.integer()
	if err != nil {
		return err
	}
	switch {
	case !negative && magnitude <= uint64(limit):
		*into = int64(magnitude)
	case negative && magnitude <= uint64(limit)+1:
		*into = int64(-magnitude) // two's complement: right for -2^63 too
	default:
		return fmt.Errorf("must be an integer from %d to %d, not %s", -limit-1, limit, clip(string(text), maxQuoted))
	}
	return nil
}

// integer reads a number written without fraction and exponent. -0 is not an
// integer: the peer's parser takes it for a floating-point number. A magnitude
// beyond 64 bits is an error here already.
func (r *Reader) integer() (text []byte, negative bool, magnitude uint64, err error) {
	text, err = r.scalar(jsontext.KindNumber)
	if err != nil {
		return nil, false, 0, err
	}
	digits := text
	if digits[0] == '-' {
		negative, digits = true, digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil, false, 0, fmt.Errorf("must be an integer, not %s", clip(string(text), maxQuoted))
		}
		digit := uint64(c - '0')
		if magnitude > (math.MaxUint64-digit)/10 {
			return nil, false, 0, fmt.Errorf("the integer %s does not fit 64 bits", clip(string(text), maxQuoted))
		}
		magnitude = magnitude*10 + digit
	}
	if negative && magnitude == 0 {
		return nil, false, 0, fmt.Errorf("must be an integer, not %s", text)
	}
	return text, negative, magnitude, nil
}
