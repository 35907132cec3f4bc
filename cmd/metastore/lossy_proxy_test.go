package main

import (
	"context"
	"fmt"
	"net"
	"path"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// lossyProxy passes calls that are no streams on to a server, and loses some of them.
type lossyProxy struct {
	upstream *grpc.ClientConn
	// lose says of a call, given how many of its RPC came before, what becomes of it.
	lose func(operation string, before int) loss

	mu    sync.Mutex
	calls map[string]int
}

// loss is what becomes of a call.
type loss int

const (
	nothingLost loss = iota
	requestLost      // the server never sees the call
	answerLost       // the server executes the call
)

// proxy starts a proxy before a server.
func (s *server) proxy(t *testing.T, lose func(operation string, before int) loss) *server {
	t.Helper()
	upstream, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(frameCodec{})))
	require.NoError(t, err)
	p := &lossyProxy{upstream: upstream, lose: lose, calls: map[string]int{}}
	proxy := grpc.NewServer(grpc.ForceServerCodecV2(frameCodec{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error { return p.pass(stream) }))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(listener) }()
	t.Cleanup(func() {
		proxy.Stop()
		require.NoError(t, <-served)
		require.NoError(t, upstream.Close())
	})
	return &server{grpc: listener.Addr().String()}
}

func (p *lossyProxy) pass(stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var request, answer frame
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	fate := p.fate(path.Base(method))
	if fate == requestLost {
		return status.Error(codes.Unavailable, "the connection was lost")
	}
	incoming, _ := metadata.FromIncomingContext(stream.Context())
	outgoing := metadata.MD{}
	outgoing.Set("idempotency-key", incoming.Get("idempotency-key")...)
	var header, trailer metadata.MD
	err := p.upstream.Invoke(metadata.NewOutgoingContext(context.WithoutCancel(stream.Context()), outgoing), method, &request, &answer, grpc.Header(&header), grpc.Trailer(&trailer))
	if fate == answerLost {
		return status.Error(codes.Unavailable, "the connection was lost")
	}
	header.Delete("content-type")
	if headerErr := stream.SetHeader(header); headerErr != nil {
		return headerErr
	}
	stream.SetTrailer(trailer)
	if err != nil {
		return err
	}
	return stream.SendMsg(&answer)
}

func (p *lossyProxy) fate(operation string) loss {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.calls[operation]
	p.calls[operation]++
	return p.lose(operation, before)
}

// frame is a message that is not decoded.
type frame struct{ bytes []byte }

// frameCodec passes messages on as they are.
type frameCodec struct{}

func (frameCodec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("%T is no frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.bytes)}, nil
}

func (frameCodec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("%T is no frame", v)
	}
	f.bytes = data.Materialize()
	return nil
}

func (frameCodec) Name() string { return "proto" }
