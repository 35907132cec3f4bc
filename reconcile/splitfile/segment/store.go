package segment

import (
	"context"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// Store is the document store of a segment: the documents in their order, in compressed blocks. Its body
// has
//
//	blocks       one after the other from offset 0
//	skip index   see parseSkipIndex
//	u32 version  1 or 2: dates in documents count microseconds or nanoseconds
//	u64          length of all blocks, the offset of the skip index
//	u8           compression
//	15 bytes     zero
type Store struct {
	Version     uint32
	Compression Compression
	// Blocks tile the documents and the block area.
	Blocks []Block
	// AreaChecksum is the CRC-32 of all blocks, one after the other, as they were written. It is known
	// without reading any: the checksum of the body and that of what lies behind the blocks give it.
	AreaChecksum uint32

	part    *component
	segment *Segment
	decoder *zstd.Decoder
}

// Block is a block of documents.
type Block struct {
	Docs uint32
	Size uint32 // bytes in the file, compressed
}

// Compression is how blocks are compressed. Its numbers are those of the format.
type Compression uint8

// The compressions that occur.
const (
	Uncompressed Compression = 0
	LZ4          Compression = 1 // u32 plain length, then one block without a frame
	Zstd         Compression = 4 // u32 plain length, then one frame
)

// storeFooterSize is the length of what lies behind the skip index.
const storeFooterSize = 28

// Store opens the document store: it reads the end of it, and once more if the skip index is long.
func (s *Segment) Store(ctx context.Context) (*Store, error) {
	part, err := s.component(ctx, ".store")
	if err != nil {
		return nil, err
	}
	store := &Store{part: part, segment: s}
	if err := store.open(ctx); err != nil {
		return nil, s.named(err)
	}
	return store, nil
}

func (st *Store) open(ctx context.Context) error {
	part := st.part
	if part.length() < storeFooterSize {
		return fault("store footer", part.start, number(part.length()), "bytes are too few for a document store")
	}
	footerAt := part.end - storeFooterSize
	footer, err := part.read(ctx, footerAt, part.end)
	if err != nil {
		return err
	}
	st.Version = binary.LittleEndian.Uint32(footer)
	area := binary.LittleEndian.Uint64(footer[4:])
	st.Compression = Compression(footer[12])
	if st.Version != 1 && st.Version != 2 {
		return fault("store version", footerAt, number(st.Version), "is neither 1 nor 2")
	}
	if area > uint64(part.length()-storeFooterSize) {
		return fault("store block area length", footerAt+4, number(area), "is more than the store has")
	}
	switch st.Compression {
	case Uncompressed, LZ4, Zstd:
	default:
		return fault("store compression", footerAt+12, number(st.Compression), "is not known")
	}
	indexAt := part.start + int64(area)
	if footerAt-indexAt > st.segment.limits.SkipIndex {
		return fault("store skip index length", indexAt, number(footerAt-indexAt), "is more than the %d bytes that are allowed", st.segment.limits.SkipIndex)
	}
	behind, err := part.read(ctx, indexAt, part.end)
	if err != nil {
		return err
	}
	index := behind[:len(behind)-storeFooterSize]
	if st.Blocks, err = parseSkipIndex(index, indexAt, st.segment.Meta.MaxDoc, int64(area), st.segment.limits.Block); err != nil {
		return err
	}
	st.AreaChecksum = ChecksumBefore(part.checksum, crc32.ChecksumIEEE(behind), int64(len(behind)))
	return nil
}

// Size returns the bytes of the blocks [from, to).
func (st *Store) Size(from, to int) int64 { return size(st.Blocks[from:to]) }

func size(blocks []Block) int64 {
	var bytes int64
	for _, b := range blocks {
		bytes += int64(b.Size)
	}
	return bytes
}
