package strictjson_test

import (
	"strings"
	"testing"

	"holdfast/metastore/internal/strictjson"
)

func TestBooleansAreReadFromBooleansOnly(t *testing.T) {
	t.Parallel()
	got := false
	read := func(r *strictjson.Reader) error { return r.Bool(&got) }
	if err := strictjson.Decode("", []byte(`true`), read); err != nil || !got {
		t.Errorf("true: %v, %v", got, err)
	}
	if err := strictjson.Decode("", []byte(`false`), read); err != nil || got {
		t.Errorf("false: %v, %v", got, err)
	}
	for _, text := range []string{`"true"`, `1`, `null`, `tru`, `True`} {
		if err := strictjson.Decode("", []byte(text), read); err == nil {
			t.Errorf("%s: accepted", text)
		}
	}
}

func TestAnEnumTakesItsValuesToTheLetter(t *testing.T) {
	t.Parallel()
	got := ""
	read := func(r *strictjson.Reader) error { return r.Enum(&got, "basic", "freq") }
	if err := strictjson.Decode("", []byte(`"\u0066req"`), read); err != nil || got != "freq" {
		t.Errorf("read %q, %v", got, err)
	}
	err := strictjson.Decode("record", []byte(`"Basic"`), read)
	if err == nil || err.Error() != `record: unknown value "Basic"; known values are basic, freq` {
		t.Errorf("error %v", err)
	}
	if err := strictjson.Decode("record", []byte(`["basic"]`), read); err == nil || !strings.Contains(err.Error(), "must be a string, not an array") {
		t.Errorf("error %v", err)
	}
}

func TestErrorsOfReadersAreWrapped(t *testing.T) {
	t.Parallel()
	cause := errorText("two\nlines")
	err := strictjson.Decode("doc", []byte(`[1]`), func(r *strictjson.Reader) error {
		return r.Array(func(int) error { return cause })
	})
	if err == nil || err.Error() != "doc[0]: two lines" {
		t.Errorf("error %v", err)
	}
	if wrapped, ok := err.(*strictjson.Error); !ok || wrapped.Unwrap() != cause || wrapped.Path != "doc[0]" {
		t.Errorf("error %#v", err)
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }
