package cluster

import (
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"holdfast/cluster/internal/gossip"
	"holdfast/proto/clusterpb"
)

// clusterState returns the keys of all members in a message of at most maxSize bytes. If that is too
// little, the largest states are left out: metastores, which nodes wait for, have small ones.
func (m *Member) clusterState(maxSize int) *clusterpb.FetchClusterStateResponse {
	response := &clusterpb.FetchClusterStateResponse{ClusterId: m.ClusterID()}
	states := m.states()
	slices.SortStableFunc(states, func(a, b gossip.State) int { return len(a.KeyValues) - len(b.KeyValues) })
	size := proto.Size(response)
	for _, state := range states {
		node := nodeState(&state)
		const tag = 1
		if size += tag + protowire.SizeBytes(proto.Size(node)); size > maxSize {
			break
		}
		response.NodeStates = append(response.NodeStates, node)
	}
	return response
}

func (m *Member) states() []gossip.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.machine == nil {
		return nil
	}
	return m.machine.States(time.Now())
}

func nodeState(state *gossip.State) *clusterpb.NodeState {
	node := &clusterpb.NodeState{
		ChitchatId: &clusterpb.ChitchatId{
			NodeId:              state.Identity.NodeID,
			GenerationId:        state.Identity.Generation,
			GossipAdvertiseAddr: state.Identity.Address.String(),
		},
		MaxVersion:    uint64(state.Max),
		LastGcVersion: uint64(state.LastGC),
		KeyValues:     make([]*clusterpb.VersionedKeyValue, len(state.KeyValues)),
	}
	for i, kv := range state.KeyValues {
		node.KeyValues[i] = &clusterpb.VersionedKeyValue{
			Key:     kv.Key,
			Value:   kv.Value,
			Version: uint64(kv.Version),
			Status:  clusterpb.DeletionStatus(kv.Status),
		}
	}
	return node
}
