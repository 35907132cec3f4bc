package strictjson_test

import (
	"math"
	"testing"

	"holdfast/metastore/internal/strictjson"
)

func TestTheWriterPutsCommasAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	text := "s"
	w := strictjson.AppendTo([]byte("> "))
	w.Begin('{')
	w.Key("u").Uint64(math.MaxUint64)
	w.Key("i").Int64(math.MinInt64)
	w.Key("list").Begin('[').Bool(true).Null().Begin('{').End('}').End(']')
	w.Key("texts").Strings([]string{"a", "b"})
	w.Key("none").OptionalString(nil)
	w.Key("some").OptionalString(&text)
	w.Key("raw").Raw([]byte(`[1]`))
	w.End('}')
	want := `> {"u":18446744073709551615,"i":-9223372036854775808,"list":[true,null,{}],"texts":["a","b"],"none":null,"some":"s","raw":[1]}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("wrote %s\n want %s", got, want)
	}
}

func TestOnlyQuotesBackslashesAndControlCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	got := string(strictjson.AppendTo(nil).String("<&>é\u2028\x7f/ \" \\ \b\f\n\r\t\x00\x1f").Bytes())
	want := "\"<&>é\u2028\x7f/ \\\" \\\\ \\b\\f\\n\\r\\t\\u0000\\u001f\""
	if got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestCompactingTouchesOnlyWhiteSpaceBetweenTokens(t *testing.T) {
	t.Parallel()
	got := string(strictjson.AppendCompact(nil, []byte(" { \"a b\\\" \" : [ 1.50 ,\n\t-0 , 1E5 ] } ")))
	if want := `{"a b\" ":[1.50,-0,1E5]}`; got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
}
