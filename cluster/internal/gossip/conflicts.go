package gossip

import (
	"time"
	"unicode/utf8"

	"holdfast/cluster/internal/wire"
)

// checkOwnEntry looks for signs that another process runs with the same identity: only this one raises
// the heartbeat and makes versions.
func (m *Machine) checkOwnEntry(now time.Time, entry wire.DigestEntry) {
	if entry.Heartbeat > m.self.heartbeat || entry.Max > m.self.state.max {
		m.conflict(now, "another process runs with the node id and generation of this one, or the generation was used before; give each its own node id")
	}
}

func (m *Machine) checkOwnDelta(now time.Time, d *wire.NodeDelta) {
	if d.Max > m.self.state.max {
		m.conflict(now, "another process sends keys as this member; give each its own node id")
	}
}

// checkConflicts looks for members that make others ignore this one.
func (m *Machine) checkConflicts(now time.Time) {
	for _, other := range m.others {
		id := other.identity
		switch {
		case !other.live:
		case id.NodeID == m.self.identity.NodeID && id.Generation > m.self.identity.Generation:
			m.conflict(now, "a member with the node id of this one and a later start is alive, other nodes ignore this one; give each its own node id, or set the clock right")
		case id.NodeID != m.self.identity.NodeID && m.sameGRPCAddress(other):
			m.conflict(now, "another member announces the gRPC address of this one under another node id; when it leaves, other nodes drop the address: keep the node id of an address")
		}
	}
}

// KeyGRPCAddress is the key under which members announce where they serve gRPC.
const KeyGRPCAddress = "grpc_advertise_addr"

func (m *Machine) sameGRPCAddress(other *member) bool {
	own := m.self.state.value(KeyGRPCAddress)
	return own != "" && own == other.state.value(KeyGRPCAddress)
}

func (m *Machine) conflict(now time.Time, text string) {
	m.counters.IdentityConflicts++
	if m.mayWarn(now, text) {
		m.options.Logger.Error(text, "member", m.self.identity.String())
	}
}

// warnInterval is how often one warning is repeated at most: what is warned of comes from the network.
const warnInterval = time.Minute

func (m *Machine) warn(now time.Time, text string, attributes ...any) {
	if m.mayWarn(now, text) {
		m.options.Logger.Warn(text, attributes...)
	}
}

func (m *Machine) mayWarn(now time.Time, text string) bool {
	if last, found := m.warned[text]; found && now.Sub(last) < warnInterval {
		return false
	}
	m.warned[text] = now
	return true
}

// shorten cuts text from the network for the log.
func shorten(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "..."
}
