package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"

	"holdfast/cluster"
	"holdfast/metastore/rpc"
)

// leaveTimeout bounds how long the node waits for the cluster to stop sending calls.
const leaveTimeout = 10 * time.Second

// joinCluster starts the member of the cluster, not ready yet, and adds its services to the gRPC server.
// It returns nil if the node is to be in no cluster.
func (n *node) joinCluster(listener net.Listener, options *rpc.ServerOptions) (*cluster.Member, error) {
	if n.options.Join == nil {
		return nil, nil
	}
	member, err := n.options.Join(listener.Addr())
	if err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if err := n.registry.Register(cluster.NewCollector(member)); err != nil {
		return nil, errors.Join(fmt.Errorf("register the metrics of the cluster: %w", err), member.Close())
	}
	size := options.MaxMessageSize
	if size == 0 {
		size = rpc.DefaultMaxMessageSize
	}
	options.Register = func(registrar grpc.ServiceRegistrar) { member.Register(registrar, size) }
	n.options.Logger.Info("the metastore is a member of a cluster", "cluster_id", member.ClusterID(), "node_id", member.NodeID(), "generation", member.Generation(), "gossip", member.GossipAddress().String())
	return member, nil
}

// leaveCluster tells the cluster that no calls should be sent here any more, while they are still served.
func (n *node) leaveCluster(member *cluster.Member) error {
	if member == nil {
		return nil
	}
	return n.unlessForced(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		defer cancel()
		member.Leave(ctx)
		return nil
	})
}

// closeMember ends the gossip. A member that could not leave in order says at least that it is gone.
func closeMember(member *cluster.Member) error {
	if member == nil {
		return nil
	}
	member.SetReady(false)
	return member.Close()
}
