package file

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
)

// packedDocument is a split metadata document without its keys, which take half of a typical
// one: the texts of the values, each but the last followed by a line feed, which a compact document does not
// contain. The last one goes to the end of the document. A document whose keys are not the expected ones is held as
// it is; it begins with a brace, which no packed one does.
type packedDocument string

// documentKeys is the text before each value of a canonical document.
var documentKeys = [...]string{
	`{"version":"0.9","split_id":`, `,"index_uid":`, `,"partition_id":`, `,"source_id":`, `,"node_id":`, `,"num_docs":`,
	`,"uncompressed_docs_size_in_bytes":`, `,"time_range":`, `,"create_timestamp":`, `,"maturity":`, `,"tags":`,
	`,"footer_offsets":{"start":`, `,"end":`, `},"delete_opstamp":`, `,"num_merge_ops":`, `,"doc_mapping_uid":`,
}

// Places among documentKeys.
const (
	tagsKey    = 10
	opstampKey = 13
)

const separator = "\n"

// packDocument packs a canonical document. append undoes it for any text, given its own delete opstamp.
func packDocument(document string) packedDocument {
	rest, ok := strings.CutPrefix(document, documentKeys[0])
	if !ok || !strings.HasPrefix(rest, `"`) || strings.Contains(rest, separator) {
		return packedDocument(strings.Clone(document))
	}
	packed := make([]byte, 0, 512) // on the stack
	for _, key := range documentKeys[1:] {
		// A key as it stands here has quotes that would be escaped inside of a string, so the first one
		// that is found is the key.
		var value string
		if value, rest, ok = strings.Cut(rest, key); !ok {
			return packedDocument(strings.Clone(document))
		}
		packed = append(append(packed, value...), separator...)
	}
	return packedDocument(append(packed, rest...))
}

func (p packedDocument) whole() bool { return !strings.HasPrefix(string(p), `"`) }

// append appends the document with a delete opstamp, which may be another one than when it was packed.
func (p packedDocument) append(dst []byte, opstamp uint64) []byte {
	if p.whole() {
		m, err := metastore.ParseSplitMetadata([]byte(p))
		if err != nil || m.DeleteOpstamp == opstamp {
			return append(dst, p...)
		}
		m = m.WithDeleteOpstamp(opstamp)
		return append(dst, m.Document()...)
	}
	value, rest := "", string(p)
	for i, key := range documentKeys {
		dst = append(dst, key...)
		if i == len(documentKeys)-1 {
			break
		}
		value, rest, _ = strings.Cut(rest, separator)
		if i == opstampKey {
			dst = strconv.AppendUint(dst, opstamp, 10)
			continue
		}
		dst = append(dst, value...)
	}
	return append(dst, rest...)
}

// splitID returns id, as a part of p if it stands there without escapes, otherwise as a copy.
func (p packedDocument) splitID(id string) string {
	if rest, ok := strings.CutPrefix(string(p), `"`); ok && strings.HasPrefix(rest, id+`"`) {
		return rest[:len(id)]
	}
	return strings.Clone(id)
}

// appendTags appends the tags of the document.
func (p packedDocument) appendTags(dst []string) []string {
	if p.whole() {
		m, err := metastore.ParseSplitMetadata([]byte(p))
		if err != nil {
			return dst // it was read before
		}
		return append(dst, m.Tags...)
	}
	value, rest := "", string(p)
	for range tagsKey + 1 {
		value, rest, _ = strings.Cut(rest, separator)
	}
	quoted, more := strings.CutPrefix(value, `["`)
	for more {
		end := stringEnd(quoted)
		tag := quoted[:end]
		if strings.IndexByte(tag, '\\') >= 0 {
			// It is a part of a valid document, so it can be unquoted.
			unquoted, _ := jsontext.AppendUnquote(nil, `"`+tag+`"`)
			tag = string(unquoted)
		}
		dst = append(dst, tag)
		quoted, more = strings.CutPrefix(quoted[end:], `","`)
	}
	return dst
}

// stringEnd returns the place of the quote that ends a JSON string, given without its first quote.
func stringEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
