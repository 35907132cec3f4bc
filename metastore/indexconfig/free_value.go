package indexconfig

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// readFreeValue reads any JSON value into its canonical text: keys of objects
// sorted bytewise, the last of a repeated key kept, floating-point numbers in
// the peer's shortest form. Integers keep their digits, of any length.
func readFreeValue(r *strictjson.Reader, into *[]byte) error {
	w := strictjson.AppendTo(nil)
	if err := copyFreeValue(r, w); err != nil {
		return err
	}
	*into = w.Bytes()
	return nil
}

func copyFreeValue(r *strictjson.Reader, w *strictjson.Writer) error {
	switch r.Kind() {
	case jsontext.KindBeginObject:
		return copyFreeObject(r, w)
	case jsontext.KindBeginArray:
		w.Begin('[')
		err := r.Array(func(int) error { return copyFreeValue(r, w) })
		w.End(']')
		return err
	case jsontext.KindString:
		var text string
		err := r.String(&text)
		w.String(text)
		return err
	case jsontext.KindNumber:
		var raw []byte
		if err := r.Raw(&raw); err != nil {
			return err
		}
		number, err := canonicalNumber(raw)
		w.Raw(number)
		return err
	default:
		var raw []byte
		err := r.Raw(&raw)
		w.Raw(raw)
		return err
	}
}

func copyFreeObject(r *strictjson.Reader, w *strictjson.Writer) error {
	entries := map[string][]byte{}
	err := r.Map(func(key string) error {
		var value []byte
		err := readFreeValue(r, &value)
		entries[key] = value
		return err
	})
	keys := make([]string, 0, len(entries))
	for key := range entries {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	w.Begin('{')
	for _, key := range keys {
		w.Key(key).Raw(entries[key])
	}
	w.End('}')
	return err
}

// canonicalNumber returns an integer as it is and a floating-point number in
// its shortest form: with a fraction, and with an exponent only where the
// decimal point would be far from the digits. "-0" is a floating-point number.
func canonicalNumber(raw []byte) ([]byte, error) {
	if !bytes.ContainsAny(raw, ".eE") && string(raw) != "-0" {
		return raw, nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return nil, fmt.Errorf("the number %s is out of range", strictjson.Quote(string(raw)))
	}
	if f == 0 {
		if raw[0] == '-' {
			return []byte("-0.0"), nil
		}
		return []byte("0.0"), nil
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponentText, _ := strings.Cut(scientific, "e")
	exponent, _ := strconv.Atoi(exponentText)
	if exponent >= -5 && exponent < 16 {
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return []byte(text), nil
	}
	return []byte(mantissa + "e" + strconv.Itoa(exponent)), nil
}
