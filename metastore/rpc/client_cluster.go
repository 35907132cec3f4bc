package rpc

import (
	"context"
	"errors"

	"holdfast/proto/membershippb"
)

// ErrNoCluster says that a server takes part in no cluster, or does not know how to tell.
var ErrNoCluster = errors.New("the server is no member of a cluster")

// ClusterMembers lists the members of the cluster as the server sees them, and names the cluster. The
// error is ErrNoCluster if the server belongs to none.
func (c *Client) ClusterMembers(ctx context.Context) (clusterID string, members []*membershippb.ClusterMember, err error) {
	client := membershippb.NewMembershipServiceClient(c.connection)
	response, err := client.ListClusterMembers(ctx, &membershippb.ListClusterMembersRequest{}, repeatable)
	if isUnimplemented(err) {
		return "", nil, ErrNoCluster
	}
	if err != nil {
		return "", nil, callError(ctx, "list the members of the cluster", err)
	}
	return response.GetClusterId(), response.GetMembers(), nil
}
