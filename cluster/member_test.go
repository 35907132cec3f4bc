package cluster

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fast is how often members of tests gossip, so that seconds of a real cluster pass quickly.
const fast = 30 * time.Millisecond

func loopback(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
}

// start runs a member on loopback. Its gRPC address has the given port and names it. change may be nil.
func start(t *testing.T, grpcPort uint16, seeds []string, change func(*Options)) *Member {
	t.Helper()
	options := Options{
		Listen: loopback(0), GRPCAddress: loopback(grpcPort), Seeds: seeds,
		Interval: fast, HealthInterval: fast,
	}
	if change != nil {
		change(&options)
	}
	m, err := Start(options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 2*time.Minute, 5*time.Millisecond, what)
}

// find returns what a member knows of the run of another.
func (m *Member) find(other *Member) MemberInfo {
	members := m.Members()
	i := slices.IndexFunc(members, func(i MemberInfo) bool {
		return i.NodeID == other.NodeID() && i.Generation == other.Generation()
	})
	if i < 0 {
		return MemberInfo{}
	}
	return members[i]
}

func allSeeAllReady(members ...*Member) func() bool {
	return func() bool {
		for _, a := range members {
			for _, b := range members {
				if i := a.find(b); !i.Live || !i.Ready || !i.IsMetastore() {
					return false
				}
			}
		}
		return true
	}
}

func TestMembersOnLoopbackFindEachOtherAndSeeALeaveAtOnce(t *testing.T) {
	t.Parallel()
	first := start(t, 1, nil, nil)
	seeds := []string{first.GossipAddress().String()}
	second, third := start(t, 2, seeds, nil), start(t, 3, seeds, func(o *Options) { o.Protocol = 1 })
	for _, m := range []*Member{first, second, third} {
		m.SetReady(true)
	}
	eventually(t, "all see all", allSeeAllReady(first, second, third))
	seen := first.find(third)
	require.Equal(t, "127.0.0.1:3", seen.GRPCAddress)
	require.Equal(t, third.GossipAddress(), seen.GossipAddress)
	require.Equal(t, []string{"metastore"}, seen.Services)
	require.False(t, seen.Self)
	require.True(t, third.find(third).Self)

	third.Leave(t.Context())
	for _, m := range []*Member{first, second} {
		require.False(t, m.find(third).Ready, "calls stop before Leave returns")
		require.True(t, m.find(third).Live, "a member that leaves is not dead")
	}
	third.SetReady(true)
	require.False(t, third.find(third).Ready, "there is no way back from Leave")
	require.NoError(t, third.Close())
	eventually(t, "its silence is noticed", func() bool { return !first.find(third).Live && !second.find(third).Live })

	// It comes back at its address with a new generation.
	again := start(t, 3, seeds, func(o *Options) { o.Listen = third.GossipAddress() })
	again.SetReady(true)
	require.Equal(t, third.NodeID(), again.NodeID())
	require.Greater(t, again.Generation(), third.Generation())
	eventually(t, "the new run is known", allSeeAllReady(first, second, again))
}

func TestLeaveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := start(t, 1, nil, func(o *Options) { o.Interval = time.Hour })
	m.SetReady(true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.Leave(ctx)
	require.False(t, m.find(m).Ready)
}

func TestSeedsMayBeNames(t *testing.T) {
	t.Parallel()
	first := start(t, 1, nil, nil)
	resolver := fakeResolver{"metastore.test": {netip.MustParseAddr("127.0.0.1")}}
	port := first.GossipAddress().String()[len("127.0.0.1"):]
	second := start(t, 2, []string{"metastore.test" + port}, func(o *Options) { o.Resolver = resolver })
	eventually(t, "they see each other", func() bool { return first.find(second).Live && second.find(first).Live })
}

func TestDatagramsFromOutsideThePeerNetworksAreNotAnswered(t *testing.T) {
	t.Parallel()
	first := start(t, 1, nil, func(o *Options) { o.PeerNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	second := start(t, 2, []string{first.GossipAddress().String()}, nil)
	eventually(t, "datagrams arrived", func() bool { return first.Counters().RefusedNetwork > 3 })
	require.Len(t, first.Members(), 1)
	require.Len(t, second.Members(), 1)
	require.Zero(t, second.Counters().Received)
}

func TestPanicGivesTheMemberANewGeneration(t *testing.T) {
	t.Parallel()
	var generations []uint64
	var armed atomic.Bool
	first := start(t, 1, nil, nil)
	second := start(t, 2, []string{first.GossipAddress().String()}, func(o *Options) {
		o.Remember = func(g uint64) error { generations = append(generations, g); return nil }
	})
	first.SetReady(true)
	second.SetReady(true)
	eventually(t, "all see all", allSeeAllReady(first, second))
	before := second.Generation()
	received := second.Counters().Received

	second.mu.Lock()
	armed.Store(true)
	second.beforeReceive = func() {
		if armed.CompareAndSwap(true, false) {
			panic("injected")
		}
	}
	second.mu.Unlock()
	eventually(t, "it started again", func() bool { return second.Generation() > before })
	eventually(t, "all see all, and it is still ready", allSeeAllReady(first, second))
	require.Equal(t, uint64(1), second.Counters().Panics)
	require.Greater(t, second.Counters().Received, received, "counters go on")
	require.Equal(t, []uint64{before, second.Generation()}, generations)
}

func TestUnreadableDatagramsAreCountedAndChangeNothing(t *testing.T) {
	t.Parallel()
	m := start(t, 1, nil, nil)
	conn, err := net.Dial("udp4", m.GossipAddress().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	eventually(t, "one was counted", func() bool {
		_, err := conn.Write([]byte("GET / HTTP/1.1"))
		require.NoError(t, err)
		return m.Counters().Malformed > 0
	})
	require.Len(t, m.Members(), 1)
}

func TestReadinessFollowsTheHealthOfTheStore(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	var checks atomic.Int64
	m := start(t, 1, nil, nil)
	m.FollowHealth(func(context.Context) error {
		checks.Add(1)
		if failing.Load() {
			return errors.New("store is gone")
		}
		return nil
	})
	eventually(t, "it is ready", func() bool { return m.find(m).Ready })
	failing.Store(true)
	failed := checks.Load()
	eventually(t, "several checks failed", func() bool { return checks.Load() > failed+5 })
	require.True(t, m.find(m).Ready, "the only metastore stays ready through a short outage")
}

func TestMemberThatCannotBeReachedDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string // in the error
	}{
		{"no listen address", func(o *Options) { o.Listen = netip.AddrPort{} }, "no address to listen on"},
		{"listening everywhere, announcing nothing", func(o *Options) { o.Listen = netip.MustParseAddrPort("0.0.0.0:0") }, "gossip address to announce: address 0.0.0.0:"},
		{"announcing 0.0.0.0", func(o *Options) { o.Advertise = netip.MustParseAddrPort("0.0.0.0:7282") }, "gossip address to announce: address 0.0.0.0:7282"},
		{"announcing ::", func(o *Options) { o.Advertise = netip.MustParseAddrPort("[::]:7282") }, "gossip address to announce: address [::]:7282"},
		{"no gRPC address", func(o *Options) { o.GRPCAddress = netip.AddrPort{} }, "gRPC address to announce"},
		{"gRPC at 0.0.0.0", func(o *Options) { o.GRPCAddress = netip.MustParseAddrPort("0.0.0.0:7281") }, "gRPC address to announce: address 0.0.0.0:7281"},
		{"gRPC without a port", func(o *Options) { o.GRPCAddress = loopback(0) }, "gRPC address to announce: address 127.0.0.1:0"},
		{"node id with dots", func(o *Options) { o.NodeID = "a.example.com" }, `node id "a.example.com"`},
		{"seed without a host", func(o *Options) { o.Seeds = []string{":7282"} }, `seed ":7282"`},
		{"unknown protocol", func(o *Options) { o.Protocol = 2 }, "protocol version is 2"},
		{"negative interval", func(o *Options) { o.Interval = -1 }, "Interval is -1ns"},
		{"network that is none", func(o *Options) { o.PeerNetworks = make([]netip.Prefix, 1) }, "peer network"},
		{"generation that cannot be remembered", func(o *Options) { o.Remember = func(uint64) error { return errors.New("disk is full") } }, "disk is full"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := Options{Listen: loopback(0), GRPCAddress: loopback(7281)}
			test.change(&options)
			_, err := Start(options)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestTakenPortIsAnError(t *testing.T) {
	t.Parallel()
	m := start(t, 1, nil, nil)
	_, err := Start(Options{Listen: m.GossipAddress(), GRPCAddress: loopback(2)})
	require.ErrorContains(t, err, "listen for gossip")
}

func TestClosedMemberIsSilent(t *testing.T) {
	t.Parallel()
	m := start(t, 1, nil, nil)
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	m.SetReady(true)
	m.Leave(t.Context())
	again := start(t, 1, nil, func(o *Options) { o.Listen = m.GossipAddress() })
	require.Equal(t, m.GossipAddress(), again.GossipAddress())
}

func TestReadReplicaAnnouncesItsOwnRole(t *testing.T) {
	t.Parallel()
	m := start(t, 1, nil, func(o *Options) { o.ReadReplica = true })
	require.Equal(t, []string{"metastore_read_replica"}, m.find(m).Services)
	require.False(t, m.find(m).IsMetastore())
}
