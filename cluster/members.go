package cluster

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"holdfast/cluster/internal/gossip"
)

// MemberInfo is what is known of a member at one moment. A member that was restarted is listed once for
// each of its runs, until the earlier ones are forgotten.
type MemberInfo struct {
	NodeID string
	// Generation orders the runs of a node id; higher is later. In nanoseconds since 1970.
	Generation uint64
	// GossipAddress is where the member wants to be gossiped to.
	GossipAddress netip.AddrPort
	// GRPCAddress is where it serves, as it says so itself. Empty if it does not.
	GRPCAddress string
	// Services are the roles of the member, as the peer spells them.
	Services []string
	// Ready says that it wants calls.
	Ready bool
	// Live says that its heartbeats arrive. Self is always live.
	Live bool
	// Self says that it is this member.
	Self bool
	// Heartbeat is the highest that was seen, and LastHeartbeat when; zero if only its name is known.
	Heartbeat     uint64
	LastHeartbeat time.Time
	// DeadSince is when it was taken for dead, zero if it is not.
	DeadSince time.Time
	// Keys is the number of its keys that are kept here.
	Keys int
}

// IsMetastore says whether the member has the role metastore.
func (i MemberInfo) IsMetastore() bool { return slices.Contains(i.Services, serviceMetastore) }

// Members returns what is known of all members, this one included, by node id and generation.
func (m *Member) Members() []MemberInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.machine == nil {
		return nil
	}
	known := m.machine.Members(keyServices, gossip.KeyGRPCAddress, keyReadiness)
	members := make([]MemberInfo, len(known))
	for i, k := range known {
		members[i] = MemberInfo{
			NodeID:        k.Identity.NodeID,
			Generation:    k.Identity.Generation,
			GossipAddress: k.Identity.Address,
			GRPCAddress:   k.Values[gossip.KeyGRPCAddress],
			Services:      services(k.Values[keyServices]),
			Ready:         k.Values[keyReadiness] == ready,
			Live:          k.Live,
			Self:          k.Self,
			Heartbeat:     k.Heartbeat,
			LastHeartbeat: k.HeartbeatAt,
			DeadSince:     k.DeadSince,
			Keys:          k.Keys,
		}
	}
	return members
}

func services(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// NodeID returns the name of the member.
func (m *Member) NodeID() string { return m.options.NodeID }

// ClusterID returns the name of the cluster.
func (m *Member) ClusterID() string { return m.options.ClusterID }

// GossipAddress returns where others reach the member.
func (m *Member) GossipAddress() netip.AddrPort { return m.advertise }

// Generation returns the generation of the present run.
func (m *Member) Generation() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.identity.Generation
}
