package segment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// Documents are the documents of one block, as their raw bytes:
//
//	documents   one after the other
//	u32 each    start of the document in the block; the last one ends where this table starts
//	u32         number of documents
type Documents struct {
	plain []byte
	table []byte
}

// Len returns the number of documents.
func (d Documents) Len() int { return len(d.table) / 4 }

// At returns the bytes of a document.
func (d Documents) At(i int) []byte {
	end := len(d.plain)
	if i+1 < d.Len() {
		end = int(binary.LittleEndian.Uint32(d.table[4*(i+1):]))
	}
	return d.plain[binary.LittleEndian.Uint32(d.table[4*i:]):end]
}

// Digest identifies a document: the first 128 bits of SHA-256 of its raw bytes.
type Digest [16]byte

// Digest returns the digest of a document.
func (d Documents) Digest(i int) Digest {
	sum := sha256.Sum256(d.At(i))
	return Digest(sum[:16])
}

// readAhead bounds what one request takes of several blocks, in bytes.
const readAhead = 8 << 20

// ReadBlocks reads the blocks [from, to), several with one request, and calls visit for each one in
// their order, with the checksum of its bytes in the file and its documents, which are valid until
// visit returns.
func (st *Store) ReadBlocks(ctx context.Context, from, to int, visit func(block int, checksum uint32, docs Documents) error) error {
	if from < 0 || from > to || to > len(st.Blocks) {
		return fmt.Errorf("blocks [%d,%d) are not of a store of %d", from, to, len(st.Blocks))
	}
	at := st.part.start + st.Size(0, from)
	for from < to {
		next, length := from+1, int64(st.Blocks[from].Size)
		for next < to && length+int64(st.Blocks[next].Size) <= readAhead {
			length += int64(st.Blocks[next].Size)
			next++
		}
		data, err := st.part.read(ctx, at, at+length)
		if err != nil {
			return err
		}
		for ; from < next; from++ {
			block := data[:st.Blocks[from].Size]
			docs, err := st.decode(block, at, int(st.Blocks[from].Docs))
			if err == nil {
				err = visit(from, crc32.ChecksumIEEE(block), docs)
			}
			if err != nil {
				return st.segment.named(err)
			}
			data, at = data[len(block):], at+int64(len(block))
		}
	}
	return nil
}

// decode returns the documents of a block of the file.
func (st *Store) decode(block []byte, offset int64, docs int) (Documents, error) {
	plain, err := st.decompress(block, offset)
	if err != nil {
		return Documents{}, err
	}
	return splitBlock(plain, offset, docs)
}

func (st *Store) decompress(block []byte, offset int64) ([]byte, error) {
	if st.Compression == Uncompressed {
		return block, nil
	}
	if len(block) < 4 {
		return nil, fault("store block", offset, number(len(block)), "bytes are too few for the length of the block")
	}
	length := int64(binary.LittleEndian.Uint32(block))
	if length > st.segment.limits.PlainBlock {
		return nil, fault("store block plain length", offset, number(length), "is more than the %d bytes that are allowed", st.segment.limits.PlainBlock)
	}
	var plain []byte
	var err error
	if st.Compression == LZ4 {
		plain, err = decodeLZ4(block[4:], int(length))
	} else {
		if st.decoder == nil {
			st.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(uint64(st.segment.limits.PlainBlock)))
			if err != nil {
				return nil, err
			}
		}
		// Memory is taken as the frame grows; what it says of itself may be a lie.
		plain, err = st.decoder.DecodeAll(block[4:], make([]byte, 0, min(length, 16*int64(len(block)))))
	}
	if err != nil {
		return nil, fault("store block", offset, "", "cannot be decompressed: %.200s", err.Error())
	}
	if int64(len(plain)) != length {
		return nil, fault("store block plain length", offset, number(length), "is not the %d bytes that the block has", len(plain))
	}
	return plain, nil
}

// splitBlock finds the documents in a plain block. offset is where the block is in the object.
func splitBlock(plain []byte, offset int64, docs int) (Documents, error) {
	if len(plain) < 4 {
		return Documents{}, fault("store block", offset, number(len(plain)), "bytes are too few for the number of documents")
	}
	count := binary.LittleEndian.Uint32(plain[len(plain)-4:])
	if int64(count) != int64(docs) {
		return Documents{}, fault("store block documents", offset, number(count), "are not the %d that the skip index says", docs)
	}
	tableAt := int64(len(plain)) - 4 - 4*int64(count)
	if tableAt < 0 {
		return Documents{}, fault("store block documents", offset, number(count), "are more than the block has room for")
	}
	d := Documents{plain: plain[:tableAt], table: plain[tableAt : len(plain)-4]}
	var last uint32
	for i := range d.Len() {
		start := binary.LittleEndian.Uint32(d.table[4*i:])
		if start < last || i == 0 && start != 0 || int64(start) > tableAt {
			return Documents{}, fault("store block document start", offset, number(start), "of document %d is out of order, or outside of the block", i)
		}
		last = start
	}
	return d, nil
}
