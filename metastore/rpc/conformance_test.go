package rpc_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/rpc"
	"holdfast/metastore/storetest"
)

func TestTheClientIsAStore(t *testing.T) {
	beneath := memStore(t)
	profile := storetest.Profile{CreateTimestamp: storetest.PayloadCreateTimestamp, CutsErrors: true}
	profile.CreateWithShards = func(t *testing.T, _ metastore.Store, metadata *metastore.IndexMetadata, shards []metastore.Shard) {
		text := storetest.PeerDocument(metadata, shards)
		_, err := beneath.(*file.Store).ImportIndex(t.Context(), file.PeerDocument{IndexID: metadata.IndexUID.IndexID, Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}})
		if err != nil {
			t.Fatalf("import: %v", err)
		}
	}
	storetest.Run(t, profile, func(t *testing.T) metastore.Store {
		// What the suite does at once must neither be refused nor wait long on a busy machine.
		b := serve(t, beneath, rpc.ServerOptions{MaxConcurrentRequests: 10_000, RequestTimeout: testTimeout})
		return b.client(rpc.ClientOptions{CallTimeout: testTimeout})
	})
}
