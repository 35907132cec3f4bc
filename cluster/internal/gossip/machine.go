package gossip

import (
	"net/netip"
	"time"

	"holdfast/cluster/internal/wire"
)

// Packet is a datagram to be sent.
type Packet struct {
	To      netip.AddrPort
	Payload []byte
}

// Machine is one run of one member. It is not for concurrent use. Make one with New, give it its keys
// with Set, then call Round once in every gossip interval, and Receive for every datagram.
type Machine struct {
	options Options
	codec   *wire.Codec
	self    *member
	// others are sorted by identity.
	others  []*member
	removed *removedMembers
	// bytes is what the states of the others take.
	bytes int
	seeds []netip.AddrPort

	// synSent and synAckSent hold the round in which an address was last sent such a message.
	synSent, synAckSent map[netip.AddrPort]uint64
	// lastSyn is the round in which the last Syn of this cluster arrived, or in which nobody was live.
	lastSyn uint64
	// evictions counts those of the datagram that is being received.
	evictions int

	counters Counters
	warned   map[string]time.Time
}

// New makes a machine that knows only itself.
func New(options Options) (*Machine, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	codec, err := wire.NewCodec()
	if err != nil {
		return nil, err
	}
	return &Machine{
		options:    options,
		codec:      codec,
		self:       &member{identity: options.Self, heartbeat: 1, live: true},
		removed:    newRemovedMembers(),
		synSent:    make(map[netip.AddrPort]uint64),
		synAckSent: make(map[netip.AddrPort]uint64),
		warned:     make(map[string]time.Time),
	}, nil
}

// Set gives an own key a value. It says whether that changed anything: the same value again does not.
func (m *Machine) Set(now time.Time, key, value string) bool {
	return m.self.state.set(now, key, value)
}

// SetSeeds replaces the addresses that are asked for members, besides the members themselves. Addresses
// that are not allowed, and the own one, are never sent to.
func (m *Machine) SetSeeds(seeds []netip.AddrPort) {
	m.seeds = m.seeds[:0]
	for _, seed := range seeds {
		if seed = route(seed); CheckAddress(seed) == nil && m.allowed(seed) {
			m.seeds = append(m.seeds, seed)
		}
	}
}

// Counters returns what happened since the start.
func (m *Machine) Counters() Counters { return m.counters }

// Round is to be called once in every gossip interval. It returns the datagrams that open exchanges with
// some members, and updates who is alive.
func (m *Machine) Round(now time.Time) []Packet {
	targets := m.targets()
	m.counters.Rounds++
	m.self.heartbeat++
	m.self.heartbeatAt = now
	m.expire(now)
	packets := m.syn(now, targets)
	m.judge(now)
	m.forgetAddresses()
	m.checkConflicts(now)
	m.checkReachable(now)
	return packets
}

// Announce returns datagrams that open exchanges with many live members at once, so that a change of
// an own key is known everywhere without waiting for rounds.
func (m *Machine) Announce(now time.Time) []Packet {
	return m.syn(now, m.announceTargets())
}

func (m *Machine) syn(now time.Time, targets []netip.AddrPort) []Packet {
	if len(targets) == 0 {
		return nil
	}
	payload := m.encode(now, wire.Message{Protocol: m.options.Protocol, Type: wire.Syn, ClusterID: m.options.ClusterID}, nil)
	var packets []Packet
	for _, target := range targets {
		m.synSent[target] = m.counters.Rounds
		packets = append(packets, m.packet(target, payload)...)
	}
	return packets
}

// packet returns no datagram if there is nothing to send.
func (m *Machine) packet(to netip.AddrPort, payload []byte) []Packet {
	if payload == nil {
		return nil
	}
	m.counters.Sent++
	m.counters.SentBytes += uint64(len(payload))
	return []Packet{{To: to, Payload: payload}}
}

// expire removes keys whose time is over.
func (m *Machine) expire(now time.Time) {
	for _, other := range m.others {
		m.bytes -= other.state.bytes
		other.state.expire(now, m.options.TombstoneGrace)
		m.bytes += other.state.bytes
	}
}

// judge updates who is alive, and forgets who is dead for long.
func (m *Machine) judge(now time.Time) {
	var gone []*member
	for _, other := range m.others {
		if other.judge(now) {
			m.options.Logger.Info("a member of the cluster changed", "member", other.identity.String(), "live", other.live)
		}
		if other.deadFor(now) >= m.options.DeadGrace {
			gone = append(gone, other)
		}
	}
	for _, other := range gone {
		m.forget(other)
	}
}

// longDead says whether a member is dead for so long that it is not spoken of any more.
func (m *Machine) longDead(now time.Time, other *member) bool {
	return other.deadFor(now) >= m.options.DeadGrace/2
}
