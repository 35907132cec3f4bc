package indexconfig

import (
	"bytes"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// Update holds the five documents of an index update. They replace those of the
// index as wholes; what they leave out gets its default.
type Update struct {
	DocMapping       DocMapping
	IndexingSettings IndexingSettings
	IngestSettings   IngestSettings
	SearchSettings   SearchSettings
	Retention        *RetentionPolicy // nil removes the policy
}

// UpdateError says why an update is refused. The request is at fault: it is
// the InvalidArgument of the API.
type UpdateError struct{ cause error }

func (e *UpdateError) Error() string { return e.cause.Error() }

// Unwrap returns the reason.
func (e *UpdateError) Unwrap() error { return e.cause }

// Update returns the config with u applied, and whether anything changed. The
// receiver stays as it is.
//
// A doc mapping that equals the current one but for its UID leaves the current
// one in place, UID included. Another one must have another UID than the current
// one, the same timestamp field, and all tokenizers of the current one.
//
// Unlike the peer, which stores contradicting settings and cannot read them
// afterwards, Update validates the resulting config. It does so by the result
// alone: a stored config that does not validate, or could not even be read, can
// be repaired. Of one that could not be read the current doc mapping is not
// known, so the new one only has to be valid.
//
// Errors are of type *[UpdateError].
func (c *IndexConfig) Update(u Update) (updated *IndexConfig, changed bool, err error) {
	result := &IndexConfig{IndexID: c.IndexID, IndexURI: c.IndexURI, Settings: Settings(u)}
	if c.Readable() {
		if c.DocMapping.equalContent(&u.DocMapping) {
			result.DocMapping = c.DocMapping
		} else if err := c.DocMapping.checkReplacement(&u.DocMapping); err != nil {
			return nil, false, &UpdateError{strictjson.Within("doc_mapping", err)}
		}
	}
	if err := result.validateSettings(); err != nil {
		return nil, false, &UpdateError{err}
	}
	if result.Equal(c) {
		return c, false, nil
	}
	return result, true, nil
}

// equalContent reports whether two mappings differ in nothing but their UIDs.
func (m *DocMapping) equalContent(other *DocMapping) bool {
	content := func(m *DocMapping) []byte {
		w := strictjson.AppendTo(nil)
		m.writeContent(w)
		return w.Bytes()
	}
	return bytes.Equal(content(m), content(other))
}

// checkReplacement checks, in the peer's order, what a new mapping of an index
// must keep of the current one.
func (m *DocMapping) checkReplacement(replacement *DocMapping) error {
	if m.UID == replacement.UID {
		return strictjson.Within("doc_mapping_uid", fmt.Errorf("a changed doc mapping must have another UID than the current one, which is %s", m.UID))
	}
	if current, wanted := m.TimestampField, replacement.TimestampField; !equalOptional(current, wanted) {
		return strictjson.Within("timestamp_field", fmt.Errorf("must not change: the current one is %s, the new one is %s", quoteOptional(current), quoteOptional(wanted)))
	}
	kept := make(map[string]bool, len(replacement.Tokenizers))
	for i := range replacement.Tokenizers {
		kept[replacement.Tokenizers[i].canonical()] = true
	}
	for _, tokenizer := range m.Tokenizers {
		if !kept[tokenizer.canonical()] {
			return strictjson.Within("tokenizers", fmt.Errorf("must keep every current tokenizer as it is: %s is missing or differs", strictjson.Quote(tokenizer.Name)))
		}
	}
	return nil
}

func equalOptional(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func quoteOptional(text *string) string {
	if text == nil {
		return "none"
	}
	return strictjson.Quote(*text)
}
