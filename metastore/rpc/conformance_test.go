package rpc_test

import (
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/metastore/storetest"
)

func TestTheClientIsAStore(t *testing.T) {
	storetest.Run(t, storetest.Profile{CreateTimestamp: storetest.PayloadCreateTimestamp, CutsErrors: true}, func(t *testing.T) metastore.Store {
		// What the suite does at once must neither be refused nor wait long on a busy machine.
		b := serve(t, memStore(t), rpc.ServerOptions{MaxConcurrentRequests: 10_000, RequestTimeout: testTimeout})
		return b.client(rpc.ClientOptions{CallTimeout: testTimeout})
	})
}
