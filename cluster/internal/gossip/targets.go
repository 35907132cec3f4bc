package gossip

import (
	"net/netip"
	"slices"
)

const (
	// roundTargets is how many members a round opens exchanges with, besides a dead one and a seed.
	roundTargets = 3
	// announceTargets bounds how many live members hear of a change at once.
	maxAnnounceTargets = 64
)

// targets chooses whom a round is for: some live members, sometimes a dead one, which may have come back
// unnoticed, and sometimes a seed, which may lead to members that nobody here has heard of.
func (m *Machine) targets() []netip.AddrPort {
	live, dead := m.addresses()
	pool := live
	if len(live) == 0 {
		pool = dead
	}
	chosen := m.sample(pool, roundTargets)
	if len(dead) > 0 && m.chance(len(dead), len(live)+1) {
		chosen = append(chosen, m.sample(dead, 1)...)
	}
	if seeds := m.otherSeeds(); len(seeds) > 0 {
		seedChosen := slices.ContainsFunc(chosen, func(a netip.AddrPort) bool { return slices.Contains(seeds, a) })
		considered := !seedChosen || len(live) < len(seeds)
		if considered && (len(live) == 0 || m.chance(len(seeds), len(live)+len(dead))) {
			chosen = append(chosen, m.sample(seeds, 1)...)
		}
	}
	return distinct(chosen)
}

func (m *Machine) announceTargets() []netip.AddrPort {
	live, _ := m.addresses()
	return m.sample(live, maxAnnounceTargets)
}

// addresses returns the different addresses of the live members, and those of dead members at which no
// live one is. The own address is among neither: an earlier run had it.
func (m *Machine) addresses() (live, dead []netip.AddrPort) {
	own := route(m.self.identity.Address)
	for _, other := range m.others {
		address := route(other.identity.Address)
		switch {
		case address == own:
		case other.live:
			live = append(live, address)
		default:
			dead = append(dead, address)
		}
	}
	live, dead = distinct(live), distinct(dead)
	return live, slices.DeleteFunc(dead, func(a netip.AddrPort) bool {
		_, found := slices.BinarySearchFunc(live, a, netip.AddrPort.Compare)
		return found
	})
}

func (m *Machine) otherSeeds() []netip.AddrPort {
	own := route(m.self.identity.Address)
	return distinct(slices.DeleteFunc(slices.Clone(m.seeds), func(a netip.AddrPort) bool { return a == own }))
}

// distinct sorts addresses and drops repeated ones.
func distinct(addresses []netip.AddrPort) []netip.AddrPort {
	slices.SortFunc(addresses, netip.AddrPort.Compare)
	return slices.Compact(addresses)
}

// sample returns up to n of the addresses, chosen at random.
func (m *Machine) sample(addresses []netip.AddrPort, n int) []netip.AddrPort {
	chosen := slices.Clone(addresses)
	n = min(n, len(chosen))
	for i := range n {
		j := i + m.options.Random.IntN(len(chosen)-i)
		chosen[i], chosen[j] = chosen[j], chosen[i]
	}
	return chosen[:n]
}

// chance is true with probability part / whole.
func (m *Machine) chance(part, whole int) bool {
	return part >= whole || m.options.Random.IntN(whole) < part
}
