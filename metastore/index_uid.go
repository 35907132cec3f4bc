package metastore

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"
)

// IndexUID names one incarnation of an index: its id and the ULID drawn when it was created.
// Deleting an index and creating it again under the same id gives another IndexUID. Two are equal
// only if both parts are.
type IndexUID struct {
	IndexID     string
	Incarnation ulid.ULID
}

// ParseIndexUID reads the text form "<index id>:<ULID>", split at the first colon. The index id is
// not validated. Lower-case ULIDs are accepted; a ULID of more than 128 bits is refused.
func ParseIndexUID(text string) (IndexUID, error) {
	id, incarnation, found := strings.Cut(text, ":")
	if !found {
		return IndexUID{}, fmt.Errorf("index uid %s has no colon", quoteBounded(text))
	}
	parsed, err := ParseULID(incarnation)
	if err != nil {
		return IndexUID{}, fmt.Errorf("index uid %s: %w", quoteBounded(text), err)
	}
	return IndexUID{IndexID: id, Incarnation: parsed}, nil
}

// String returns "<index id>:<ULID>", the form used in documents and database columns.
func (u IndexUID) String() string {
	return u.IndexID + ":" + u.Incarnation.String()
}

// Compare orders index UIDs as the bytes of their text forms do, which is the order of listings: with
// ids of which one begins with the other, the colon behind the shorter one decides.
func (u IndexUID) Compare(other IndexUID) int {
	if u.IndexID == other.IndexID {
		return u.Incarnation.Compare(other.Incarnation)
	}
	shared := min(len(u.IndexID), len(other.IndexID))
	if order := strings.Compare(u.IndexID[:shared], other.IndexID[:shared]); order != 0 {
		return order
	}
	for i := shared; ; i++ {
		a, aOK := u.textByte(i)
		b, bOK := other.textByte(i)
		if a != b || !aOK || !bOK {
			return cmp.Or(cmp.Compare(a, b), cmp.Compare(len(u.IndexID), len(other.IndexID)))
		}
	}
}

// textByte returns a byte of the text form; ok is false, and the byte 0, behind its end.
func (u IndexUID) textByte(i int) (b byte, ok bool) {
	if i < len(u.IndexID) {
		return u.IndexID[i], true
	}
	i -= len(u.IndexID)
	if i == 0 {
		return ':', true
	}
	var text [ulid.EncodedSize]byte
	if i > len(text) || u.Incarnation.MarshalTextTo(text[:]) != nil {
		return 0, false
	}
	return text[i-1], true
}

// ParseULID reads 26 characters of Crockford base 32, in either case. Unlike the peer it refuses a
// text of more than 128 bits instead of dropping the excess.
func ParseULID(text string) (ulid.ULID, error) {
	parsed, err := ulid.ParseStrict(text)
	if err != nil {
		return ulid.ULID{}, fmt.Errorf("%s is not a ULID: %w", quoteBounded(text), err)
	}
	return parsed, nil
}

// quoteBounded quotes text for an error message and cuts it when it is long.
func quoteBounded(text string) string {
	const limit = 100
	if len(text) > limit {
		return fmt.Sprintf("%.*q (cut, %d bytes)", limit, text, len(text))
	}
	return fmt.Sprintf("%q", text)
}
