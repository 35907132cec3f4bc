package rpc

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
)

// Peers may compress messages with zstd; grpc-go answers a request with the compression that it
// came with, so nothing is compressed unless the client does it.
func init() {
	encoding.RegisterCompressor(&zstdCompressor{})
}

// maxZstdWindow bounds the memory that one compressed message can make us reserve before the limit
// on its size applies.
const maxZstdWindow = 8 << 20

// zstdCompressor is the message encoding "zstd". The zero value is ready to use.
type zstdCompressor struct {
	encoders, decoders sync.Pool
}

func (c *zstdCompressor) Name() string { return "zstd" }

func (c *zstdCompressor) Compress(w io.Writer) (io.WriteCloser, error) {
	encoder, ok := c.encoders.Get().(*zstd.Encoder)
	if !ok {
		var err error
		if encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
			return nil, err
		}
	}
	encoder.Reset(w)
	return &pooledEncoder{Encoder: encoder, pool: &c.encoders}, nil
}

type pooledEncoder struct {
	*zstd.Encoder
	pool *sync.Pool
}

func (e *pooledEncoder) Close() error {
	err := e.Encoder.Close()
	e.Reset(nil)
	e.pool.Put(e.Encoder)
	return err
}

func (c *zstdCompressor) Decompress(r io.Reader) (io.Reader, error) {
	decoder, ok := c.decoders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
	}
	if err := decoder.Reset(r); err != nil {
		c.decoders.Put(decoder)
		return nil, err
	}
	return &pooledDecoder{decoder: decoder, pool: &c.decoders}, nil
}

// pooledDecoder gives its decoder back at the end of the message. One whose message fails earlier is
// left to the garbage collector.
type pooledDecoder struct {
	decoder *zstd.Decoder
	pool    *sync.Pool
}

func (d *pooledDecoder) Read(p []byte) (int, error) {
	if d.decoder == nil {
		return 0, io.EOF
	}
	n, err := d.decoder.Read(p)
	if err == io.EOF {
		_ = d.decoder.Reset(nil)
		d.pool.Put(d.decoder)
		d.decoder = nil
	}
	return n, err
}
