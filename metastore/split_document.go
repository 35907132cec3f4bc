package metastore

import (
	"math"
	"strconv"
)

// Document returns the canonical JSON document: compact, version 0.9, every key in the peer's order,
// unknown keys of the document that was parsed behind them.
func (m *SplitMetadata) Document() string {
	if m.document != "" {
		return m.document
	}
	return string(m.appendDocument(nil, nil))
}

// WithIndexUID returns the metadata of the same split in another index or incarnation.
func (m SplitMetadata) WithIndexUID(uid IndexUID) SplitMetadata {
	if m.IndexUID == uid {
		return m
	}
	return m.patched(uid, m.DeleteOpstamp)
}

// WithDeleteOpstamp returns the metadata with another delete opstamp.
func (m SplitMetadata) WithDeleteOpstamp(opstamp uint64) SplitMetadata {
	if m.DeleteOpstamp == opstamp {
		return m
	}
	return m.patched(m.IndexUID, opstamp)
}

func (m SplitMetadata) patched(uid IndexUID, opstamp uint64) SplitMetadata {
	if m.document == "" {
		m.IndexUID, m.DeleteOpstamp = uid, opstamp
		return m
	}
	text, ok := patchCanonical(make([]byte, 0, len(m.document)+32), m.document, patch{
		indexUID: uid.String(), deleteOpstamp: opstamp, keepUnknown: true,
	})
	if ok {
		// Reading it again makes the strings part of the new document, so that the old one can go.
		if parsed, err := parseSplitMetadata(text, unixNow); err == nil {
			return parsed
		}
	}
	m.IndexUID, m.DeleteOpstamp = uid, opstamp
	m.document = string(m.appendDocument(nil, nil))
	return m
}

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
	dst = appendJSONString(dst, p.indexUID)
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

// The range of seconds that PostgreSQL's timestamps can hold, and so both stores accept: from the
// start of the Julian calendar's count of days to the end of the year 294276.
const (
	minStoredTimestamp = -210_866_803_200
	maxStoredTimestamp = 9_224_318_015_999
)

// MaturityTimestamp returns the second from which the split is mature, 0 if it always was. ok is
// false if it lies outside the range that every store can hold; seconds is exact then too, unless it
// does not fit 64 bits and is the greatest integer.
func (m *SplitMetadata) MaturityTimestamp() (seconds int64, ok bool) {
	if !m.Maturity.Immature {
		return 0, true
	}
	period := int64(m.Maturity.PeriodMillis / 1000)
	if m.CreateTimestamp > math.MaxInt64-period {
		return math.MaxInt64, false
	}
	seconds = m.CreateTimestamp + period
	return seconds, seconds >= minStoredTimestamp && seconds <= maxStoredTimestamp
}
