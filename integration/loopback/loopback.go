// Package loopback serves stores over gRPC on this machine, for tests.
package loopback

import (
	"context"
	"net"
	"testing"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// Serve serves a store on a TCP port of its own and returns the address. When the test ends, behind what is cleaned up
// that was registered later, the server gets ten seconds to finish its calls. The store stays open.
func Serve(tb testing.TB, store metastore.Store, options rpc.ServerOptions) (address string) {
	tb.Helper()
	server, err := rpc.NewServer(store, options)
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Drain(ctx); err != nil {
			tb.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return listener.Addr().String()
}
