package indexconfig

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"holdfast/metastore/internal/strictjson"
)

// The types of custom tokenizers.
const (
	ngramTokenizer      = "ngram"
	regexTokenizer      = "regex"
	simpleTokenizer     = "simple"
	sourceCodeTokenizer = "source_code"
)

// Tokenizer is a custom tokenizer that a doc mapping declares. Which options
// count depends on the type; the others are zero.
type Tokenizer struct {
	Name       string
	Type       string
	MinGram    uint64   // ngram
	MaxGram    uint64   // ngram
	PrefixOnly bool     // ngram
	Pattern    string   // regex
	Filters    []string // never nil in what this package reads
}

var (
	plainTokenizerKeys = strictjson.Keys{{Name: "name", Required: true}, {Name: "type"}, {Name: "filters"}}
	regexTokenizerKeys = strictjson.Keys{{Name: "name", Required: true}, {Name: "type"}, {Name: "pattern", Required: true}, {Name: "filters"}}
	ngramTokenizerKeys = strictjson.Keys{
		{Name: "name", Required: true},
		{Name: "type"},
		{Name: "min_gram", Required: true},
		{Name: "max_gram", Required: true},
		{Name: "prefix_only"},
		{Name: "filters"},
	}
)

func (t *Tokenizer) read(r *strictjson.Reader) error {
	return r.Tagged("type", func(tokenizerType string) error {
		*t = Tokenizer{Type: tokenizerType, Filters: []string{}}
		option := func(key string) error { return t.readOption(r, key) }
		switch tokenizerType {
		case ngramTokenizer:
			return r.Object(ngramTokenizerKeys, strictjson.Reject, option)
		case regexTokenizer:
			return r.Object(regexTokenizerKeys, strictjson.Reject, option)
		case simpleTokenizer, sourceCodeTokenizer:
			return r.Object(plainTokenizerKeys, strictjson.Ignore, option)
		default:
			return strictjson.Within("type", fmt.Errorf("unknown tokenizer type %s; known types are %s, %s, %s, %s", strictjson.Quote(tokenizerType),
				ngramTokenizer, regexTokenizer, simpleTokenizer, sourceCodeTokenizer))
		}
	})
}

func (t *Tokenizer) readOption(r *strictjson.Reader, key string) error {
	switch key {
	case "name":
		return r.String(&t.Name)
	case "min_gram":
		return r.Uint64(&t.MinGram)
	case "max_gram":
		return r.Uint64(&t.MaxGram)
	case "prefix_only":
		return r.Bool(&t.PrefixOnly)
	case "pattern":
		return r.String(&t.Pattern)
	case "filters":
		return strictjson.List(r, &t.Filters, func(filter *string) error {
			return r.Enum(filter, "remove_long", "lower_caser", "ascii_folding")
		})
	default:
		return r.Skip() // the type, known already
	}
}

func (t *Tokenizer) write(w *strictjson.Writer) {
	w.Begin('{').Key("name").String(t.Name).Key("type").String(t.Type)
	switch t.Type {
	case ngramTokenizer:
		w.Key("min_gram").Uint64(t.MinGram).Key("max_gram").Uint64(t.MaxGram).Key("prefix_only").Bool(t.PrefixOnly)
	case regexTokenizer:
		w.Key("pattern").String(t.Pattern)
	}
	w.Key("filters").Strings(t.Filters).End('}')
}

// canonical returns the canonical form: the name, type, options and filters.
func (t *Tokenizer) canonical() string {
	w := strictjson.AppendTo(nil)
	t.write(w)
	return string(w.Bytes())
}

func isBuiltInTokenizer(name string) bool {
	switch name {
	case "raw", "raw_lowercase", "lowercase", "default", "whitespace", "chinese_compatible",
		"source_code_default", "source_code_with_hex", "unicode_segmenter", "datadog":
		return true
	default:
		return false
	}
}

// validate checks that the tokenizer could be built.
func (t *Tokenizer) validate() error {
	switch t.Type {
	case ngramTokenizer:
		if t.MinGram == 0 || t.MinGram > t.MaxGram {
			return fmt.Errorf("min_gram %d and max_gram %d: min_gram must be at least 1 and not more than max_gram", t.MinGram, t.MaxGram)
		}
	case regexTokenizer:
		return strictjson.Within("pattern", validateRegex(t.Pattern))
	}
	return nil
}

// validateRegex refuses a pattern that no dialect of regular expressions
// accepts. What only Go's parser refuses passes: the peer's dialect has
// operators, escapes and limits that Go's lacks.
func validateRegex(pattern string) error {
	_, err := syntax.Parse(pattern, syntax.Perl)
	var syntaxError *syntax.Error
	if !errors.As(err, &syntaxError) {
		return nil
	}
	switch syntaxError.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket,
		syntax.ErrTrailingBackslash, syntax.ErrMissingRepeatArgument:
		return fmt.Errorf("%s is not a regular expression: %s", strictjson.Quote(pattern), syntaxError.Code)
	default:
		return nil
	}
}
