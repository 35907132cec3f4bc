package gossip

import (
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

const interval = time.Second

// start of virtual time.
var epoch = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// network runs members in virtual time. What it does follows from its seed.
type network struct {
	t      testing.TB
	now    time.Time
	random *rand.Rand
	queue  events
	order  int
	up     map[netip.AddrPort]*runningMember

	// loss and duplication are probabilities for each datagram.
	loss, duplication float64
	// delay bounds how long a datagram is under way; each one takes its own time, so they overtake.
	delay time.Duration
	// cut says whether nothing passes from one address to another. Nil cuts nothing.
	cut func(from, to netip.AddrPort) bool
	// delivered counts datagrams by type.
	delivered map[wire.Type]int
	// largest is the size of the largest datagram that was sent.
	largest int
}

type event struct {
	at    time.Time
	order int
	run   func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newNetwork(t testing.TB, seed uint64) *network {
	return &network{
		t: t, now: epoch, random: rand.New(rand.NewPCG(seed, 1)),
		delay: 20 * time.Millisecond, up: make(map[netip.AddrPort]*runningMember), delivered: make(map[wire.Type]int),
	}
}

func (n *network) at(when time.Time, run func()) {
	n.order++
	heap.Push(&n.queue, event{at: when, order: n.order, run: run})
}

// run lets virtual time pass.
func (n *network) run(d time.Duration) {
	end := n.now.Add(d)
	for len(n.queue) > 0 && !n.queue[0].at.After(end) {
		next := heap.Pop(&n.queue).(event)
		n.now = next.at
		next.run()
	}
	n.now = end
}

// until lets time pass until the condition holds, and returns how long that took.
func (n *network) until(limit time.Duration, what string, condition func() bool) time.Duration {
	n.t.Helper()
	start := n.now
	for !condition() {
		if n.now.Sub(start) >= limit {
			require.FailNow(n.t, "condition not met in time", "%s, after %s", what, limit)
		}
		n.run(100 * time.Millisecond)
	}
	return n.now.Sub(start)
}

func (n *network) send(from netip.AddrPort, packets []Packet) {
	for _, p := range packets {
		require.LessOrEqual(n.t, len(p.Payload), wire.MaxDatagram)
		n.largest = max(n.largest, len(p.Payload))
		copies := 1
		if n.random.Float64() < n.duplication {
			copies++
		}
		for range copies {
			if n.random.Float64() < n.loss || n.cut != nil && n.cut(from, p.To) {
				continue
			}
			n.at(n.now.Add(time.Duration(n.random.Int64N(int64(n.delay)+1))), func() { n.deliver(from, p) })
		}
	}
}

func (n *network) deliver(from netip.AddrPort, p Packet) {
	to := n.up[p.To]
	if to == nil || to.stalled {
		return
	}
	n.delivered[wire.Type(p.Payload[3])]++
	n.send(p.To, to.machine.Receive(n.now, from, p.Payload))
}

// runningMember is a machine on the network.
type runningMember struct {
	*Machine
	machine *Machine
	network *network
	address netip.AddrPort
	stopped bool
	// stalled members neither send nor receive, but go on later.
	stalled bool
}

func addressOf(number int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(number >> 8), byte(number)}), 7282)
}

// start runs a member with number as its name and address. change may be nil.
func (n *network) start(number int, seeds []int, change func(*Options)) *runningMember {
	n.t.Helper()
	options := Options{
		Self:      wire.Identity{NodeID: fmt.Sprintf("member-%02d", number), Generation: uint64(n.now.UnixNano()), Address: addressOf(number)},
		ClusterID: "test",
		Random:    rand.New(rand.NewPCG(n.random.Uint64(), 2)),
	}
	if change != nil {
		change(&options)
	}
	machine, err := New(options)
	require.NoError(n.t, err)
	var addresses []netip.AddrPort
	for _, seed := range seeds {
		addresses = append(addresses, addressOf(seed))
	}
	machine.SetSeeds(addresses)
	machine.Set(n.now, "enabled_services", "metastore")
	machine.Set(n.now, KeyGRPCAddress, fmt.Sprintf("10.0.0.%d:7281", number))
	machine.Set(n.now, "readiness", "READY")
	r := &runningMember{Machine: machine, machine: machine, network: n, address: options.Self.Address}
	n.up[r.address] = r
	n.at(n.now.Add(time.Duration(n.random.Int64N(int64(interval)))), r.round)
	return r
}

func (r *runningMember) round() {
	n := r.network
	if r.stopped {
		return
	}
	if !r.stalled {
		n.send(r.address, r.machine.Round(n.now))
	}
	n.at(n.now.Add(interval), r.round)
}

// kill stops a member without a word.
func (r *runningMember) kill() {
	r.stopped = true
	if r.network.up[r.address] == r {
		delete(r.network.up, r.address)
	}
}

func (r *runningMember) identity() wire.Identity { return r.machine.self.identity }

// sees returns what the member knows of another, nil if nothing.
func (r *runningMember) sees(other *runningMember) *member { return r.machine.find(other.identity()) }

func (r *runningMember) seesLive(other *runningMember) bool {
	m := r.sees(other)
	return m != nil && m.live
}

// sameKeys says whether two states hold the same.
func sameKeys(a, b *state) bool {
	return a.max == b.max && maps.EqualFunc(a.keys, b.keys, func(x, y entry) bool {
		return x.value == y.value && x.version == y.version && x.status == y.status
	})
}

// converged says whether every one of the members sees every other one live, with all of its keys.
func converged(members ...*runningMember) func() bool {
	return func() bool {
		for _, a := range members {
			for _, b := range members {
				if a != b && (!a.seesLive(b) || !sameKeys(&a.sees(b).state, &b.machine.self.state)) {
					return false
				}
			}
		}
		return true
	}
}

// knownDead says whether every one of the members sees the other one dead.
func knownDead(dead *runningMember, members ...*runningMember) func() bool {
	return func() bool {
		return !slices.ContainsFunc(members, func(m *runningMember) bool { return m.seesLive(dead) })
	}
}
