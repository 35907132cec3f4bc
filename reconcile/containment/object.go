package containment

import (
	"crypto/sha256"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile/segment"
)

// Object is one split file, with what its segment says without reading a document.
type Object struct {
	// ID is the split id. Never empty, unique among the objects.
	ID string
	// Made is the time in the id, in milliseconds: the clock of the node that drew it.
	Made metastore.Optional[int64]
	// Born is the later one of the times at which the file was made and written, in unix seconds.
	Born int64

	NumDocs      uint64
	Blocks       []segment.Block
	AreaChecksum uint32
	Compression  segment.Compression
	Origin       segment.Origin
	Opstamp      uint64
	Schema       [sha256.Size]byte

	// What follows only rules out what cannot be; what is not known rules out nothing.

	TimeRange metastore.Optional[metastore.TimeRange] // seconds
	Tags      []string                                // sorted
	Partition metastore.Optional[uint64]

	// Entry is set for files with a recovery entry, whose lineage is known. Between two of them nothing
	// is compared.
	Entry bool
	// Parents are those that the entry lists.
	Parents []string
	// State is what is decided about the object already.
	State State
}

// State is what is known of an object before its content is looked at.
type State uint8

const (
	// Open: it is to be decided. For a file with an entry this means that it is live, unless content
	// proves that another one holds it.
	Open State = iota
	// Closed: it was replaced, as a list or a row says. It gets no row, but what it holds was replaced
	// before it.
	Closed
)

// Block is what was read of a block.
type Block struct {
	Checksum uint32
	Docs     []segment.Digest // nil if the block was not read
}

// Content is what was read of one object.
type Content struct {
	// Blocks is nil if nothing was read, else as long as Object.Blocks.
	Blocks []Block
	// Refused says that no more is going to be read: it would cost too much, or it cannot be read.
	Refused bool
}

// Need is content that would decide something.
type Need struct {
	ID     string
	Blocks []int // sorted
	Bytes  int64
}

func (o *Object) merged() bool { return o.Origin != segment.Indexed }
