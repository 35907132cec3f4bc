package gossip

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

// startAll starts members that have the first one as their only seed.
func (n *network) startAll(count int) []*runningMember {
	members := make([]*runningMember, count)
	for i := range members {
		members[i] = n.start(i+1, []int{1}, nil)
	}
	return members
}

func TestClustersConvergeUnderLossDuplicationAndReordering(t *testing.T) {
	t.Parallel()
	for _, size := range []int{3, 5, 10, 30} {
		for _, loss := range []float64{0, 0.1, 0.3} {
			t.Run(fmt.Sprintf("%d members, %.0f %% lost", size, loss*100), func(t *testing.T) {
				t.Parallel()
				n := newNetwork(t, uint64(size))
				n.loss, n.duplication, n.delay = loss, 0.1, 1500*time.Millisecond
				members := n.startAll(size)
				took := n.until(2*time.Minute, "all see all", converged(members...))
				t.Logf("converged after %s", took)

				members[size-1].Set(n.now, "readiness", "NOT_READY")
				n.until(time.Minute, "a change arrives everywhere", converged(members...))
				for _, m := range members {
					require.Zero(t, m.Counters().Malformed)
					require.Zero(t, m.Counters().Unwritable)
				}
			})
		}
	}
}

func TestMembersOfBothProtocolVersionsConverge(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 2)
	n.loss = 0.1
	var members []*runningMember
	for i := range 8 {
		members = append(members, n.start(i+1, []int{1}, func(o *Options) { o.Protocol = wire.Protocol(i % 2) }))
	}
	n.until(time.Minute, "all see all", converged(members...))
}

func TestJoiningTakesAFewSeconds(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 1)
	members := n.startAll(3)
	require.LessOrEqual(t, n.until(time.Minute, "all see all", converged(members...)), 6*time.Second)
}

func TestRunIsDeterminedByItsInput(t *testing.T) {
	t.Parallel()
	run := func() (map[wire.Type]int, []Counters) {
		n := newNetwork(t, 7)
		n.loss, n.duplication, n.delay = 0.2, 0.2, time.Second
		members := n.startAll(8)
		n.run(40 * time.Second)
		var counters []Counters
		for _, m := range members {
			counters = append(counters, m.Counters())
		}
		return n.delivered, counters
	}
	firstDelivered, firstCounters := run()
	secondDelivered, secondCounters := run()
	require.Equal(t, firstDelivered, secondDelivered)
	require.Equal(t, firstCounters, secondCounters)
}

func TestSplitClusterHealsAndKnowsWhatChangedOnBothSides(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 3)
	members := n.startAll(10)
	left, right := members[:4], members[4:]
	n.until(time.Minute, "all see all", converged(members...))
	n.run(time.Minute)

	side := func(a netip.AddrPort) bool { return a.Compare(right[0].address) >= 0 }
	n.cut = func(from, to netip.AddrPort) bool { return side(from) != side(to) }
	n.until(time.Minute, "each side sees the other dead", func() bool {
		for _, l := range left {
			for _, r := range right {
				if l.seesLive(r) || r.seesLive(l) {
					return false
				}
			}
		}
		return true
	})
	require.True(t, converged(left...)())
	require.True(t, converged(right...)())
	left[1].Set(n.now, "readiness", "NOT_READY")
	right[1].Set(n.now, "readiness", "NOT_READY")
	n.run(5 * time.Minute)

	n.cut = nil
	n.until(time.Minute, "all see all again", converged(members...))
}

func TestIslandsThatNeverMetJoinThroughASeed(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 4)
	a1, a2 := n.start(1, nil, nil), n.start(2, []int{1}, nil)
	b1, b2 := n.start(3, nil, nil), n.start(4, []int{3}, nil)
	n.until(time.Minute, "the first island", converged(a1, a2))
	n.until(time.Minute, "the second island", converged(b1, b2))
	n.run(time.Minute)
	require.Nil(t, a1.sees(b1))

	a2.SetSeeds([]netip.AddrPort{b2.address})
	n.until(time.Minute, "one cluster", converged(a1, a2, b1, b2))
}

func TestMemberWithoutSeedsIsFoundByThoseThatHaveItAsASeed(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 5)
	only := n.start(1, nil, nil)
	second, third := n.start(2, []int{1}, nil), n.start(3, []int{1}, nil)
	n.until(20*time.Second, "all see all", converged(only, second, third))
}

func TestSeedThatRelaysNothingStillBringsMembersTogether(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 6)
	seed := n.start(1, nil, func(o *Options) { o.NoRelay = true })
	second, third := n.start(2, []int{1}, nil), n.start(3, []int{1}, nil)
	n.until(20*time.Second, "all see all", converged(seed, second, third))
}

func TestRestartedMemberReplacesItsEarlierRun(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 8)
	members := n.startAll(5)
	n.until(time.Minute, "all see all", converged(members...))
	n.run(2 * time.Minute)

	earlier := members[2]
	earlier.kill()
	// It comes back at once, at its address, and without a seed: others still gossip to the dead.
	restarted := n.start(3, nil, nil)
	again := []*runningMember{members[0], members[1], members[3], members[4], restarted}
	took := n.until(time.Minute, "the new run is known", converged(again...))
	require.LessOrEqual(t, took, 8*time.Second)
	n.until(time.Minute, "the earlier run is dead", knownDead(earlier, again...))
	n.until(20*time.Minute, "the earlier run is forgotten", func() bool {
		for _, m := range again {
			if m.sees(earlier) != nil {
				return false
			}
		}
		return true
	})
	n.run(time.Minute)
	require.True(t, converged(again...)())
}

func TestRestartWithALowerGenerationStillConverges(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 9)
	members := n.startAll(3)
	n.until(time.Minute, "all see all", converged(members...))
	earlier := members[2]
	earlier.kill()
	restarted := n.start(3, []int{1}, func(o *Options) { o.Self.Generation = earlier.identity().Generation - 1 })
	n.until(time.Minute, "the new run is known", converged(members[0], members[1], restarted))
	n.until(time.Minute, "the earlier run is dead", knownDead(earlier, members[0], members[1], restarted))
}

func TestMemberWhoseNodeIDRunsWithAHigherGenerationSaysSo(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 10)
	first := n.start(1, nil, nil)
	n.start(2, []int{1}, func(o *Options) {
		o.Self.NodeID, o.Self.Generation = first.identity().NodeID, first.identity().Generation+1
	})
	n.until(time.Minute, "the conflict is noticed", func() bool { return first.Counters().IdentityConflicts > 0 })
}

func TestMemberWhoseGRPCAddressAnotherNodeIDAnnouncesSaysSo(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 11)
	first, second := n.start(1, nil, nil), n.start(2, []int{1}, nil)
	n.until(time.Minute, "all see all", converged(first, second))
	require.Zero(t, first.Counters().IdentityConflicts)
	second.Set(n.now, KeyGRPCAddress, first.machine.self.state.value(KeyGRPCAddress))
	n.until(time.Minute, "the conflict is noticed by both", func() bool {
		return first.Counters().IdentityConflicts > 0 && second.Counters().IdentityConflicts > 0
	})
}

func TestMemberThatOthersCannotReachSaysSo(t *testing.T) {
	t.Parallel()
	const warning = "no other member opens exchanges"
	n := newNetwork(t, 16)
	var reachedLog, unreachedLog bytes.Buffer
	logTo := func(b *bytes.Buffer) func(*Options) {
		return func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(b, nil)) }
	}
	reached, other := n.start(1, nil, logTo(&reachedLog)), n.start(2, []int{1}, nil)
	// The third one announces an address at which nobody is, but sends from its own.
	unreached := n.start(3, []int{1}, logTo(&unreachedLog))
	unreached.machine.self.identity.Address = addressOf(99)
	n.until(time.Minute, "all see all", converged(reached, other, unreached))
	n.run(50 * time.Second)
	require.NotContains(t, unreachedLog.String(), warning)
	n.run(15 * time.Second)
	require.Contains(t, unreachedLog.String(), warning)
	n.run(5 * time.Minute)
	require.NotContains(t, reachedLog.String(), warning)
}

// A generation used twice: the heartbeats of the second run are below those of the first.
func TestReusedGenerationIsNoticed(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 12)
	first, second := n.start(1, nil, nil), n.start(2, []int{1}, nil)
	n.until(time.Minute, "all see all", converged(first, second))
	n.run(time.Minute)
	second.kill()
	again := n.start(2, []int{1}, func(o *Options) { o.Self.Generation = second.identity().Generation })
	n.until(time.Minute, "the conflict is noticed", func() bool { return again.Counters().IdentityConflicts > 0 })
}

// Heartbeats rise once in a round, not with every message: the faster they rise, the shorter the
// silence that others put up with.
func TestStallOfSixSecondsIsSurvived(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 13)
	members := n.startAll(3)
	n.until(time.Minute, "all see all", converged(members...))
	n.run(2 * time.Minute)

	members[2].stalled = true
	for range 60 {
		n.run(100 * time.Millisecond)
		require.True(t, members[0].seesLive(members[2]) && members[1].seesLive(members[2]))
	}
	members[2].stalled = false
	n.run(5 * time.Second)
	require.True(t, converged(members...)())
}

func TestKilledMemberIsNoticedWithinSeconds(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 14)
	members := n.startAll(3)
	n.until(time.Minute, "all see all", converged(members...))
	n.run(4 * time.Minute)
	members[2].kill()
	took := n.until(time.Minute, "it is dead", knownDead(members[2], members[0], members[1]))
	require.LessOrEqual(t, took, 15*time.Second)
	require.True(t, converged(members[0], members[1])())
}

func TestAnnouncedChangeIsKnownAfterOneExchange(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 15)
	members := n.startAll(20)
	n.until(time.Minute, "all see all", converged(members...))
	leaving := members[5]
	leaving.Set(n.now, "readiness", "NOT_READY")
	n.send(leaving.address, leaving.Announce(n.now))
	n.run(3 * n.delay)
	require.True(t, converged(members...)())
}
