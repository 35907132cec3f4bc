package file

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"holdfast/metastore"
	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

// errDiffers says that a document of the peer's and a state do not hold the same.
var errDiffers = errors.New("they do not hold the same")

// comparePeerDocument reads a document of Quickwit's and compares it with a state that has the index, document by document. It
// fails with errDiffers, or with what is wrong with the document. Splits are read one by one and not kept. What the document
// says and the state does not is counted in lost, if that is not nil.
func comparePeerDocument(r io.Reader, indexID string, now int64, s *indexState, lost *losses.Ledger) error {
	c := &splitComparison{state: s, matched: make(map[*splitRecord]struct{}, s.splits.len())}
	p, err := readPeerDocument(r, indexID, now, c, lost)
	if err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	return compareMembers(p.state, s)
}

// splitComparison compares the splits of a document with those of a state. A document may hold a split more than once, and the
// last one counts; so a split that differs is forgiven when it comes again and does not.
type splitComparison struct {
	state    *indexState
	matched  map[*splitRecord]struct{}
	differs  []string // ids
	theirs   []byte
	ours     []byte
	document []byte
}

func (c *splitComparison) take(text []byte) (again bool, err error) {
	row, err := metastore.ParseSplitRow(text)
	if err != nil {
		return false, err
	}
	metadata, err := metastore.ParseSplitMetadata([]byte(row.Document))
	if err != nil {
		return false, err
	}
	id := metadata.SplitID
	record := c.state.splits.get(id)
	if record == nil {
		return false, fmt.Errorf("%w: split %s is missing", errDiffers, strictjson.Quote(id))
	}
	c.theirs = row.AppendJSON(c.theirs[:0])
	var ours metastore.SplitRow
	ours, c.document = record.row(c.document)
	c.ours = ours.AppendJSON(c.ours[:0])
	_, again = c.matched[record]
	again = again || slices.Contains(c.differs, id)
	if !bytes.Equal(c.theirs, c.ours) {
		delete(c.matched, record)
		c.differs = append(c.differs, id)
		if len(c.differs) > maxDiffering {
			return again, fmt.Errorf("%w: more than %d splits differ, among them %s", errDiffers, maxDiffering, strictjson.Quote(id))
		}
		return again, nil
	}
	c.matched[record] = struct{}{}
	c.differs = slices.DeleteFunc(c.differs, func(differing string) bool { return differing == id })
	return again, nil
}

func (c *splitComparison) appendLast(dst []byte) []byte { return append(dst, c.theirs...) }

// maxDiffering bounds how many splits are remembered that may come again.
const maxDiffering = 1000

func (c *splitComparison) finish() error {
	if len(c.differs) > 0 {
		return fmt.Errorf("%w: split %s differs", errDiffers, strictjson.Quote(c.differs[0]))
	}
	if left := c.state.splits.len() - len(c.matched); left > 0 {
		return fmt.Errorf("%w: %d splits are too many", errDiffers, left)
	}
	return nil
}

// compareMembers compares everything but the splits, as it would be written.
func compareMembers(theirs, ours *indexState) error {
	withoutSplits := ours.fork()
	withoutSplits.splits = newSplitSet()
	digests := [2][]byte{}
	for i, s := range []*indexState{theirs, withoutSplits} {
		hash := sha256.New()
		if err := writePeerDocument(hash, s); err != nil {
			return err
		}
		digests[i] = hash.Sum(nil)
	}
	if bytes.Equal(digests[0], digests[1]) {
		return nil
	}
	if !bytes.Equal(theirs.index.AppendJSON(nil), ours.index.AppendJSON(nil)) {
		return fmt.Errorf("%w: the configuration, the sources or the checkpoint of the index differ", errDiffers)
	}
	return fmt.Errorf("%w: shards, delete tasks, Parquet splits or members that are not known differ", errDiffers)
}
