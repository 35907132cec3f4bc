package rpc

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// protoCodec encodes messages as grpc-go's own codec does, but with buffers in steps of two. The
// default pool has none between 32 KiB and 1 MiB, and clears the whole buffer for each message of a
// listing, of about 70 KiB.
type protoCodec struct {
	pool mem.BufferPool
}

func newProtoCodec() (*protoCodec, error) {
	pool, err := mem.NewBinaryTieredBufferPool(8, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22)
	if err != nil {
		return nil, fmt.Errorf("set up buffers for messages: %w", err)
	}
	return &protoCodec{pool: pool}, nil
}

// Name implements encoding.CodecV2.
func (c *protoCodec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (c *protoCodec) Marshal(v any) (mem.BufferSlice, error) {
	message, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("encode %T: no protobuf message", v)
	}
	size := proto.Size(message)
	options := proto.MarshalOptions{UseCachedSize: true}
	if mem.IsBelowBufferPoolingThreshold(size) {
		encoded, err := options.Marshal(message)
		return mem.BufferSlice{mem.SliceBuffer(encoded)}, err
	}
	buffer := c.pool.Get(size)
	if _, err := options.MarshalAppend((*buffer)[:0], message); err != nil {
		c.pool.Put(buffer)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buffer, c.pool)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (c *protoCodec) Unmarshal(data mem.BufferSlice, v any) error {
	message, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("decode %T: no protobuf message", v)
	}
	buffer := data.MaterializeToBuffer(c.pool)
	defer buffer.Free()
	return proto.Unmarshal(buffer.ReadOnlyData(), message)
}
