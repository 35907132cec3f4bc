package node_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/cluster"
	"holdfast/cmd/metastore/internal/node"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/rpc"
)

const gossipInterval = 200 * time.Millisecond

func join(t *testing.T, options cluster.Options) *cluster.Member {
	t.Helper()
	options.Listen = netip.MustParseAddrPort("127.0.0.1:0")
	options.Interval = gossipInterval
	member, err := cluster.Start(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, member.Close()) })
	return member
}

// observer is a member that only looks on.
func observer(t *testing.T) *cluster.Member {
	t.Helper()
	return join(t, cluster.Options{NodeID: "observer", GRPCAddress: netip.MustParseAddrPort("127.0.0.1:1")})
}

// startMember runs a node that joins the cluster of the observer.
func startMember(t *testing.T, seed *cluster.Member) *running {
	t.Helper()
	r := &running{signals: make(chan os.Signal, 2), done: make(chan error, 1), logs: &logs{}}
	serving := make(chan struct{})
	options := node.Options{
		Open: func(ctx context.Context) (metastore.Store, error) {
			return file.Open(ctx, file.Options{URL: "mem://"})
		},
		StoreName:    "test",
		Listen:       "127.0.0.1:0",
		DrainTimeout: patience,
		Logger:       slog.New(slog.NewTextHandler(r.logs, nil)),
		Signals:      r.signals,
		Serving: func(grpc, _ net.Addr) {
			r.grpc = grpc.String()
			close(serving)
		},
		Join: func(grpc net.Addr) (*cluster.Member, error) {
			return cluster.Start(cluster.Options{
				Listen:      netip.MustParseAddrPort("127.0.0.1:0"),
				GRPCAddress: netip.MustParseAddrPort(grpc.String()),
				Seeds:       []string{seed.GossipAddress().String()},
				Interval:    gossipInterval,
			})
		},
	}
	go func() { r.done <- node.Run(context.Background(), options) }()
	select {
	case <-serving:
	case err := <-r.done:
		t.Fatalf("the node ended: %v", err)
	case <-time.After(patience):
		t.Fatal("the node does not serve")
	}
	return r
}

// pool returns the addresses that nodes of the cluster would send calls to.
func pool(seen *cluster.Member) map[string]bool {
	addresses := make(map[string]bool)
	for _, member := range seen.Members() {
		if member.Live && member.Ready && member.IsMetastore() {
			addresses[member.GRPCAddress] = true
		}
	}
	return addresses
}

func waitForPool(t *testing.T, seen *cluster.Member, addresses ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		found := pool(seen)
		for _, address := range addresses {
			if !found[address] {
				return false
			}
		}
		return len(found) == len(addresses)
	}, patience, 5*time.Millisecond)
}

func TestNodeJoinsTheClusterWhenItServesAndLeavesBeforeItStops(t *testing.T) {
	t.Parallel()
	seen := observer(t)
	first, second := startMember(t, seen), startMember(t, seen)
	waitForPool(t, seen, first.grpc, second.grpc)

	// Calls go to whoever is in the pool, all the time that one node stops. None may fail.
	clients := make(map[string]*rpc.Client)
	for _, address := range []string{first.grpc, second.grpc} {
		client, err := rpc.Dial(address, rpc.ClientOptions{RetryAttempts: 1})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		clients[address] = client
	}
	stop := make(chan struct{})
	calls := make(chan error, 1)
	go func() {
		defer close(calls)
		for {
			for address := range pool(seen) {
				if err := clients[address].CheckConnectivity(context.Background()); err != nil {
					calls <- err
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	first.signals <- syscall.SIGTERM
	require.NoError(t, first.wait(t))
	require.Equal(t, map[string]bool{second.grpc: true}, pool(seen))
	close(stop)
	require.NoError(t, <-calls)

	second.signals <- syscall.SIGTERM
	require.NoError(t, second.wait(t))
	require.Empty(t, pool(seen))
}

func TestSecondSignalDoesNotWaitForTheCluster(t *testing.T) {
	t.Parallel()
	seen := observer(t)
	n := startMember(t, seen)
	waitForPool(t, seen, n.grpc)
	n.signals <- syscall.SIGTERM
	n.signals <- syscall.SIGTERM
	if err := n.wait(t); err != nil {
		require.ErrorIs(t, err, node.ErrStoppedAtOnce)
	}
}

func TestNodeThatCannotJoinDoesNotStart(t *testing.T) {
	t.Parallel()
	err := node.Run(t.Context(), node.Options{
		Open: func(ctx context.Context) (metastore.Store, error) {
			return file.Open(ctx, file.Options{URL: "mem://"})
		},
		Listen: "127.0.0.1:0",
		Logger: slog.New(slog.DiscardHandler),
		Join: func(net.Addr) (*cluster.Member, error) {
			return cluster.Start(cluster.Options{Listen: netip.MustParseAddrPort("0.0.0.0:0"), GRPCAddress: netip.MustParseAddrPort("127.0.0.1:1")})
		},
	})
	require.ErrorContains(t, err, "join the cluster")
	require.ErrorContains(t, err, "gossip address to announce")
}
