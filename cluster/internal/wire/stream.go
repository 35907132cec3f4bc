package wire

import (
	"encoding/binary"
	"fmt"
)

// A block stream carries content of any length in blocks, each one compressed by itself or not. A
// block is a tag and, but for the end, a length of two bytes and so many bytes. Items of the content
// may span blocks.
const (
	blockEnd  = 0
	blockZstd = 1
	blockRaw  = 2

	// blockSize is where the writer cuts the content, in bytes.
	blockSize = 16_384
	// blockHead is the size of a tag and a length.
	blockHead = 3
	// maxBlockOutput is the most that a block may decompress to, in bytes.
	maxBlockOutput = 65_535
	// minCompressed is the shortest block worth trying to compress, in bytes.
	minCompressed = 128
)

// stream reads a block stream up to its end mark and returns the content, which is valid until the
// next call. maxContent bounds it, in bytes.
func (c *Codec) stream(r *reader, maxContent int) []byte {
	content := c.content[:0]
	for block := 0; ; block++ {
		tag := r.u8()
		if r.err != nil || tag == blockEnd {
			break
		}
		if tag != blockZstd && tag != blockRaw {
			r.fail("tag is %d, must be at most %d", tag, blockRaw)
		}
		payload := r.take(int(r.u16()))
		if tag == blockZstd && r.err == nil {
			var err error
			if payload, err = c.decompress(payload); err != nil {
				r.fail("decompress %w", err)
			}
		}
		if len(content)+len(payload) > maxContent {
			r.fail("the content has more than %d bytes", maxContent)
		}
		r.within("block %d", block)
		content = append(content, payload...)
	}
	c.content = content
	if r.err != nil {
		return nil
	}
	return content
}

func (c *Codec) decompress(payload []byte) ([]byte, error) {
	output, err := c.decoder.DecodeAll(payload, c.block[:0])
	if err != nil {
		return nil, err
	}
	c.block = output
	if len(output) > maxBlockOutput {
		return nil, fmt.Errorf("to %d bytes, at most %d are allowed", len(output), maxBlockOutput)
	}
	return output, nil
}

// streamWriter writes a block stream.
type streamWriter struct {
	codec    *Codec
	finished []byte // blocks
	pending  []byte // content that is in no block yet, less than blockSize
}

// sizeWith is the most that the stream will take if n more bytes of content are written and no more.
func (w *streamWriter) sizeWith(n int) int {
	pending := len(w.pending) + n
	blocks := (pending + blockSize - 1) / blockSize
	return len(w.finished) + pending + blocks*blockHead + 1
}

func (w *streamWriter) write(content []byte) {
	w.pending = append(w.pending, content...)
	for len(w.pending) >= blockSize {
		w.cut(blockSize)
	}
}

// cut makes a block of the first n pending bytes.
func (w *streamWriter) cut(n int) {
	raw := w.pending[:n]
	tag, payload := byte(blockRaw), raw
	if n >= minCompressed {
		w.codec.block = w.codec.encoder.EncodeAll(raw, w.codec.block[:0])
		if len(w.codec.block) < n {
			tag, payload = blockZstd, w.codec.block
		}
	}
	w.finished = append(w.finished, tag)
	w.finished = binary.LittleEndian.AppendUint16(w.finished, uint16(len(payload)))
	w.finished = append(w.finished, payload...)
	w.pending = append(w.pending[:0], w.pending[n:]...)
}

// end returns the whole stream.
func (w *streamWriter) end() []byte {
	if len(w.pending) > 0 {
		w.cut(len(w.pending))
	}
	return append(w.finished, blockEnd)
}
