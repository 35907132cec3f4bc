package strictjson_test

import (
	"strings"
	"testing"

	"holdfast/metastore/internal/strictjson"
)

// BenchmarkAListOfObjects reads what staging reads: a list of flat objects of
// which only some keys are wanted.
func BenchmarkAListOfObjects(b *testing.B) {
	object := `{"start":1787290000,"end":18446744073709551615,"label":"web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9",` +
		`"ignored":{"tags":["a","b","c"],"range":{"start":1,"end":2}},"more":"` + strings.Repeat("x", 300) + `"}`
	text := []byte("[" + strings.Repeat(object+",", 99) + object + "]")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		spans := make([]span, 0, 100)
		err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
			return r.Array(func(int) error {
				spans = append(spans, span{})
				return readSpan(strictjson.Ignore, &spans[len(spans)-1])(r)
			})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
