package strictjson_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/metastore/internal/strictjson"
)

func TestAListIsNeverNilAndErrorsNameThePosition(t *testing.T) {
	t.Parallel()
	var list []string
	read := func(r *strictjson.Reader) error { return strictjson.List(r, &list, r.String) }
	if err := strictjson.Decode("tags", []byte(`[]`), read); err != nil || list == nil || len(list) != 0 {
		t.Errorf("empty list: %#v, %v", list, err)
	}
	if err := strictjson.Decode("tags", []byte(`["a","b"]`), read); err != nil || !slices.Equal(list, []string{"a", "b"}) {
		t.Errorf("list: %#v, %v", list, err)
	}
	if err := strictjson.Decode("tags", []byte(`["a",1]`), read); err == nil || err.Error() != `tags[1]: must be a string, not a number` {
		t.Errorf("error %v", err)
	}
	for _, text := range []string{`null`, `{}`, `["a"`, `["a",]`, `["a"}`} {
		if err := strictjson.Decode("tags", []byte(text), read); err == nil {
			t.Errorf("%s: accepted", text)
		}
	}
}

func TestAnOptionalValueMayBeNull(t *testing.T) {
	t.Parallel()
	old := "old"
	got := &old
	read := func(r *strictjson.Reader) error { return strictjson.Optional(r, &got, r.String) }
	if err := strictjson.Decode("", []byte(`null`), read); err != nil || got != nil {
		t.Errorf("null: %v, %v", got, err)
	}
	if err := strictjson.Decode("", []byte(`"x"`), read); err != nil || got == nil || *got != "x" {
		t.Errorf("string: %v, %v", got, err)
	}
	if err := strictjson.Decode("", []byte(`1`), read); err == nil {
		t.Error("a number was accepted")
	}
}

func TestAMapPassesEveryKeySoThatTheLastOfARepeatedOneWins(t *testing.T) {
	t.Parallel()
	got := map[string]uint64{}
	read := func(r *strictjson.Reader) error {
		return r.Map(func(key string) error {
			var n uint64
			err := r.Uint64(&n)
			got[key] = n
			return err
		})
	}
	if err := strictjson.Decode("counts", []byte(`{"a":1,"b":2,"a":3}`), read); err != nil || got["a"] != 3 || got["b"] != 2 {
		t.Errorf("read %v, %v", got, err)
	}
	if err := strictjson.Decode("counts", []byte(`{"a b":null}`), read); err == nil || err.Error() != `counts["a b"]: must be a number, not null` {
		t.Errorf("error %v", err)
	}
}

func TestATaggedObjectIsReadByItsTagWhereverItStands(t *testing.T) {
	t.Parallel()
	read := func(r *strictjson.Reader) error {
		return r.Tagged("type", func(value string) error {
			keys := strictjson.Keys{{Name: "type"}, {Name: value}}
			return r.Object(keys, strictjson.Reject, func(string) error { return r.Skip() })
		})
	}
	for _, text := range []string{`{"type":"a","a":1}`, `{"a":{"type":"x"},"type":"a"}`} {
		if err := strictjson.Decode("policy", []byte(text), read); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`{"type":"a","b":1}`:        `policy: unknown key "b"`,
		`{"a":1}`:                   `policy: required key "type" is missing`,
		`{"type":"a","type":"a"}`:   `policy.type: the key is given twice`,
		`{"type":1}`:                `policy.type: must be a string`,
		`null`:                      `policy: must be an object`,
		`{"type":"a","a":[1,{"b":]`: `policy.a: not valid JSON at byte 24`,
		`{"a":1, "type":"a" "b"}`:   `policy: not valid JSON at byte 19`,
		`{"a":[1,`:                  `policy: not valid JSON: the text ends too early`,
	} {
		if err := strictjson.Decode("policy", []byte(text), read); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

func TestATaggedObjectMayStandInsideOthers(t *testing.T) {
	t.Parallel()
	var tags []string
	var read func(r *strictjson.Reader) error
	read = func(r *strictjson.Reader) error {
		return r.Tagged("type", func(value string) error {
			tags = append(tags, value)
			keys := strictjson.Keys{{Name: "type"}, {Name: "inner"}, {Name: "list"}}
			return r.Object(keys, strictjson.Reject, func(key string) error {
				switch key {
				case "inner":
					return read(r)
				case "list":
					return r.Array(func(int) error { return read(r) })
				default:
					return r.Skip()
				}
			})
		})
	}
	text := `{"inner" : {"list":[ {"type":"c"} ,{"inner":{"type":"e"}, "type":"d"}],"type":"b"},"type":"a"}`
	if err := strictjson.Decode("", []byte(text), read); err != nil || !slices.Equal(tags, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("tags %v, %v", tags, err)
	}
}

func TestPassedKeysCanBeKeptAsTheyCame(t *testing.T) {
	t.Parallel()
	var kept string
	err := strictjson.Decode("", []byte(`{"n":1, "x":{"deep" : 1.50}}`), func(r *strictjson.Reader) error {
		var n uint64
		return r.Object(strictjson.Keys{{Name: "n"}}, strictjson.Pass, func(key string) error {
			if key == "n" {
				return r.Uint64(&n)
			}
			var raw []byte
			err := r.Raw(&raw)
			kept += key + "=" + string(strictjson.AppendCompact(nil, raw))
			return err
		})
	})
	if err != nil || kept != `x={"deep":1.50}` {
		t.Errorf("kept %s, %v", kept, err)
	}
}

func TestErrorsAreOneBoundedLineHoweverHostileTheDocument(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\\n", 1<<16)
	for _, text := range []string{
		`{"` + long + `":1}`,
		`{"start":"` + long + `"}`,
		`{"start":` + strings.Repeat("9", 1<<16) + `}`,
		strings.Repeat(`{"a":`, 100) + `!`,
		`{"start":1}` + long,
	} {
		var got span
		err := strictjson.Decode("span", []byte(text), readSpan(strictjson.Reject, &got))
		if err == nil {
			t.Fatalf("accepted %.40s", text)
		}
		if message := err.Error(); len(message) > 700 || strings.ContainsAny(message, "\r\n") {
			t.Errorf("message of %d bytes: %.200q", len(message), message)
		}
	}
}

func FuzzDecodeNeverPanicsAndBoundsItsErrors(f *testing.F) {
	for _, seed := range []string{`{"start":1,"end":2,"label":"x","other":[null,{"a":1e9}]}`, `[`, `{"a":`, "\ufeff{}", `"\ud83d\ude00"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got span
		for _, unknown := range []strictjson.Unknown{strictjson.Reject, strictjson.Ignore} {
			err := strictjson.Decode("span", text, readSpan(unknown, &got))
			if err != nil && (len(err.Error()) > 700 || strings.ContainsAny(err.Error(), "\r\n")) {
				t.Errorf("message of %d bytes: %q", len(err.Error()), err)
			}
		}
	})
}
