package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"unicode/utf8"
)

const (
	// mostTagTerms is how many terms a tag field may have for a split to be tagged with them.
	mostTagTerms = 1000
	// mostTagBytes is the cap on the tags of one field; a field beyond it is left out.
	mostTagBytes = 4 << 20
)

var errNoTags = errors.New("the terms cannot be tags")

// Tags returns the tags of a field as an indexer makes them, in no order: "field!", and "field:term" for
// each term.
//
// It returns none at all if the field has more than 1000 terms or one that is no text, or if it is not a
// field whose terms a search compares with tags as they are: u64, i64, or text that is not tokenized, in the
// schema of this segment. A field without tags is never used to leave a split out of a search.
func (t *Terms) Tags(ctx context.Context, name string) ([]string, error) {
	id, known := t.segment.Meta.field(name)
	if !known {
		return nil, nil
	}
	field := &t.segment.Meta.Fields[id]
	term := tagTerm(field)
	if term == nil {
		return nil, nil
	}
	count, found, err := t.count(ctx, id)
	if err != nil {
		return nil, t.segment.named(err)
	}
	tags := []string{name + "!"}
	if !found || count == 0 {
		return tags, nil
	}
	if count > mostTagTerms {
		return nil, nil
	}
	bytes := 0
	err = t.each(ctx, id, func(key []byte) error {
		text, ok := term(key)
		if bytes += len(name) + 1 + len(text); !ok || bytes > mostTagBytes {
			return errNoTags
		}
		tags = append(tags, name+":"+text)
		return nil
	})
	switch {
	case errors.Is(err, errNoTags):
		return nil, nil
	case err != nil:
		return nil, t.segment.named(err)
	case uint64(len(tags)-1) != count:
		// A tag that is missing would hide the split from searches.
		place := t.places[id]
		return nil, t.segment.named(fault("terms", place.End-16, number(count), "are not the %d that the dictionary of field %s has", len(tags)-1, clip(name)))
	}
	return tags, nil
}

// tagTerm returns how a term of the field is written in a tag, nil if the field cannot be a tag field.
func tagTerm(field *Field) func(term []byte) (string, bool) {
	switch {
	case !field.Indexed:
		return nil
	case field.Type == "text" && field.Tokenizer == "raw":
		return func(term []byte) (string, bool) { return string(term), utf8.Valid(term) }
	case field.Type == "u64":
		return func(term []byte) (string, bool) {
			if len(term) != 8 {
				return "", false
			}
			return strconv.FormatUint(binary.BigEndian.Uint64(term), 10), true
		}
	case field.Type == "i64":
		return func(term []byte) (string, bool) {
			if len(term) != 8 {
				return "", false
			}
			return strconv.FormatInt(int64(binary.BigEndian.Uint64(term)^1<<63), 10), true
		}
	default:
		return nil
	}
}
