package gossip

import (
	"slices"
	"time"
)

// unreachedRounds is for how many rounds a member that sees others may hear nothing but answers. The
// others open some exchanges with it in every round, if they can.
const unreachedRounds = 60

// checkReachable warns when other members do not reach this one. Nothing else would tell: its own Syns
// keep it alive for them.
func (m *Machine) checkReachable(now time.Time) {
	if !slices.ContainsFunc(m.others, func(other *member) bool { return other.live }) {
		m.lastSyn = m.counters.Rounds
		return
	}
	if m.counters.Rounds-m.lastSyn >= unreachedRounds {
		m.warn(now, "no other member opens exchanges with this one; is the gossip address that it announces right, and does the firewall let UDP in?", "gossip", m.self.identity.Address.String())
	}
}
