package metastore

import (
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// span is a piece of a text: the bytes from start up to end, without the quotes if it is a string.
type span struct {
	start, end int
	escaped    bool
}

// splitLayout says where the values of a canonical split document are, counted from the start of the
// scanned text. Strings are not decoded yet.
type splitLayout struct {
	metadata      SplitMetadata // the numbers only
	start         int           // of the document
	splitID       span
	indexUID      span
	sourceID      span
	nodeID        span
	create        span
	tags          []span
	opstamp       span
	docMappingUID span
}

// splitScanner recognises canonical text: exactly the bytes that Holdfast and the peer write. The
// first byte that differs makes it fail, which says nothing about the text being valid JSON. It
// reads values in their order, so no text inside a value can be mistaken for a key.
type splitScanner struct {
	text     string
	pos      int
	failed   bool
	nonASCII bool
	// skipTags leaves the places of the tags out of the layout.
	skipTags bool
}

// document reads one document up to the end of its last known value; what remains is "}" or
// unknown keys.
func (s *splitScanner) document(l *splitLayout) bool {
	m := &l.metadata
	l.start = s.pos
	s.literal(`{"version":"0.9","split_id":`)
	l.splitID = s.quoted()
	s.literal(`,"index_uid":`)
	l.indexUID = s.quoted()
	s.literal(`,"partition_id":`)
	m.PartitionID = s.unsigned()
	s.literal(`,"source_id":`)
	l.sourceID = s.quoted()
	s.literal(`,"node_id":`)
	l.nodeID = s.quoted()
	s.literal(`,"num_docs":`)
	m.NumDocs = s.unsigned()
	s.literal(`,"uncompressed_docs_size_in_bytes":`)
	m.UncompressedDocsSize = s.unsigned()
	s.literal(`,"time_range":`)
	m.TimeRange = Optional[TimeRange]{}
	if !s.accept("null") {
		s.literal(`{"start":`)
		m.TimeRange.Value.Start = s.signed()
		s.literal(`,"end":`)
		m.TimeRange.Value.End = s.signed()
		s.literal("}")
		m.TimeRange.Set = true
	}
	s.literal(`,"create_timestamp":`)
	l.create.start = s.pos
	m.CreateTimestamp = s.signed()
	l.create.end = s.pos
	s.literal(`,"maturity":{"type":"`)
	m.Maturity = Maturity{}
	if !s.accept(`mature"}`) {
		s.literal(`immature","maturation_period_millis":`)
		m.Maturity = Maturity{Immature: true, PeriodMillis: s.unsigned()}
		s.literal("}")
	}
	s.literal(`,"tags":[`)
	l.tags = l.tags[:0]
	for first := true; !s.failed && !s.accept("]"); first = false {
		if !first {
			s.literal(",")
		}
		if tag := s.quoted(); !s.skipTags {
			l.tags = append(l.tags, tag)
		}
	}
	s.literal(`,"footer_offsets":{"start":`)
	m.FooterStart = s.unsigned()
	s.literal(`,"end":`)
	m.FooterEnd = s.unsigned()
	s.literal(`},"delete_opstamp":`)
	l.opstamp.start = s.pos
	m.DeleteOpstamp = s.unsigned()
	l.opstamp.end = s.pos
	s.literal(`,"num_merge_ops":`)
	m.NumMergeOps = s.unsigned()
	s.literal(`,"doc_mapping_uid":`)
	l.docMappingUID = s.quoted()
	return !s.failed &&
		isCanonicalULID(s.text[l.docMappingUID.start:l.docMappingUID.end]) &&
		strings.IndexByte(s.text[l.nodeID.start:l.nodeID.end], '/') < 0 &&
		(!s.nonASCII || utf8.ValidString(s.text[l.start:s.pos]))
}

// literal reads exactly these bytes.
func (s *splitScanner) literal(want string) {
	if !s.accept(want) {
		s.failed = true
	}
}

// accept reads these bytes if they are next.
func (s *splitScanner) accept(want string) bool {
	if s.failed || !strings.HasPrefix(s.text[s.pos:], want) {
		return false
	}
	s.pos += len(want)
	return true
}

// quoted reads a string whose escapes are those of strictjson.AppendString.
func (s *splitScanner) quoted() span {
	s.literal(`"`)
	if s.failed {
		return span{}
	}
	text, found := s.text, span{start: s.pos}
	for i := s.pos; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			found.end = i
			s.pos = i + 1
			return found
		case c == '\\':
			n := canonicalEscape(text[i:])
			if n == 0 {
				s.failed = true
				return span{}
			}
			found.escaped = true
			i += n - 1
		case c < 0x20:
			s.failed = true
			return span{}
		case c >= utf8.RuneSelf:
			s.nonASCII = true
		}
	}
	s.failed = true
	return span{}
}

// canonicalEscape returns the length of the escape at the start of text, 0 if it is none that
// strictjson.AppendString writes.
func canonicalEscape(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 || text[2] != '0' || text[3] != '0' || text[4] != '0' && text[4] != '1' {
			return 0
		}
		low := strings.IndexByte("0123456789abcdef", text[5])
		if low < 0 || shortEscape((text[4]-'0')<<4|byte(low)) != 0 {
			return 0
		}
		return 6
	}
	return 0
}

// unsigned reads an integer without sign or leading zeros that fits 64 bits.
func (s *splitScanner) unsigned() uint64 {
	const surelyFits = 19 // digits
	var n uint64
	text, i := s.text, s.pos
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		digit := uint64(text[i] - '0')
		if i-s.pos >= surelyFits && n > (math.MaxUint64-digit)/10 {
			s.failed = true
			return 0
		}
		n = n*10 + digit
	}
	if i == s.pos || text[s.pos] == '0' && i > s.pos+1 {
		s.failed = true
	}
	s.pos = i
	return n
}

// signed reads an integer that fits 64 bits; -0 is none.
func (s *splitScanner) signed() int64 {
	negative := s.accept("-")
	n := s.unsigned()
	switch {
	case negative && n > 0 && n <= 1<<63:
		return int64(-n) // two's complement: right for -2^63 too
	case !negative && n <= math.MaxInt64:
		return int64(n)
	}
	s.failed = true
	return 0
}

// skipSpace passes the white space between tokens.
func (s *splitScanner) skipSpace() {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// isCanonicalULID reports whether text is a ULID as it is written: upper case, at most 128 bits.
func isCanonicalULID(text string) bool {
	if len(text) != 26 || text[0] > '7' {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c-'0' > 9 && (c < 'A' || c > 'Z' || c == 'I' || c == 'L' || c == 'O' || c == 'U') {
			return false
		}
	}
	return true
}

// metadata decodes a canonical document that ends at end. The result holds a copy of it and keeps
// nothing else of the scanned text; ok is false if the document is not canonical after all.
func (s *splitScanner) metadata(l *splitLayout, end int) (m SplitMetadata, ok bool) {
	document := strings.Clone(s.text[l.start:end])
	text := func(at span) string {
		inner := document[at.start-l.start : at.end-l.start]
		if !at.escaped {
			return inner
		}
		return unescape(document[at.start-l.start-1 : at.end-l.start+1])
	}
	m = l.metadata
	m.document = document
	uid, err := ParseIndexUID(text(l.indexUID))
	if err != nil || !isCanonicalULID(document[l.indexUID.end-l.start-26:l.indexUID.end-l.start]) {
		return SplitMetadata{}, false
	}
	m.IndexUID = uid
	m.SplitID, m.SourceID, m.NodeID = text(l.splitID), text(l.sourceID), text(l.nodeID)
	if m.DocMappingUID, err = ParseULID(text(l.docMappingUID)); err != nil {
		return SplitMetadata{}, false
	}
	m.Tags = nil
	if len(l.tags) > 0 {
		m.Tags = make([]string, len(l.tags))
	}
	for i, at := range l.tags {
		m.Tags[i] = text(at)
		if i > 0 && m.Tags[i-1] >= m.Tags[i] {
			return SplitMetadata{}, false
		}
	}
	return m, true
}

// unescape decodes a quoted string that is known to be valid.
func unescape(quoted string) string {
	decoded, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return quoted[1 : len(quoted)-1]
	}
	return string(decoded)
}

// viewString returns text as a string without copying it. The caller must neither keep the string
// nor change text while it is in use.
func viewString(text []byte) string {
	return unsafe.String(unsafe.SliceData(text), len(text))
}
