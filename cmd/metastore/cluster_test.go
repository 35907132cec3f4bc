package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// freeUDPAddress returns an address of loopback at which nothing listens.
func freeUDPAddress(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	return conn.LocalAddr().String()
}

func TestServersFormAClusterThatAnyOfThemLists(t *testing.T) {
	t.Parallel()
	gossip := freeUDPAddress(t)
	generations := filepath.Join(t.TempDir(), "generation")
	first := serve(t, nil, "--store", "mem://", "--cluster-id", "logs", "--gossip", gossip, "--gossip-generation-file", generations)
	second := serve(t, []string{"HOLDFAST_CLUSTER_ID=logs", "HOLDFAST_PEER_SEEDS=" + gossip, "HOLDFAST_GOSSIP=127.0.0.1:0"}, "--store", "mem://", "--node-id", "second")

	var members []memberJSON
	require.Eventually(t, func() bool {
		members = nil
		require.NoError(t, json.Unmarshal([]byte(first.ok(t, "cluster", "members", "--format", "json")), &members))
		return len(members) == 2 && members[1].Live && members[1].Ready && members[0].Ready
	}, patience, 50*time.Millisecond)
	require.True(t, members[0].Self)
	require.Equal(t, first.grpc, members[0].GRPCAddress)
	require.Equal(t, gossip, members[0].GossipAddress)
	require.Equal(t, "second", members[1].NodeID)
	require.Equal(t, second.grpc, members[1].GRPCAddress)
	require.Equal(t, []string{"metastore"}, members[1].Services)
	require.FileExists(t, generations)

	table := second.ok(t, "cluster", "members")
	require.Contains(t, table, "self")
	require.Contains(t, table, "2 members of cluster \"logs\"")
	_, metrics := get(t, "http://"+first.http+"/metrics")
	require.Contains(t, metrics, `holdfast_cluster_members{state="live"} 2`)

	require.Equal(t, exitSuccess, second.stop(t))
	require.NoError(t, json.Unmarshal([]byte(first.ok(t, "cluster", "members", "--format", "json")), &members))
	require.False(t, members[1].Ready, "a server that stops says so before it does")
}

func TestServerOutsideOfAClusterHasNoMembers(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://")
	r := s.run(t, "cluster", "members")
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "the server is no member of a cluster")
	require.Contains(t, r.stderr, "started without --gossip")
}

func TestClusterFlagsThatCannotWorkAreNamed(t *testing.T) {
	t.Parallel()
	notNumber := filepath.Join(t.TempDir(), "generation")
	require.NoError(t, os.WriteFile(notNumber, []byte("soon"), 0o600))
	for _, test := range []struct {
		args   string
		status int
		want   string // in stderr
	}{
		{"--gossip localhost:7282", exitUsage, `--gossip: "localhost:7282" is not IP:PORT`},
		{"--gossip 127.0.0.1:0 --gossip-advertise metastore:7282", exitUsage, `--gossip-advertise: "metastore:7282" is not IP:PORT`},
		{"--gossip 127.0.0.1:0 --grpc-advertise metastore:7281", exitUsage, `--grpc-advertise: "metastore:7281" is not IP:PORT`},
		{"--gossip 0.0.0.0:0", exitUsage, "--gossip-advertise is missing"},
		{"--gossip 127.0.0.1:0 --listen 0.0.0.0:0", exitUsage, "--grpc-advertise is missing"},
		{"--gossip 127.0.0.1:0 --listen :0", exitUsage, "--grpc-advertise is missing"},
		{"--gossip 127.0.0.1:0 --listen localhost:0", exitUsage, "--grpc-advertise is missing"},
		{"--gossip 127.0.0.1:0 --gossip-advertise 0.0.0.0:7282", exitFailure, "gossip address to announce: address 0.0.0.0:7282"},
		{"--gossip 127.0.0.1:0 --grpc-advertise [::]:7281", exitFailure, "gRPC address to announce: address [::]:7281"},
		{"--gossip 127.0.0.1:0 --gossip-peer-networks 10.0.0.0", exitUsage, `--gossip-peer-networks: "10.0.0.0" is no network`},
		{"--gossip 127.0.0.1:0 --node-id a.b", exitUsage, `--node-id: node id "a.b"`},
		{"--gossip 127.0.0.1:0 --cluster-id=", exitUsage, "--cluster-id is empty"},
		{"--gossip 127.0.0.1:0 --gossip-interval 1ms", exitUsage, "--gossip-interval is 1ms"},
		{"--gossip 127.0.0.1:0 --gossip-protocol-version 2", exitUsage, "--gossip-protocol-version is 2"},
		{"--gossip 127.0.0.1:0 --peer-seeds a:b", exitFailure, `seed "a:b"`},
		{"--gossip 127.0.0.1:0 --gossip-generation-file " + notNumber, exitFailure, "does not hold a number"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			r := execute(t, &system{}, append([]string{"serve", "--store", "mem://", "--http=", "--listen=127.0.0.1:0"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.status, r.status, r.stderr)
			require.Contains(t, r.stderr, test.want)
		})
	}
}
