package wire

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxDigestContent bounds a compressed digest, in bytes: some 20,000 members.
	maxDigestContent = 1 << 20
	// maxDeltaContent bounds a delta, in bytes. It is generous: a delta that were refused would be sent
	// again for ever.
	maxDeltaContent = 8 << 20
)

// Codec reads and writes datagrams. It holds the compressors and is not for concurrent use. Make one
// with NewCodec.
type Codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder

	// Scratch memory.
	content []byte
	block   []byte
}

// NewCodec makes a codec.
func NewCodec() (*Codec, error) {
	// Frames without checksum and with their size are what other members are known to accept.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make the zstd compressor: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlockOutput))
	if err != nil {
		return nil, fmt.Errorf("make the zstd decompressor: %w", err)
	}
	return &Codec{encoder: encoder, decoder: decoder}, nil
}
