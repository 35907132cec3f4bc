package gossip

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

// with adds members without a past.
func (b *bench) with(live bool, numbers ...int) {
	for _, number := range numbers {
		m := b.meet(numbered(number))
		require.NotNil(b.t, m)
		m.live, m.heartbeat = live, 1
		if !live {
			m.deadSince = b.now
		}
	}
}

// frequencies returns the share of rounds that each address is a target of.
func (b *bench) frequencies(rounds int) map[netip.AddrPort]float64 {
	shares := make(map[netip.AddrPort]float64)
	for range rounds {
		for _, target := range b.targets() {
			shares[target] += 1 / float64(rounds)
		}
	}
	return shares
}

func TestRoundIsForThreeLiveMembers(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.with(true, 10, 11, 12, 13, 14, 15)
	for range 100 {
		require.Len(t, b.targets(), 3)
	}
	for address, share := range b.frequencies(3_000) {
		require.InDelta(t, 0.5, share, 0.05, address)
	}
}

func TestRoundIsForDeadMembersWhileNobodyIsLive(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.with(false, 10, 11, 12, 13)
	require.GreaterOrEqual(t, len(b.targets()), 3)
}

func TestDeadMembersAreTriedInProportion(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.with(true, 10, 11, 12)
	b.with(false, 20)
	require.InDelta(t, 0.25, b.frequencies(3_000)[addressOf(20)], 0.04)
	b.with(false, 21, 22, 23)
	shares := b.frequencies(3_000)
	require.InDelta(t, 1, shares[addressOf(20)]+shares[addressOf(21)]+shares[addressOf(22)]+shares[addressOf(23)], 0.001)
}

func TestSeedsAreTriedAlwaysWithoutLiveMembersAndInProportionElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.SetSeeds([]netip.AddrPort{addressOf(1), addressOf(30)}) // the first is the own address
	require.Equal(t, []netip.AddrPort{addressOf(30)}, b.targets())
	b.with(true, 10, 11, 12, 13)
	require.InDelta(t, 0.25, b.frequencies(3_000)[addressOf(30)], 0.04)
}

func TestAddressesAreSentToOnceAndTheOwnOneNever(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for generation := range 3 { // earlier runs at one address, and of this member
		for _, number := range []int{1, 10} {
			m := b.meet(wire.Identity{NodeID: "again", Generation: uint64(generation), Address: addressOf(number)})
			m.live = generation == 2
		}
	}
	b.SetSeeds([]netip.AddrPort{addressOf(1), addressOf(10)})
	for range 50 {
		require.Equal(t, []netip.AddrPort{addressOf(10)}, b.targets())
	}
}

func TestSeedsOutsideThePeerNetworksAreNotSentTo(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Allowed = netip.MustParsePrefix("10.0.0.0/24").Contains })
	b.SetSeeds([]netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:7282"), netip.MustParseAddrPort("[::ffff:10.0.0.8]:7282")})
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("10.0.0.8:7282")}, b.targets())
}

func TestChangeIsAnnouncedToAllLiveMembers(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for number := range 20 {
		b.with(true, 10+number)
	}
	b.with(false, 40)
	require.Len(t, b.Announce(b.now), 20)
	for number := range 100 {
		b.with(true, 100+number)
	}
	require.Len(t, b.Announce(b.now), 64)
}
