package cluster

import "holdfast/cluster/internal/gossip"

// Counters counts what a member did and met since Start.
type Counters struct {
	gossip.Counters
	SocketCounters
}

// SocketCounters counts what happened around the protocol.
type SocketCounters struct {
	// SendErrors and ReceiveErrors count failures of the socket.
	SendErrors, ReceiveErrors uint64
	// Panics counts bugs after which the member took a new generation.
	Panics uint64
}

// Counters returns the counters.
func (m *Member) Counters() Counters {
	m.mu.Lock()
	defer m.mu.Unlock()
	counters := m.lost
	if m.machine != nil {
		counters = counters.Plus(m.machine.Counters())
	}
	return Counters{counters, m.sockets}
}

func (m *Member) countSocket(count func(*SocketCounters)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(&m.sockets)
}
