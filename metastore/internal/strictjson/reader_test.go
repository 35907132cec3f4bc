package strictjson_test

import (
	"math"
	"strings"
	"testing"

	"holdfast/metastore/internal/strictjson"
)

type span struct {
	start int64
	end   uint64
	label string
}

var spanKeys = strictjson.Keys{
	{Name: "start", Required: true},
	{Name: "end", Alias: "stop"},
	{Name: "label"},
}

func readSpan(unknown strictjson.Unknown, into *span) func(*strictjson.Reader) error {
	return func(r *strictjson.Reader) error {
		return r.Object(spanKeys, unknown, func(key string) error {
			switch key {
			case "start":
				return r.Int64(&into.start)
			case "end":
				return r.Uint64(&into.end)
			default:
				return r.String(&into.label)
			}
		})
	}
}

func TestAnObjectIsReadByItsDeclaredKeysInAnyOrderAndSpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"start":-5,"end":18446744073709551615,"label":"é\n"}`,
		" {\n \"label\" : \"\\u00e9\\n\" , \"end\":18446744073709551615,\t\"start\":-5 } \r\n",
		`{"stop":18446744073709551615,"label":"é\n","start":-5}`,
		`{"\u0073tart":-5,"end":18446744073709551615,"label":"é\n"}`,
	} {
		var got span
		if err := strictjson.Decode("span", []byte(text), readSpan(strictjson.Reject, &got)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if want := (span{-5, math.MaxUint64, "é\n"}); got != want {
			t.Errorf("%s: read %+v, want %+v", text, got, want)
		}
	}
}

func TestUnknownKeysAreIgnoredOnlyOnRequest(t *testing.T) {
	t.Parallel()
	text := []byte(`{"colour":{"a":[1,2]},"start":1,"colour":null}`)
	var got span
	if err := strictjson.Decode("span", text, readSpan(strictjson.Ignore, &got)); err != nil || got.start != 1 {
		t.Errorf("read %+v, %v", got, err)
	}
	err := strictjson.Decode("span", text, readSpan(strictjson.Reject, &got))
	if err == nil || err.Error() != `span: unknown key "colour"; known keys are start, end, label` {
		t.Errorf("error %v", err)
	}
}

func TestARefusedTextSaysWhereAndWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{``, `span: the text is empty; a JSON document is required`},
		{" \n", `span: the text is empty; a JSON document is required`},
		{`null`, `span: must be an object, not null`},
		{`[]`, `span: must be an object, not an array`},
		{`"x"`, `span: must be an object, not a string`},
		{`7`, `span: must be an object, not a number`},
		{`true`, `span: must be an object, not a boolean`},
		{`{`, `span: not valid JSON: the text ends too early`},
		{`{"start":1`, `span: not valid JSON: the text ends too early`},
		{`{"start":`, `span.start: not valid JSON: the text ends too early`},
		{`{"start":1} x`, `span: text after the end of the document at byte 12`},
		{`{"start":1}{}`, `span: text after the end of the document at byte 11`},
		{`{"start":1,}`, `span: not valid JSON at byte 10`},
		{`{'start':1}`, `span: not valid JSON at byte 1`},
		{"\ufeff{\"start\":1}", `span: not valid JSON at byte 0`},
		{"{\"start\":1,\"label\":\"\xff\"}", `span.label: not valid JSON`},
		{`{"start":1,"label":"\ud800"}`, `span.label: not valid JSON`},
		{`{}`, `span: required key "start" is missing`},
		{`{"start":1,"start":1}`, `span.start: the key is given twice`},
		{`{"start":1,"end":1,"stop":1}`, `span.end: the key is given twice`},
		{`{"Start":1}`, `span: unknown key "Start"`},
		{`{"start":null}`, `span.start: must be a number, not null`},
		{`{"start":"1"}`, `span.start: must be a number, not a string`},
		{`{"start":1.0}`, `span.start: must be an integer, not 1.0`},
		{`{"start":1e3}`, `span.start: must be an integer, not 1e3`},
		{`{"start":-0}`, `span.start: must be an integer, not -0`},
		{`{"start":01}`, `span: not valid JSON`},
		{`{"start":9223372036854775808}`, `span.start: must be an integer from -9223372036854775808 to 9223372036854775807, not 9223372036854775808`},
		{`{"start":-9223372036854775809}`, `span.start: must be an integer from`},
		{`{"start":1,"end":-1}`, `span.end: must be an integer from 0 to 18446744073709551615, not -1`},
		{`{"start":1,"end":18446744073709551616}`, `span.end: the integer 18446744073709551616 does not fit 64 bits`},
		{`{"start":1,"label":null}`, `span.label: must be a string, not null`},
	} {
		var got span
		err := strictjson.Decode("span", []byte(c.text), readSpan(strictjson.Reject, &got))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %q, want %q", c.text, err, c.want)
		}
	}
}

func TestTheWholeRangeOf64BitsIsExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-1": -1, "9007199254740993": 9007199254740993,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		var got int64
		err := strictjson.Decode("", []byte(text), func(r *strictjson.Reader) error { return r.Int64(&got) })
		if err != nil || got != want {
			t.Errorf("%s: read %d, %v", text, got, err)
		}
	}
}

func TestNarrowIntegersAreBounded(t *testing.T) {
	t.Parallel()
	var u8 uint8
	var u32 uint32
	var i32 int32
	for _, c := range []struct {
		read     func(r *strictjson.Reader) error
		accepted []string
		refused  []string
	}{
		{func(r *strictjson.Reader) error { return r.Uint8(&u8) }, []string{"0", "255"}, []string{"256", "-1"}},
		{func(r *strictjson.Reader) error { return r.Uint32(&u32) }, []string{"0", "4294967295"}, []string{"4294967296", "-1"}},
		{func(r *strictjson.Reader) error { return r.Int32(&i32) }, []string{"-2147483648", "2147483647"}, []string{"2147483648", "-2147483649"}},
	} {
		for _, text := range c.accepted {
			if err := strictjson.Decode("", []byte(text), c.read); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, text := range c.refused {
			if err := strictjson.Decode("", []byte(text), c.read); err == nil {
				t.Errorf("%s: accepted", text)
			}
		}
	}
}

func TestThe128thOpenContainerIsRefusedHoweverItIsRead(t *testing.T) {
	t.Parallel()
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`[`, depth) + `"[[[\"[["` + strings.Repeat(`]`, depth))
	}
	skipAfter := func(arrays int) func(r *strictjson.Reader) error {
		return func(r *strictjson.Reader) error {
			var read func(level int) error
			read = func(level int) error {
				if level == arrays {
					return r.Skip()
				}
				return r.Array(func(int) error { return read(level + 1) })
			}
			return read(0)
		}
	}
	for _, arrays := range []int{0, 1, 126, 127} {
		if err := strictjson.Decode("", nested(127), skipAfter(arrays)); err != nil {
			t.Errorf("127 open arrays, %d of them read one by one: %v", arrays, err)
		}
		if err := strictjson.Decode("", nested(128), skipAfter(arrays)); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
			t.Errorf("128 open arrays, %d of them read one by one: %v", arrays, err)
		}
	}
	if err := strictjson.Decode("", nested(128), skipAfter(128)); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("128 open arrays read one by one: %v", err)
	}
}
