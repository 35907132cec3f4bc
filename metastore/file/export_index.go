package file

import (
	"context"
	"errors"
	"io"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// ExportedIndex is the state of an index at one instant, on its way to Quickwit.
type ExportedIndex struct {
	IndexContent
	// Records is how many idempotency records of the index there are, which have no place in Quickwit's document.
	Records int
	// LastOpstamp is that of the last delete task, above which Quickwit counts on. OpstampFloor, if it is higher, is what new delete
	// tasks are above here, which has no place in Quickwit's document either.
	LastOpstamp, OpstampFloor uint64

	state *indexState
}

// ExportIndex returns the state of an index. It fails with NotFound if there is none.
func (s *Store) ExportIndex(ctx context.Context, indexID string) (*ExportedIndex, error) {
	notFound := metastore.NotFound(metastore.IndexEntity(indexID))
	if indexconfig.ValidateIndexID(indexID) != nil {
		return nil, notFound
	}
	log, done := s.logs.use(indexID)
	defer done()
	defer log.forget()
	h, err := log.advance(ctx)
	if err != nil {
		return nil, err
	}
	if h.state.index == nil {
		return nil, notFound
	}
	return &ExportedIndex{
		IndexContent: h.state.content(),
		Records:      h.state.records.len(),
		LastOpstamp:  h.state.deleteTasks.last(), OpstampFloor: h.state.deleteTasks.floor(),
		state: h.state,
	}, nil
}

// WriteTo writes the document that Quickwit keeps of an index, of version 0.9.
func (e *ExportedIndex) WriteTo(w io.Writer) (int64, error) {
	counter := &countingWriter{w: w}
	err := writePeerDocument(counter, e.state)
	return counter.n, err
}

// Compare reads a document of Quickwit's and compares it with the state, document by document. It
// reports whether they hold the same, and fails with ErrPeerDocument if the document cannot be understood.
func (e *ExportedIndex) Compare(ctx context.Context, document PeerDocument) (same bool, err error) {
	err = compareWithDocument(ctx, e.state, document, nil)
	if errors.Is(err, errDiffers) {
		return false, nil
	}
	return err == nil, err
}
