package splitinput_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/splitinput"
)

// readAll returns the documents of an input, with the state in front if there is one.
func readAll(t *testing.T, from io.Reader) (documents []string, form splitinput.Form, err error) {
	t.Helper()
	reader := splitinput.NewReader(from, "input")
	for {
		item, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return documents, reader.Form(), nil
		}
		if err != nil {
			_, again := reader.Next()
			require.Equal(t, err, again, "an error must stay")
			return documents, reader.Form(), err
		}
		require.Equal(t, len(documents)+1, item.Number)
		documents = append(documents, item.State+string(item.Document))
	}
}

func TestTheFourFormsOfInput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		input string
		form  splitinput.Form
		want  []string
	}{
		"an array":              {` [ {"a": 1}, {"b":[ 2 ]} ] `, splitinput.Array, []string{`{"a":1}`, `{"b":[2]}`}},
		"an empty array":        {"[]", splitinput.Array, nil},
		"lines":                 {"{\"a\":1}\n{\"b\":2}\n\n{\"c\":3}", splitinput.Lines, []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"one object":            {"{\n \"a\": {\"x\": 1},\n \"b\": 2\n}\n", splitinput.Lines, []string{`{"a":{"x":1},"b":2}`}},
		"an empty object":       {"{}", splitinput.Lines, []string{"{}"}},
		"a metastore.json":      {`{"version":"0.9","index":{"x":[1]},"splits":[{"a":1},{"b":2}],"shards":{"s":[1]}}`, splitinput.MetastoreFile, []string{`{"a":1}`, `{"b":2}`}},
		"one without splits":    {`{"splits":[]}`, splitinput.MetastoreFile, nil},
		"exact numbers":         {`[{"a":18446744073709551615,"b":1.50}]`, splitinput.Array, []string{`{"a":18446744073709551615,"b":1.50}`}},
		"rows of a metastore":   {`[{"split_state":"Published","update_timestamp":1,"publish_timestamp":2,"a":1}]`, splitinput.Array, []string{`Published{"a":1}`}},
		"keys in another order": {`[{"a":1,"publish_timestamp":null,"b":2,"split_state":"Staged"}]`, splitinput.Array, []string{`Staged{"a":1,"b":2}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, form, err := readAll(t, strings.NewReader(test.input))
			require.NoError(t, err)
			require.Equal(t, test.form, form)
			require.Equal(t, test.want, got)
		})
	}
}

func TestBadInputIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, want string }{
		"nothing":                       {" \n", "the input is empty"},
		"text":                          {"hello", "byte 0 is no JSON"},
		"a number":                      {"12", `must begin with "[" or "{"`},
		"a number in an array":          {`[{"a":1}, 5]`, "split 2 is a JSON number, must be an object"},
		"a line that is no object":      {"{\"a\":1}\n[2]", "split 2 is a JSON array"},
		"data behind an array":          {`[{"a":1}] {"b":2}`, "behind the end of the array"},
		"data behind a metastore.json":  {`{"splits":[]} {}`, "behind the end of the metastore.json"},
		"splits that are no array":      {`{"splits":{}}`, "must be an array of splits"},
		"splits twice":                  {`{"splits":[],"splits":[]}`, "(/splits) is no JSON: duplicate"},
		"a repeated key":                {`[{"a":1,"a":2}]`, "(/0/a) is no JSON: duplicate"},
		"an array that is cut off":      {`[{"a":1},`, "cut off"},
		"an object that is cut off":     {`{"a":1`, "cut off"},
		"a metastore.json that is cut":  {`{"splits":[{"a":1}],"shards":{`, "cut off"},
		"a state that is no string":     {`[{"split_state":5}]`, "split_state is a JSON number"},
		"text that is no UTF-8":         {"[{\"a\":\"\xff\"}]", "UTF-8"},
		"a split of more than a MiB":    {`[{"a":"` + strings.Repeat("x", 3<<20) + `"}]`, "more than 1048576 bytes"},
		"a line of more than a MiB":     {`{"a":1}` + "\n" + `{"a":"` + strings.Repeat("x", 3<<20) + `"}`, "more than 1048576 bytes"},
		"a first line that is too long": {"{" + strings.Repeat(`"a":1,`, 1)[:6] + longMembers() + "}", "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readAll(t, strings.NewReader(test.input))
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "input")
		})
	}
}

// longMembers are members of an object with different names, together more than a split may have.
func longMembers() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `"k%d":"%s",`, i, strings.Repeat("x", 50_000))
	}
	return b.String() + `"last":1`
}

// endless writes an array without end, and counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(into []byte) (int, error) {
	n := copy(into, strings.Repeat(`{"a":1},`, len(into)/8+1))
	if e.read == 0 {
		n = copy(into, `[`)
	} else {
		n -= n % 8
	}
	e.read += n
	return n, nil
}

func TestALongInputIsReadSplitBySplit(t *testing.T) {
	t.Parallel()
	source := &endless{}
	reader := splitinput.NewReader(source, "input")
	for range 10_000 {
		_, err := reader.Next()
		require.NoError(t, err)
	}
	require.Less(t, source.read, 10_000*8+1<<20)
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`[{"a":1},{"split_state":"Staged","b":2}]`))
	f.Add([]byte("{\"a\":1}\n{\"b\":2}"))
	f.Add([]byte(`{"version":"0.9","splits":[{"a":1}],"shards":{}}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		reader := splitinput.NewReader(strings.NewReader(string(input)), "input")
		for {
			item, err := reader.Next()
			if err != nil {
				return
			}
			if document := jsontext.Value(item.Document); !document.IsValid() || document.Kind() != '{' {
				t.Fatalf("split %d of %q is %q, which is no JSON object", item.Number, input, item.Document)
			}
		}
	})
}
