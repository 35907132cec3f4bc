package postgres

import (
	"context"
	"fmt"
	"testing"

	"holdfast/integration/loopback"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// BenchmarkStageThroughGRPC stages through a server and a client on this machine, beside the store alone.
func BenchmarkStageThroughGRPC(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("splits=%d", size), func(b *testing.B) {
			calls := map[int]int{1: 800, 100: 48, 1000: 16}[size]
			served, servedUID := benchStore(b, Options{})
			client := overLoopback(b, served, rpc.ClientOptions{})
			alone, aloneUID := benchStore(b, Options{})
			compare(b, size, calls,
				&contender{name: "grpc", work: func(int) error {
					_, err := client.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: servedUID, Splits: batch(size)})
					return err
				}},
				&contender{name: "alone", work: func(int) error { return stageBatch(alone, aloneUID, batch(size), false) }},
			)
		})
	}
}

// BenchmarkStageThroughGRPCWithKeys compares clients with and without idempotency keys.
func BenchmarkStageThroughGRPCWithKeys(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("splits=%d", size), func(b *testing.B) {
			calls := map[int]int{1: 800, 100: 48, 1000: 16}[size]
			stage := func(options rpc.ClientOptions) func(int) error {
				store, uid := benchStore(b, Options{})
				client := overLoopback(b, store, options)
				return func(int) error {
					_, err := client.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(size)})
					return err
				}
			}
			compare(b, size, calls,
				&contender{name: "keyed", work: stage(rpc.ClientOptions{})},
				&contender{name: "plain", work: stage(rpc.ClientOptions{NoIdempotencyKeys: true})},
			)
		})
	}
}

// overLoopback serves a store on a TCP port of its own and dials it.
func overLoopback(b *testing.B, store metastore.Store, options rpc.ClientOptions) *rpc.Client {
	b.Helper()
	client, err := rpc.Dial(loopback.Serve(b, store, rpc.ServerOptions{}), options)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}
