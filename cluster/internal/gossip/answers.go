package gossip

import (
	"net/netip"
	"time"
)

const (
	// answerRounds is how many rounds an answer may take.
	answerRounds = 10
	// maxAddresses bounds the addresses that answers are expected from.
	maxAddresses = 10_000
)

// remember notes that an address was sent to, so that its answer is believed. It says whether there is
// room.
func (m *Machine) remember(sent map[netip.AddrPort]uint64, to netip.AddrPort) bool {
	if _, found := sent[to]; !found && len(sent) >= maxAddresses {
		return false
	}
	sent[to] = m.counters.Rounds
	return true
}

// talkedTo says whether an address was sent to in the last rounds. An answer does not name the cluster,
// so nothing else tells whether it is one.
func (m *Machine) talkedTo(now time.Time, sent map[netip.AddrPort]uint64, from netip.AddrPort) bool {
	if round, found := sent[from]; found && m.counters.Rounds-round <= answerRounds {
		return true
	}
	m.counters.Unasked++
	m.warn(now, "answers from an address that nothing was sent to are dropped", "from", from.String())
	return false
}

// forgetAddresses forgets from whom no answer is expected any more.
func (m *Machine) forgetAddresses() {
	for _, sent := range []map[netip.AddrPort]uint64{m.synSent, m.synAckSent} {
		for address, round := range sent {
			if m.counters.Rounds-round > answerRounds {
				delete(sent, address)
			}
		}
	}
}
