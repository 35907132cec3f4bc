package cluster

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"holdfast/cluster/internal/gossip"
	"holdfast/cluster/internal/wire"
	"holdfast/proto/clusterpb"
	"holdfast/proto/membershippb"
)

// dial serves the services of a member and returns a connection to them.
func dial(t *testing.T, m *Member, maxMessageSize int) *grpc.ClientConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	m.Register(server, maxMessageSize)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestNodesMayFetchTheKeysOfAllMembers(t *testing.T) {
	t.Parallel()
	first := start(t, 1, nil, func(o *Options) { o.ClusterID = "logs" })
	second := start(t, 2, []string{first.GossipAddress().String()}, func(o *Options) { o.ClusterID = "logs" })
	second.SetReady(true)
	eventually(t, "the keys arrived", func() bool { return first.find(second).Ready })

	client := clusterpb.NewClusterServiceClient(dial(t, first, 1<<20))
	response, err := client.FetchClusterState(t.Context(), &clusterpb.FetchClusterStateRequest{ClusterId: "logs"})
	require.NoError(t, err)
	require.Equal(t, "logs", response.GetClusterId())
	require.Len(t, response.GetNodeStates(), 2)
	for _, node := range response.GetNodeStates() {
		_, err := netip.ParseAddrPort(node.GetChitchatId().GetGossipAdvertiseAddr())
		require.NoError(t, err)
		versions := uint64(0)
		for _, kv := range node.GetKeyValues() {
			require.Greater(t, kv.GetVersion(), versions)
			versions = kv.GetVersion()
		}
		require.GreaterOrEqual(t, node.GetMaxVersion(), versions)
		if node.GetChitchatId().GetNodeId() == second.NodeID() {
			require.Equal(t, second.Generation(), node.GetChitchatId().GetGenerationId())
			require.True(t, proto.Equal(&clusterpb.VersionedKeyValue{Key: "readiness", Value: "READY", Version: 4}, node.GetKeyValues()[2]))
		}
	}
}

func TestNodesOfAnotherClusterMayNotFetchKeys(t *testing.T) {
	t.Parallel()
	client := clusterpb.NewClusterServiceClient(dial(t, start(t, 1, nil, nil), 1<<20))
	var trailer metadata.MD
	_, err := client.FetchClusterState(t.Context(), &clusterpb.FetchClusterStateRequest{ClusterId: "other"}, grpc.Trailer(&trailer))
	require.Equal(t, codes.Internal, status.Code(err))
	require.Equal(t, []string{`{"internal":"wrong cluster: this node belongs to cluster \"quickwit-default-cluster\""}`}, trailer.Get("qw-error-bin"))
}

func TestAnswerThatWouldBeTooLargeLeavesLargeStatesOut(t *testing.T) {
	t.Parallel()
	m := start(t, 1, nil, nil)
	large := wire.Identity{NodeID: "large", Generation: 1, Address: loopback(9)}
	codec, err := wire.NewCodec()
	require.NoError(t, err)
	delta := wire.NodeDelta{Identity: large, Max: 10}
	for v := range 10 {
		delta.KeyValues = append(delta.KeyValues, wire.KeyValue{Key: fmt.Sprint(v), Value: strings.Repeat("x", 1_000), Version: wire.Version(v + 1)})
	}
	for _, message := range []wire.Message{
		{Type: wire.Syn, ClusterID: DefaultClusterID, Digest: []wire.DigestEntry{{Identity: large, Heartbeat: 1}}},
		{Type: wire.Ack, Delta: []wire.NodeDelta{delta}},
	} {
		payload, err := codec.Encode(message, wire.MaxDatagram)
		require.NoError(t, err)
		m.with(func(now time.Time, machine *gossip.Machine) []gossip.Packet {
			return machine.Receive(now, loopback(9), payload)
		})
	}
	whole := m.clusterState(1 << 20)
	require.Len(t, whole.GetNodeStates(), 2)
	require.Len(t, m.clusterState(proto.Size(whole)).GetNodeStates(), 2)
	cut := m.clusterState(proto.Size(whole) - 1)
	require.Len(t, cut.GetNodeStates(), 1)
	require.Equal(t, m.NodeID(), cut.GetNodeStates()[0].GetChitchatId().GetNodeId())
}

func TestOperatorsMayListTheMembers(t *testing.T) {
	t.Parallel()
	m := start(t, 7, nil, nil)
	m.SetReady(true)
	eventually(t, "a round has passed", func() bool { return m.Counters().Rounds > 0 })
	client := membershippb.NewMembershipServiceClient(dial(t, m, 1<<20))
	response, err := client.ListClusterMembers(t.Context(), &membershippb.ListClusterMembersRequest{})
	require.NoError(t, err)
	require.Equal(t, DefaultClusterID, response.GetClusterId())
	require.Len(t, response.GetMembers(), 1)
	self := response.GetMembers()[0]
	require.Equal(t, "holdfast-127-0-0-1-7", self.GetNodeId())
	require.Equal(t, m.Generation(), self.GetGeneration())
	require.Equal(t, m.GossipAddress().String(), self.GetGossipAddress())
	require.Equal(t, "127.0.0.1:7", self.GetGrpcAddress())
	require.Equal(t, []string{"metastore"}, self.GetServices())
	require.True(t, self.GetSelf() && self.GetLive() && self.GetReady())
	require.Positive(t, self.GetHeartbeat())
	require.Zero(t, self.GetDeadForMillis())
}
