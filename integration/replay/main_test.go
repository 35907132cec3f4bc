package replay

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"holdfast/integration/loopback"
	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// serve starts a server over a store and returns a connection to it. Both end with the test.
func serve(t *testing.T, store metastore.Store) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(loopback.Serve(t, store, rpc.ServerOptions{}), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close connection: %v", err)
		}
	})
	return conn
}
