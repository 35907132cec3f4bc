package metastore

import (
	"cmp"
	"strings"
)

// Position is how far a partition of a source, or a shard, has been consumed, as text: "" for the
// beginning, "~" for the end of what was empty, "~<offset>" for the end at an offset, anything else
// for an offset, inclusive.
type Position string

// Beginning is the position before everything.
const Beginning Position = ""

// IsEOF reports whether nothing follows the position.
func (p Position) IsEOF() bool { return strings.HasPrefix(string(p), "~") }

// Compare orders positions: the beginning, offsets, the end without offset, ends at an offset.
// Offsets are compared by the bytes of their text, never as numbers.
func (p Position) Compare(other Position) int {
	if order := cmp.Compare(p.rank(), other.rank()); order != 0 {
		return order
	}
	return cmp.Compare(p, other)
}

func (p Position) rank() int {
	switch {
	case p == Beginning:
		return 0
	case !p.IsEOF():
		return 1
	}
	return 2
}
