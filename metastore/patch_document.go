package metastore

import (
	"strconv"

	"holdfast/metastore/internal/strictjson"
)

// PatchDocument appends a stored metadata document with the values that a store keeps outside of it.
// An unset create timestamp leaves the document's own. A document that is not canonical, such as one
// of an older version, is made so. It fails with JsonDeserializeError, and returns dst as it was then.
func PatchDocument[T []byte | string](dst []byte, document T, indexUID string, createTimestamp Optional[int64], deleteOpstamp uint64) ([]byte, error) {
	var text string
	switch document := any(document).(type) {
	case []byte:
		text = viewString(document)
	case string:
		text = document
	}
	return patchStored(dst, text, patch{indexUID: indexUID, createTimestamp: createTimestamp, deleteOpstamp: deleteOpstamp})
}

// patch says what to replace in a document.
type patch struct {
	indexUID        string
	createTimestamp Optional[int64]
	deleteOpstamp   uint64
	// keepUnknown trusts what follows the last known key; it is for documents of our own only.
	keepUnknown bool
}

func patchStored(dst []byte, text string, p patch) ([]byte, error) {
	if patched, ok := patchCanonical(dst, text, p); ok {
		return patched, nil
	}
	m, err := ParseSplitMetadata([]byte(text))
	if err != nil {
		return dst, err
	}
	p.keepUnknown = true
	if patched, ok := patchCanonical(dst, m.document, p); ok {
		return patched, nil
	}
	return dst, Internal(nil, "patching the document of split %s: its canonical form was not recognised", quoteBounded(m.SplitID))
}

// patchCanonical patches a canonical document; ok is false for any other text.
func patchCanonical(dst []byte, text string, p patch) (patched []byte, ok bool) {
	s := splitScanner{text: text, skipTags: true}
	var layout splitLayout
	if !s.document(&layout) || !p.keepUnknown && text[s.pos:] != "}" {
		return dst, false
	}
	dst = append(dst, text[:layout.indexUID.start-1]...)
	dst = strictjson.AppendString(dst, p.indexUID)
	rest := layout.indexUID.end + 1
	if p.createTimestamp.Set {
		dst = append(dst, text[rest:layout.create.start]...)
		dst = strconv.AppendInt(dst, p.createTimestamp.Value, 10)
		rest = layout.create.end
	}
	dst = append(dst, text[rest:layout.opstamp.start]...)
	dst = strconv.AppendUint(dst, p.deleteOpstamp, 10)
	return append(dst, text[layout.opstamp.end:]...), true
}
