package gossip

import (
	"net/netip"
	"time"

	"holdfast/cluster/internal/wire"
)

// Receive takes in a datagram that came from an address, and returns the answer: one datagram or none.
func (m *Machine) Receive(now time.Time, from netip.AddrPort, payload []byte) []Packet {
	from = route(from)
	m.counters.Received++
	m.counters.ReceivedBytes += uint64(len(payload))
	if !m.allowed(from) {
		m.counters.RefusedNetwork++
		m.warn(now, "datagrams from an address outside the peer networks are refused", "from", from.String())
		return nil
	}
	message, err := m.codec.Decode(payload)
	if err != nil {
		m.counters.Malformed++
		m.warn(now, "datagrams that are no gossip messages are dropped", "from", from.String(), "error", err)
		return nil
	}
	m.evictions = 0
	switch message.Type {
	case wire.Syn:
		return m.receiveSyn(now, from, &message)
	case wire.SynAck:
		return m.receiveSynAck(now, from, &message)
	case wire.Ack:
		m.receiveAck(now, from, &message)
	case wire.BadCluster:
		m.counters.BadCluster++
		m.warn(now, "a node that was sent a Syn belongs to another cluster", "from", from.String(), "cluster_id", m.options.ClusterID)
	}
	return nil
}

func (m *Machine) receiveSyn(now time.Time, from netip.AddrPort, message *wire.Message) []Packet {
	if message.ClusterID != m.options.ClusterID {
		m.counters.ForeignCluster++
		m.warn(now, "a node of another cluster sent a Syn", "from", from.String(), "cluster_id", m.options.ClusterID, "foreign_cluster_id", shorten(message.ClusterID))
		return m.packet(from, m.encode(now, wire.Message{Protocol: message.Protocol, Type: wire.BadCluster}, nil))
	}
	m.lastSyn = m.counters.Rounds
	m.report(now, message.Digest)
	if !m.remember(m.synAckSent, from) {
		return nil
	}
	return m.packet(from, m.encode(now, wire.Message{Protocol: message.Protocol, Type: wire.SynAck}, message.Digest))
}

func (m *Machine) receiveSynAck(now time.Time, from netip.AddrPort, message *wire.Message) []Packet {
	if !m.talkedTo(now, m.synSent, from) {
		return nil
	}
	m.report(now, message.Digest)
	m.apply(now, message.Delta)
	return m.packet(from, m.encode(now, wire.Message{Protocol: message.Protocol, Type: wire.Ack}, message.Digest))
}

func (m *Machine) receiveAck(now time.Time, from netip.AddrPort, message *wire.Message) {
	if m.talkedTo(now, m.synAckSent, from) {
		m.apply(now, message.Delta)
	}
}

// report takes in what another member knows of all members: who exists, and how high their heartbeats are.
func (m *Machine) report(now time.Time, digest []wire.DigestEntry) {
	for _, entry := range digest {
		if entry.Identity == m.self.identity {
			m.checkOwnEntry(now, entry)
			continue
		}
		other := m.find(entry.Identity)
		if other == nil {
			if m.removed.holds(entry.Identity, entry.Heartbeat) {
				continue
			}
			if m.credible(entry.Identity) {
				other = m.meet(entry.Identity)
			}
			if other == nil {
				m.counters.RefusedMembers++
				m.warn(now, "members are refused: they cannot be reached, are outside the peer networks, or there are too many", "member", shorten(entry.Identity.String()))
				continue
			}
		}
		other.saw(now, entry.Heartbeat)
	}
}

// apply takes in changes of keys. They never create a member, and never touch the own keys.
func (m *Machine) apply(now time.Time, delta []wire.NodeDelta) {
	for i := range delta {
		d := &delta[i]
		if d.Identity == m.self.identity {
			m.checkOwnDelta(now, d)
			continue
		}
		if other := m.find(d.Identity); other != nil {
			m.applyTo(now, other, d)
		}
	}
}

func (m *Machine) applyTo(now time.Time, other *member, d *wire.NodeDelta) {
	outcome := other.state.judge(d)
	if outcome != applied && outcome != appliedAfterReset {
		m.counters.RejectedDeltas++
		return
	}
	if !m.makeRoom(other, other.state.growth(d, outcome)) {
		m.counters.OverLimit++
		m.warn(now, "the keys of a member are too large to be kept", "member", other.identity.String())
		return
	}
	m.bytes -= other.state.bytes
	other.state.apply(now, d, outcome)
	m.bytes += other.state.bytes
	m.counters.Deltas++
	if outcome == appliedAfterReset {
		m.counters.Resets++
	}
}

// makeRoom says whether a member's keys may grow by so many bytes. Dead members give way.
func (m *Machine) makeRoom(other *member, growth int) bool {
	if growth <= 0 {
		return true
	}
	if other.state.bytes+growth > m.options.MaxStateBytes {
		return false
	}
	for m.bytes+growth > m.options.MaxBytes {
		if !m.evict() {
			return false
		}
	}
	return m.find(other.identity) != nil // it may have been dead itself
}
