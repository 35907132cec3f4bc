package cluster

import (
	"time"

	"holdfast/cluster/internal/gossip"
)

// The peer's nodes keep a pool of addresses, not of members. When two members announce one gRPC
// address, as the former and the present owner of it do, and one of them goes away, nodes drop the address,
// and take it back only when the other turns ready again. So the member that stays turns not ready
// for some rounds: soon, and once more when even the slowest node has noticed.
const (
	firstReannouncement  = 5 * time.Second
	secondReannouncement = 30 * time.Second
	reannounceRounds     = 3
)

// sharer is another node that announces, or announced, the gRPC address of this member.
type sharer struct {
	nodeID     string
	generation uint64
}

// departure is the end of a sharer's readiness.
type departure struct {
	at time.Time
	// answered counts the reannouncements because of it.
	answered int
}

// reannouncer decides when a member has to turn not ready for a moment. The zero value has seen nothing.
type reannouncer struct {
	departures map[sharer]departure
	// roundsLeft is for how many rounds more the member is not ready.
	roundsLeft int
}

// observe is to be called once in a round. It says whether the member must seem not ready in it.
func (r *reannouncer) observe(now time.Time, members []MemberInfo) bool {
	if r.roundsLeft > 0 {
		r.roundsLeft--
	}
	for id, d := range r.departuresAmong(now, members) {
		limit := firstReannouncement
		if d.answered > 0 {
			limit = secondReannouncement
		}
		if d.answered < 2 && now.Sub(d.at) >= limit {
			d.answered++
			r.roundsLeft = reannounceRounds
		}
		r.departures[id] = d
	}
	return r.roundsLeft > 0
}

// departuresAmong brings departures up to date and returns them.
func (r *reannouncer) departuresAmong(now time.Time, members []MemberInfo) map[sharer]departure {
	former := r.departures
	r.departures = make(map[sharer]departure)
	for _, other := range sharers(members) {
		id := sharer{other.NodeID, other.Generation}
		d, known := former[id]
		switch {
		case other.Live && other.Ready:
			// In the pools of nodes; the zero time says that it was.
			r.departures[id] = departure{}
		case known && d.at.IsZero(), !known && other.Ready:
			// It left, or it was in the pools before this member came, and nodes may not have noticed its end.
			r.departures[id] = departure{at: now}
		case known:
			r.departures[id] = d
		}
	}
	departed := make(map[sharer]departure)
	for id, d := range r.departures {
		if !d.at.IsZero() {
			departed[id] = d
		}
	}
	return departed
}

// sharers returns the other nodes that announce the gRPC address of this member.
func sharers(members []MemberInfo) []MemberInfo {
	var self MemberInfo
	for _, member := range members {
		if member.Self {
			self = member
		}
	}
	var found []MemberInfo
	for _, member := range members {
		if member.NodeID != self.NodeID && member.GRPCAddress == self.GRPCAddress {
			found = append(found, member)
		}
	}
	return found
}

// reannounce lets the member seem not ready for as long as it must.
func (m *Member) reannounce() {
	members := m.Members()
	m.send(m.with(func(now time.Time, machine *gossip.Machine) []gossip.Packet {
		before := m.hidden
		m.hidden = m.reannouncer.observe(now, members)
		if m.hidden && !before {
			m.options.Logger.Warn("another node announced the gRPC address of this one and went away; turning not ready for a moment, so that nodes take the address back", "grpc", m.options.GRPCAddress.String())
		}
		return m.announceReadiness(now, machine)
	}))
}
