package yamljson_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/yamljson"
)

func TestConvertKeepsEveryValueExactly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ yaml, want string }{
		"integers above 2^53":         {"a: 9007199254740993\nb: 18446744073709551615\nc: 123456789012345678901234567890", `{"a":9007199254740993,"b":18446744073709551615,"c":123456789012345678901234567890}`},
		"negative and signed numbers": {"a: -5\nb: +7\nc: 1.50", `{"a":-5,"b":7,"c":1.50}`},
		"other bases":                 {"a: 0x1F\nb: 0o17", `{"a":31,"b":15}`},
		"the order of keys":           {"b: 1\na: 2", `{"b":1,"a":2}`},
		"text that looks like a type": {"a: '007'\nb: \"true\"\nc: 2026-01-02\nd: yes", `{"a":"007","b":"true","c":"2026-01-02","d":"yes"}`},
		"null, booleans, empty lists": {"a:\nb: ~\nc: true\nd: []\ne: {}", `{"a":null,"b":null,"c":true,"d":[],"e":{}}`},
		"anchors and aliases":         {"a: &x [1, 2]\nb: *x", `{"a":[1,2],"b":[1,2]}`},
		"characters of markup":        {"a: <b> & \"c\"", `{"a":"<b> & \"c\""}`},
		"number keys":                 {"1: a", `{"1":"a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := yamljson.Convert([]byte(test.yaml))
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}

func TestConvertWritesNamedKeysOfTheTopLevelAsText(t *testing.T) {
	t.Parallel()
	got, err := yamljson.Convert([]byte("version: 0.9\nnested: {version: 0.9}"), "version")
	require.NoError(t, err)
	require.Equal(t, `{"version":"0.9","nested":{"version":0.9}}`, string(got))
}

func TestConvertRefusesWhatHasNoSingleMeaning(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		bomb += "a" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+", ", 9) + "*a" + from + "]\n"
	}
	for name, test := range map[string]struct{ yaml, want string }{
		"nothing":            {"", "empty"},
		"two documents":      {"a: 1\n---\nb: 2", "several documents"},
		"a repeated key":     {"a: 1\na: 2", "appears twice"},
		"a list as key":      {"[1]: a", "must be text"},
		"infinity":           {"a: .inf", "line 1"},
		"an old octal":       {"a: 0777", "plain decimal"},
		"merge keys":         {"b: &b {x: 1}\na:\n  <<: *b", "merge keys"},
		"binary":             {"a: !!binary aGk=", "no JSON form"},
		"broken YAML":        {"a: [1", "yaml"},
		"a bomb of aliases":  {bomb, "bytes as JSON"},
		"an alias to itself": {"a: &a [*a]", "deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := yamljson.Convert([]byte(test.yaml))
			require.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte("a: 1\nb: [x, 0x10, ~]"))
	f.Add([]byte("a: &x {b: 1}\nc: *x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := yamljson.Convert(text)
		if err == nil && !jsontext.Value(got).IsValid() {
			t.Fatalf("%q became %q, which is no JSON", text, got)
		}
	})
}
