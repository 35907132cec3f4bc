package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"holdfast/cluster/internal/gossip"
	"holdfast/cluster/internal/wire"
)

// The keys by which the peer's nodes know a metastore. All but the last stay the same for as long as
// the generation does.
const (
	keyServices  = "enabled_services"
	keyReadiness = "readiness"

	serviceMetastore   = "metastore"
	serviceReadReplica = "metastore_read_replica"
	ready              = "READY"
	notReady           = "NOT_READY"
)

// receiveBuffer is the size that is asked for of the socket's buffer, in bytes: when a cluster starts,
// full datagrams arrive in bursts.
const receiveBuffer = 4 << 20

// Member takes part in the gossip of a cluster. Make one with Start; it announces NOT_READY until
// FollowHealth or SetReady says otherwise. Stop it with Leave, then Close. Its methods may be called
// from several goroutines.
type Member struct {
	options   Options
	conn      *net.UDPConn
	advertise netip.AddrPort
	seeds     []seed

	lifetime context.Context // ends with Close
	end      context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	machine *gossip.Machine // nil between a panic and the next round
	// identity is that of machine.
	identity wire.Identity
	seedsAt  []netip.AddrPort
	ready    bool
	// leaving is set by Leave, and keeps the member from being ready again.
	leaving bool
	// hidden is set while a ready member must seem not to be.
	hidden      bool
	reannouncer reannouncer
	// rounds is closed and replaced at each round.
	rounds  chan struct{}
	lost    gossip.Counters // of machines that panicked
	sockets SocketCounters

	// beforeReceive may be set by a test of panics.
	beforeReceive func()
}

// Start opens the socket and joins the cluster.
func Start(options Options) (*Member, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("start the cluster member: %w", err)
	}
	conn, err := listen(options.Listen)
	if err != nil {
		return nil, fmt.Errorf("start the cluster member: %w", err)
	}
	m := &Member{options: options, conn: conn, rounds: make(chan struct{})}
	if err := m.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the cluster member: %w", err), conn.Close())
	}
	m.lifetime, m.end = context.WithCancel(context.Background())
	m.running.Go(m.receive)
	m.running.Go(m.gossip)
	m.running.Go(m.lookUpSeeds)
	return m, nil
}

func listen(address netip.AddrPort) (*net.UDPConn, error) {
	conn, err := net.ListenUDP(udpNetwork(address), net.UDPAddrFromAddrPort(address))
	if err != nil {
		return nil, fmt.Errorf("listen for gossip: %w", err)
	}
	// A smaller buffer loses more datagrams, which are sent again: no reason not to start.
	_ = conn.SetReadBuffer(receiveBuffer)
	return conn, nil
}

// udpNetwork keeps a socket of one IP version from reaching for the other.
func udpNetwork(address netip.AddrPort) string {
	switch ip := address.Addr(); {
	case ip.Is4():
		return "udp4"
	case ip.IsUnspecified():
		return "udp"
	}
	return "udp6"
}

// prepare does what needs the socket and may fail.
func (m *Member) prepare() error {
	bound := m.conn.LocalAddr().(*net.UDPAddr).AddrPort()
	set := m.options.Advertise
	if set.IsValid() && set.Port() == 0 {
		set = netip.AddrPortFrom(set.Addr(), bound.Port())
	}
	var err error
	if m.advertise, err = advertised("gossip", set, bound); err != nil {
		return err
	}
	if m.seeds, err = parseSeeds(m.options.Seeds, m.advertise.Port()); err != nil {
		return err
	}
	m.warnOfExposure(bound)
	m.identity.Generation = m.options.LastGeneration
	m.seedsAt, _ = resolve(context.Background(), noNames{}, "", m.seeds)
	return m.renew()
}

// noNames resolves nothing, so that addresses among the seeds are known without waiting for names.
type noNames struct{}

func (noNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return nil, nil }

func (m *Member) warnOfExposure(bound netip.AddrPort) {
	switch ip := bound.Addr().Unmap(); {
	case ip.IsUnspecified():
		m.options.Logger.Warn("gossip listens on all interfaces; it is not authenticated, let only the nodes of the cluster reach it", "gossip", bound.String())
	case !within(privateNetworks(), ip.WithZone("")):
		m.options.Logger.Warn("gossip listens on a public address; it is not authenticated, let only the nodes of the cluster reach it", "gossip", bound.String())
	}
	if !within(m.options.PeerNetworks, m.advertise.Addr()) {
		m.options.Logger.Warn("the gossip address of this member is outside the peer networks; are they right?", "gossip", m.advertise.String())
	}
}

// renew makes a machine with a new generation. The caller holds the lock, but for the first one.
func (m *Member) renew() error {
	identity := wire.Identity{
		NodeID:     m.options.NodeID,
		Generation: NextGeneration(time.Now(), m.identity.Generation),
		Address:    m.advertise,
	}
	if m.options.Remember != nil {
		if err := m.options.Remember(identity.Generation); err != nil {
			return fmt.Errorf("remember the generation of the member: %w", err)
		}
	}
	machine, err := gossip.New(gossip.Options{
		Self:      identity,
		ClusterID: m.options.ClusterID,
		Protocol:  wire.Protocol(m.options.Protocol),
		Random:    rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		Allowed:   func(ip netip.Addr) bool { return within(m.options.PeerNetworks, ip) },
		NoRelay:   m.options.NoRelay,
		Logger:    m.options.Logger,
	})
	if err != nil {
		return err
	}
	now := time.Now()
	machine.Set(now, keyServices, m.options.service())
	machine.Set(now, gossip.KeyGRPCAddress, m.options.GRPCAddress.String())
	machine.Set(now, keyReadiness, readiness(m.ready && !m.hidden))
	machine.SetSeeds(m.seedsAt)
	m.machine, m.identity = machine, identity
	return nil
}

func (o *Options) service() string {
	if o.ReadReplica {
		return serviceReadReplica
	}
	return serviceMetastore
}

func readiness(is bool) string {
	if is {
		return ready
	}
	return notReady
}

// gossip opens exchanges, once in every interval.
func (m *Member) gossip() {
	ticker := time.NewTicker(m.options.Interval)
	defer ticker.Stop()
	for {
		m.send(m.round())
		m.reannounce()
		select {
		case <-ticker.C:
		case <-m.lifetime.Done():
			return
		}
	}
}

func (m *Member) round() []gossip.Packet {
	defer m.endRound()
	return m.with(func(now time.Time, machine *gossip.Machine) []gossip.Packet { return machine.Round(now) })
}

func (m *Member) endRound() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.rounds)
	m.rounds = make(chan struct{})
	if m.machine != nil {
		return
	}
	if err := m.renew(); err != nil {
		m.options.Logger.Error("the cluster member could not go on after a panic, it tries again", "error", err)
	}
}

// with runs work on the machine. A panic ends the machine, not the process: what it knew may be
// wrong, so another one with a new generation takes its place after the next round.
func (m *Member) with(work func(time.Time, *gossip.Machine) []gossip.Packet) (packets []gossip.Packet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.machine == nil {
		return nil
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			m.options.Logger.Error("the cluster member panicked and starts again with a new generation", "panic", panicked, "stack", string(debug.Stack()))
			m.sockets.Panics++
			m.lost = m.lost.Plus(m.machine.Counters())
			m.machine, packets = nil, nil
		}
	}()
	return work(time.Now(), m.machine)
}

// receive answers datagrams until the socket is closed. Nothing else ends it.
func (m *Member) receive() {
	buffer := make([]byte, 1<<16)
	for {
		n, from, err := m.conn.ReadFromUDPAddrPort(buffer)
		if m.lifetime.Err() != nil {
			return
		}
		if err != nil {
			m.countSocket(func(c *SocketCounters) { c.ReceiveErrors++ })
			m.options.Logger.Warn("receiving gossip failed", "error", err)
			select {
			case <-time.After(m.options.Interval): // the cause may last
			case <-m.lifetime.Done():
				return
			}
			continue
		}
		m.send(m.with(func(now time.Time, machine *gossip.Machine) []gossip.Packet {
			if m.beforeReceive != nil {
				m.beforeReceive()
			}
			return machine.Receive(now, from, buffer[:n])
		}))
	}
}

// send sends datagrams. One that cannot be sent is like one that is lost.
func (m *Member) send(packets []gossip.Packet) {
	for _, packet := range packets {
		if _, err := m.conn.WriteToUDPAddrPort(packet.Payload, packet.To); err != nil && m.lifetime.Err() == nil {
			m.countSocket(func(c *SocketCounters) { c.SendErrors++ })
			m.options.Logger.Debug("sending gossip failed", "to", packet.To.String(), "bytes", len(packet.Payload), "error", err)
		}
	}
}

func (m *Member) lookUpSeeds() {
	ip := map[string]string{"udp": "ip", "udp4": "ip4", "udp6": "ip6"}[udpNetwork(m.options.Listen)]
	ticker := time.NewTicker(defaultResolve)
	defer ticker.Stop()
	for {
		ctx, cancel := context.WithTimeout(m.lifetime, defaultResolve)
		addresses, err := resolve(ctx, m.options.Resolver, ip, m.seeds)
		cancel()
		if m.lifetime.Err() != nil {
			return
		}
		if err != nil {
			m.options.Logger.Warn("seeds of the cluster could not be looked up, their last addresses are used", "error", err)
		}
		m.mu.Lock()
		m.seedsAt = addresses
		if m.machine != nil {
			m.machine.SetSeeds(addresses)
		}
		m.mu.Unlock()
		select {
		case <-ticker.C:
		case <-m.lifetime.Done():
			return
		}
	}
}

// Close stops the gossip and waits for its end. Other members notice the silence some seconds later;
// Leave first tells them.
func (m *Member) Close() error {
	m.end()
	err := m.conn.Close()
	m.running.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the gossip socket: %w", err)
	}
	return nil
}
