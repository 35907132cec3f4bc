package containment

import (
	"fmt"

	"holdfast/reconcile/splitfile/segment"
)

// store is the document store of an object, as far as it was read.
type store struct {
	firstDoc []int // of each block, and behind the last one
	blocks   []Block
	refused  bool
	unread   int  // blocks
	asked    bool // all of them are asked for
}

func (s *store) fill(o *Object, content *Content) error {
	s.firstDoc = make([]int, len(o.Blocks)+1)
	for j, b := range o.Blocks {
		s.firstDoc[j+1] = s.firstDoc[j] + int(b.Docs)
	}
	if uint64(s.firstDoc[len(o.Blocks)]) != o.NumDocs {
		return fmt.Errorf("decide containment: the blocks of split %s have %d documents of %d", o.ID, s.firstDoc[len(o.Blocks)], o.NumDocs)
	}
	s.unread = len(o.Blocks)
	if content == nil {
		return nil
	}
	s.blocks, s.refused = content.Blocks, content.Refused
	if s.blocks == nil {
		return nil
	}
	if len(s.blocks) != len(o.Blocks) {
		return fmt.Errorf("decide containment: the content of split %s has %d blocks of %d", o.ID, len(s.blocks), len(o.Blocks))
	}
	for j, b := range s.blocks {
		if b.Docs == nil {
			continue
		}
		if len(b.Docs) != int(o.Blocks[j].Docs) {
			return fmt.Errorf("decide containment: block %d of split %s has %d documents of %d", j, o.ID, len(b.Docs), o.Blocks[j].Docs)
		}
		s.unread--
	}
	return nil
}

func (s *store) has(block int) bool { return s.blocks != nil && s.blocks[block].Docs != nil }

// missing returns the blocks of [from, to) that were not read.
func (s *store) missing(from, to int) []int {
	var blocks []int
	for j := from; j < to; j++ {
		if !s.has(j) {
			blocks = append(blocks, j)
		}
	}
	return blocks
}

// hasAll says whether the blocks of [from, to) were read.
func (s *store) hasAll(from, to int) bool {
	if s.unread == 0 {
		return true
	}
	for j := from; j < to; j++ {
		if !s.has(j) {
			return false
		}
	}
	return true
}

// first returns the first document; all blocks were read, and there is one.
func (s *store) first() segment.Digest {
	for _, b := range s.blocks {
		if len(b.Docs) > 0 {
			return b.Docs[0]
		}
	}
	return segment.Digest{}
}

// docs returns the documents of the blocks [from, to), all of which were read.
func (s *store) docs(from, to int) []segment.Digest {
	docs := make([]segment.Digest, 0, s.firstDoc[to]-s.firstDoc[from])
	for j := from; j < to; j++ {
		docs = append(docs, s.blocks[j].Docs...)
	}
	return docs
}

// all returns all documents; all blocks were read.
func (s *store) all() []segment.Digest { return s.docs(0, len(s.firstDoc)-1) }
