package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"holdfast/proto/clusterpb"
	"holdfast/proto/membershippb"
)

// Register adds the services that tell of the cluster to a gRPC server: the one that the peer's nodes
// call, and the one for operators. Answers have at most maxMessageSize bytes.
func (m *Member) Register(registrar grpc.ServiceRegistrar, maxMessageSize int) {
	clusterpb.RegisterClusterServiceServer(registrar, &clusterService{
		member: m, maxMessageSize: maxMessageSize, slots: make(chan struct{}, maxFetches),
	})
	membershippb.RegisterMembershipServiceServer(registrar, &membershipService{member: m})
}

// maxFetches is how many answers with the whole state are made at the same time; more calls wait.
const maxFetches = 4

// clusterService answers what nodes ask when they start.
type clusterService struct {
	clusterpb.UnimplementedClusterServiceServer
	member         *Member
	maxMessageSize int
	slots          chan struct{}
}

// FetchClusterState implements ClusterService. An answer that would be too large leaves members out:
// callers learn of them by gossip.
func (s *clusterService) FetchClusterState(ctx context.Context, request *clusterpb.FetchClusterStateRequest) (*clusterpb.FetchClusterStateResponse, error) {
	if own := s.member.ClusterID(); request.GetClusterId() != own {
		return nil, clusterError(ctx, fmt.Sprintf("wrong cluster: this node belongs to cluster %q", own))
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return s.member.clusterState(s.maxMessageSize), nil
}

// clusterError is an error as the peer's nodes answer it: always Internal, and once more as JSON.
func clusterError(ctx context.Context, message string) error {
	detail, err := json.Marshal(map[string]string{"internal": message})
	if err == nil {
		err = grpc.SetTrailer(ctx, metadata.Pairs("qw-error-bin", string(detail)))
	}
	if err != nil {
		message += fmt.Sprintf(" (and the error detail was lost: %v)", err)
	}
	return status.Error(codes.Internal, message)
}

// membershipService answers what operators ask.
type membershipService struct {
	membershippb.UnimplementedMembershipServiceServer
	member *Member
}

// ListClusterMembers implements MembershipService.
func (s *membershipService) ListClusterMembers(context.Context, *membershippb.ListClusterMembersRequest) (*membershippb.ListClusterMembersResponse, error) {
	now := time.Now()
	response := &membershippb.ListClusterMembersResponse{ClusterId: s.member.ClusterID()}
	for _, info := range s.member.Members() {
		response.Members = append(response.Members, &membershippb.ClusterMember{
			NodeId:                 info.NodeID,
			Generation:             info.Generation,
			GossipAddress:          info.GossipAddress.String(),
			GrpcAddress:            info.GRPCAddress,
			Services:               info.Services,
			Ready:                  info.Ready,
			Live:                   info.Live,
			Self:                   info.Self,
			Heartbeat:              info.Heartbeat,
			LastHeartbeatAgeMillis: millisSince(now, info.LastHeartbeat),
			DeadForMillis:          millisSince(now, info.DeadSince),
		})
	}
	return response, nil
}

// millisSince returns 0 if there was no such time.
func millisSince(now, then time.Time) uint64 {
	if then.IsZero() {
		return 0
	}
	return uint64(max(now.Sub(then).Milliseconds(), 0))
}
