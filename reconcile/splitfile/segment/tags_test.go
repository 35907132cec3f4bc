package segment_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// tagsOf returns the tags of the one field of a split whose documents have the terms.
func tagsOf(t *testing.T, field segmenttest.Field, terms ...string) []string {
	t.Helper()
	docs := someDocs(1)
	docs[0].Terms = map[string][][]byte{}
	for _, term := range terms {
		docs[0].Terms[field.Name] = append(docs[0].Terms[field.Name], []byte(term))
	}
	s, _ := opened(t, segmenttest.Index(segmenttest.Settings{Fields: []segmenttest.Field{field}, Compression: segment.Zstd}, docs...).File("some"))
	dictionaries, err := s.Terms(t.Context())
	require.NoError(t, err)
	tags, err := dictionaries.Tags(t.Context(), field.Name)
	require.NoError(t, err)
	return tags
}

func TestTagsAreAllTermsOfTheFieldOrNoneAtAll(t *testing.T) {
	t.Parallel()
	text := segmenttest.Field{Name: "f", Type: "text", Indexed: true, Tokenizer: "raw"}
	u64 := segmenttest.Field{Name: "f", Type: "u64", Indexed: true}
	i64 := segmenttest.Field{Name: "f", Type: "i64", Indexed: true}
	dotted := segmenttest.Field{Name: `a\.b`, Type: "text", Indexed: true, Tokenizer: "raw"}
	number := func(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }
	many := func(n int) (terms []string) {
		for i := range n {
			terms = append(terms, fmt.Sprintf("term %04d", i))
		}
		return terms
	}
	long := strings.Repeat("x", 60_000)
	for name, c := range map[string]struct {
		field segmenttest.Field
		terms []string
		want  []string
	}{
		"u64":             {u64, []string{number(0), number(1<<64 - 1)}, []string{"f!", "f:0", "f:18446744073709551615"}},
		"negative i64":    {i64, []string{number(1<<63 - 5), number(1<<63 + 5)}, []string{"f!", "f:-5", "f:5"}},
		"texts":           {text, []string{"", "a", "ab", "b", long}, []string{"f!", "f:", "f:a", "f:ab", "f:b", "f:" + long}},
		"no terms":        {text, nil, []string{"f!"}},
		"a literal dot":   {dotted, []string{"v"}, []string{`a\.b!`, `a\.b:v`}},
		"1001 terms":      {text, many(1001), nil},
		"no text":         {text, []string{"a", "\xff"}, nil},
		"a tokenized one": {segmenttest.Field{Name: "f", Type: "text", Indexed: true, Tokenizer: "default"}, []string{"a"}, nil},
		"not indexed":     {segmenttest.Field{Name: "f", Type: "u64"}, nil, nil},
		"a bool":          {segmenttest.Field{Name: "f", Type: "bool", Indexed: true}, []string{"\x00"}, nil},
	} {
		require.Equal(t, c.want, tagsOf(t, c.field, c.terms...), name)
	}
	require.Len(t, tagsOf(t, text, many(1000)...), 1001)
}

func TestAFieldThatTheSchemaLacksGivesNoTags(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, tagged().File("some"))
	terms, err := s.Terms(t.Context())
	require.NoError(t, err)
	tags, err := terms.Tags(t.Context(), "elsewhere")
	require.NoError(t, err)
	require.Nil(t, tags)
}

// TestADictionaryThatHidesTermsIsRefused: a tag that is missing would lose hits.
func TestADictionaryThatHidesTermsIsRefused(t *testing.T) {
	t.Parallel()
	for _, entry := range tagged().File("some").Entries {
		if !strings.HasSuffix(entry.Name, ".term") {
			continue
		}
		body := slices.Clone(entry.Data[:len(entry.Data)-94])
		at := strings.LastIndex(string(body), "\x02\x00\x00\x00\x00\x00\x00\x00") // the number of paths, two
		require.Positive(t, at)
		body[at] = 3
		s, _ := opened(t, replaced(tagged(), ".term", segmenttest.Envelope(body)))
		terms, err := s.Terms(t.Context())
		require.NoError(t, err)
		_, err = terms.Tags(t.Context(), "path")
		requireFault(t, err, "terms")
	}
}

func TestTheOriginIsUndecidedIfEveryFieldHasTerms(t *testing.T) {
	t.Parallel()
	for want, split := range map[segment.Origin]*segmenttest.Split{
		segment.Indexed:   segmenttest.Index(segmenttest.Settings{Compression: segment.Zstd}, someDocs(3)...),
		segment.Merged:    segmenttest.Merge(segmenttest.Index(segmenttest.Settings{Compression: segment.Zstd}, someDocs(3)...)),
		segment.Undecided: segmenttest.Index(segmenttest.Settings{Compression: segment.Zstd, Presence: true}, someDocs(3)...),
	} {
		s, _ := opened(t, split.File("some"))
		terms, err := s.Terms(t.Context())
		require.NoError(t, err)
		origin, err := terms.Origin(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, origin)
	}
}
