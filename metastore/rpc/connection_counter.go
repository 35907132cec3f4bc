package rpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// connectionCounter counts the connections of a client that were opened and closed, so that what was
// learnt about a server can be forgotten with the connection to it.
type connectionCounter struct {
	changes atomic.Uint64
}

// HandleConn implements stats.Handler.
func (c *connectionCounter) HandleConn(_ context.Context, event stats.ConnStats) {
	switch event.(type) {
	case *stats.ConnBegin, *stats.ConnEnd:
		c.changes.Add(1)
	}
}

// TagConn implements stats.Handler.
func (c *connectionCounter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return ctx
}

// TagRPC implements stats.Handler.
func (c *connectionCounter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return ctx
}

// HandleRPC implements stats.Handler.
func (c *connectionCounter) HandleRPC(context.Context, stats.RPCStats) {}
