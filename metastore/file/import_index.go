package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/internal/losses"
)

// PeerDocument is the document that Quickwit keeps of an index, "<index id>/metastore.json".
type PeerDocument struct {
	// IndexID is the name of its directory.
	IndexID string
	// Open opens it from its beginning. It is called more than once.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Now is what a time of creation that is missing is taken for, in seconds.
	Now int64
}

// IndexContent says how much belongs to an index.
type IndexContent struct {
	IndexUID      metastore.IndexUID
	Staged        uint64
	Published     uint64
	Marked        uint64
	Sources       int
	Shards        int
	DeleteTasks   int
	MetricsSplits int
	SketchSplits  int
}

// ImportedIndex says what an import of an index found.
type ImportedIndex struct {
	IndexContent
	// Version is that of the document: 0.9, 0.8, 0.7 or V0_8.
	Version string
	// Dropped is what the document says and the store does not, nil if that is nothing.
	Dropped []Loss
	// Existed is true if the store had exactly this index, so that nothing was written.
	Existed bool
}

// Loss is what a document says, once or many times, and what is written in its place does not.
type Loss = losses.Loss

// The reasons of losses.
const (
	LeftOut  = losses.LeftOut
	Repeated = losses.Repeated
	Changed  = losses.Changed
)

var (
	// ErrIndexDiffers says that the store has an index of this id, and not that of the document.
	ErrIndexDiffers = errors.New("the store has an index of this id that differs")
	// ErrPeerDocument says that a document of Quickwit's cannot be understood.
	ErrPeerDocument = errors.New("the document cannot be understood")
	// ErrPeerDocumentChanged says that a document was not the same when it was read again.
	ErrPeerDocumentChanged = errors.New("the document changed while it was read, or was not stored as it is")
)

// ReadPeerDocument reads and checks a document of Quickwit's and writes nothing. It fails with ErrPeerDocument.
func ReadPeerDocument(ctx context.Context, document PeerDocument) (ImportedIndex, error) {
	var lost losses.Ledger
	p, err := openPeerDocument(ctx, document, &lost)
	if err != nil {
		return ImportedIndex{}, err
	}
	return p.describe(&lost), nil
}

// ImportIndex brings an index of Quickwit's into the store, with its UID, its times and all that belongs to it. Nobody sees
// the index before all of it is written, and was read back and compared with the document, document by document. An import
// that was killed may be repeated.
//
// It fails with ErrIndexDiffers, ErrPeerDocument or ErrPeerDocumentChanged, and then changes nothing.
func (s *Store) ImportIndex(ctx context.Context, document PeerDocument) (ImportedIndex, error) {
	indexID := document.IndexID
	if err := indexconfig.ValidateIndexID(indexID); err != nil {
		return ImportedIndex{}, fmt.Errorf("%w: %w", ErrPeerDocument, err)
	}
	log, done := s.logs.use(indexID)
	defer done()
	defer log.forget()
	h, err := log.advance(ctx)
	if err != nil {
		return ImportedIndex{}, err
	}
	if h.state.index != nil {
		return existingIndex(ctx, h.state, document)
	}
	var lost losses.Ledger
	p, err := openPeerDocument(ctx, document, &lost)
	if err != nil {
		return ImportedIndex{}, err
	}
	imported := p.describe(&lost)
	p.state.dropped, p.state.records = h.state.dropped, h.state.records
	p.state.deleteTasks.raised = h.state.floorOf(p.state.index.IndexUID)
	next := &head[*indexState]{version: h.version + 1, writeID: uuid.New(), state: p.state}
	p = nil // the state is read back into the room of this one
	if err := log.writeImport(ctx, next); err != nil {
		return ImportedIndex{}, err
	}
	next.state = nil
	if err := s.commitImport(ctx, log, h, next, document); err != nil {
		// Nothing refers to the object. What cannot be removed now is removed with the entries before its version.
		_ = log.env.bucket.Delete(context.WithoutCancel(ctx), log.keys.imported(next.version, next.writeID))
		return ImportedIndex{}, err
	}
	return imported, nil
}

// commitImport checks what was written and makes it the next version of the log. The id is in the root log
// first, as when an index is created.
func (s *Store) commitImport(ctx context.Context, log *commitLog[*indexState], base, next *head[*indexState], document PeerDocument) error {
	indexID := document.IndexID
	written, err := log.readImport(ctx, next.version, next.writeID)
	if err != nil {
		return err
	}
	if err := compareWithDocument(ctx, written.state, document, nil); err != nil {
		if errors.Is(err, errDiffers) {
			return fmt.Errorf("%w: %w", ErrPeerDocumentChanged, err)
		}
		return err
	}
	add := addIndexOp{rootIndex{indexID: indexID, generation: ulid.Make()}}
	err = s.root.submit(ctx, 2*len(indexID), func(*rootState, uint64, bool) ([]op, error) { return []op{add}, nil })
	if err != nil {
		return err
	}
	e := &entry{version: next.version, writeID: next.writeID, time: s.env.clock().Unix(), ops: []op{importOp{written.state.index.IndexUID}}}
	won, err := log.put(ctx, base, e, e.append(nil))
	if err == nil && !won {
		err = metastore.Unavailable(nil, "importing index %q: somebody else changed it at the same time", indexID)
	}
	return err
}

// existingIndex says whether the store has what a document holds.
func existingIndex(ctx context.Context, s *indexState, document PeerDocument) (ImportedIndex, error) {
	var lost losses.Ledger
	err := compareWithDocument(ctx, s, document, &lost)
	if errors.Is(err, errDiffers) {
		return ImportedIndex{}, fmt.Errorf("%w: %w", ErrIndexDiffers, err)
	}
	if err != nil {
		return ImportedIndex{}, err
	}
	return ImportedIndex{IndexContent: s.content(), Dropped: lost.Losses(), Existed: true}, nil
}

func openPeerDocument(ctx context.Context, document PeerDocument, lost *losses.Ledger) (*peerDocument, error) {
	var p *peerDocument
	err := withPeerDocument(ctx, document, func(r io.Reader) (err error) {
		p, err = readPeerDocument(r, document.IndexID, document.Now, nil, lost)
		return err
	})
	return p, err
}

func compareWithDocument(ctx context.Context, s *indexState, document PeerDocument, lost *losses.Ledger) error {
	return withPeerDocument(ctx, document, func(r io.Reader) error {
		return comparePeerDocument(r, document.IndexID, document.Now, s, lost)
	})
}

// withPeerDocument reads a document. Failures of its storage are returned as they are, and what is wrong with
// the document itself is ErrPeerDocument.
func withPeerDocument(ctx context.Context, document PeerDocument, read func(io.Reader) error) error {
	r, err := document.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	tracked := &trackedReader{r: r}
	err = read(bufio.NewReaderSize(tracked, 256<<10))
	switch {
	case tracked.err != nil:
		return tracked.err
	case err != nil && !errors.Is(err, errDiffers):
		return fmt.Errorf("%w: %w", ErrPeerDocument, err)
	}
	return err
}

func (p *peerDocument) describe(lost *losses.Ledger) ImportedIndex {
	return ImportedIndex{IndexContent: p.state.content(), Version: p.version, Dropped: lost.Losses()}
}

// content counts what belongs to the index of a state that has one.
func (s *indexState) content() IndexContent {
	deleteTasks := 0
	s.deleteTasks.above(0, func(*metastore.DeleteTask) bool {
		deleteTasks++
		return true
	})
	return IndexContent{
		IndexUID:      s.index.IndexUID,
		Staged:        s.splits.stats[metastore.Staged].NumSplits,
		Published:     s.splits.stats[metastore.Published].NumSplits,
		Marked:        s.splits.stats[metastore.MarkedForDeletion].NumSplits,
		Sources:       len(s.index.Sources),
		Shards:        s.shards.len(),
		DeleteTasks:   deleteTasks,
		MetricsSplits: s.parquet[metastore.MetricsSplits].len(),
		SketchSplits:  s.parquet[metastore.SketchSplits].len(),
	}
}

// forget frees the state; it is loaded again when it is needed.
func (l *commitLog[S]) forget() {
	l.advancing.Lock()
	defer l.advancing.Unlock()
	l.current.Store(nil)
}
