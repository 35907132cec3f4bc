package segmenttest

import (
	"cmp"
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"

	"holdfast/reconcile/splitfile/segment"
)

func (s *Split) blockSize() int { return cmp.Or(s.BlockSize, 1_000_000) }

// blockWriter fills the blocks of a split.
type blockWriter struct {
	split *Split
	open  []Document
	size  int
}

func (w *blockWriter) add(doc Document) {
	w.open = append(w.open, doc)
	if w.size += len(doc.Raw) + 8; w.size > w.split.blockSize() {
		w.close()
	}
}

func (w *blockWriter) close() {
	if len(w.open) > 0 {
		w.split.Blocks = append(w.split.Blocks, Block{Docs: w.open, Bytes: w.compress(plainBlock(w.open))})
	}
	w.open, w.size = nil, 0
}

// append adds the documents of a parent, whose blocks are copied if there are enough of them.
func (w *blockWriter) append(parent *Split) {
	if len(parent.Blocks) >= stackFrom && parent.Compression == w.split.Compression {
		w.close()
		w.split.Blocks = append(w.split.Blocks, parent.Blocks...)
		return
	}
	for _, doc := range parent.Docs() {
		w.add(doc)
	}
}

func plainBlock(docs []Document) []byte {
	var plain, table []byte
	for _, doc := range docs {
		table = binary.LittleEndian.AppendUint32(table, uint32(len(plain)))
		plain = append(plain, doc.Raw...)
	}
	return binary.LittleEndian.AppendUint32(append(plain, table...), uint32(len(docs)))
}

func (w *blockWriter) compress(plain []byte) []byte {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(plain)))
	switch w.split.Compression {
	case segment.Uncompressed:
		return plain
	case segment.LZ4:
		return append(head, EncodeLZ4(plain)...)
	default:
		return encoder().EncodeAll(plain, head)
	}
}

// encoder is shared, as making one costs far more than a block.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic("segmenttest: " + err.Error())
	}
	return e
})

// EncodeLZ4 writes one LZ4 block without a frame, with a copy wherever the bytes that follow occurred a
// little before.
func EncodeLZ4(plain []byte) []byte {
	var block, literals []byte
	sequence := func(distance, match int) {
		nibble := func(n int) (byte, []byte) {
			if n < 15 {
				return byte(n), nil
			}
			var more []byte
			for n -= 15; n >= 255; n -= 255 {
				more = append(more, 255)
			}
			return 15, append(more, byte(n))
		}
		high, moreLiterals := nibble(len(literals))
		low, moreMatch := nibble(max(match-4, 0))
		block = append(append(append(block, high<<4|low), moreLiterals...), literals...)
		if match > 0 {
			block = append(append(block, byte(distance), byte(distance>>8)), moreMatch...)
		}
		literals = nil
	}
	const window = 64
	for i := 0; i < len(plain); {
		best, distance := 0, 0
		for d := 1; d <= min(window, i); d++ {
			n := 0
			for i+n < len(plain)-1 && plain[i+n] == plain[i+n-d] {
				n++
			}
			if n > best {
				best, distance = n, d
			}
		}
		if best < 4 {
			literals, i = append(literals, plain[i]), i+1
			continue
		}
		sequence(distance, best)
		i += best
	}
	sequence(0, 0)
	return block
}
