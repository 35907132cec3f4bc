package indexconfig

import (
	"testing"

	"holdfast/metastore/internal/strictjson"
)

func canonicalFreeValue(text string) (string, error) {
	var canonical []byte
	err := strictjson.Decode("", []byte(text), func(r *strictjson.Reader) error { return readFreeValue(r, &canonical) })
	return string(canonical), err
}

func TestFreeValuesHaveOneCanonicalText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"b":[1.0,null],"a":1}`:                `{"a":1,"b":[1.0,null]}`, // recorded with the keys in order
		`{ "z" : { "y":1, "x":[ {} , [] ] } }`:  `{"z":{"x":[{},[]],"y":1}}`,
		`{"a":1,"a":2}`:                         `{"a":2}`,
		`"\u00e9\u000a\/<"`:                     `"é\n/<"`,
		`[true,false,null]`:                     `[true,false,null]`,
		`[0,-1,18446744073709551615]`:           `[0,-1,18446744073709551615]`,
		`123456789012345678901234567890`:        `123456789012345678901234567890`,
		`[1.50,1e3,1E-2,-0,0.0,-0.0,2.5e+3]`:    `[1.5,1000.0,0.01,-0.0,0.0,-0.0,2500.0]`,
		`[1e15,1e16,1.5e300,1e-5,1.25e-6,1e-7]`: `[1000000000000000.0,1e16,1.5e300,0.00001,1.25e-6,1e-7]`,
		`[0.1,123456.789,4.9e-324]`:             `[0.1,123456.789,5e-324]`,
	} {
		got, err := canonicalFreeValue(text)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
		if again, err := canonicalFreeValue(got); err != nil || again != got {
			t.Errorf("%s: read back as %s, %v", got, again, err)
		}
	}
	if got, err := canonicalFreeValue(`1e400`); err == nil {
		t.Errorf("a number out of range was read as %s", got)
	}
}
