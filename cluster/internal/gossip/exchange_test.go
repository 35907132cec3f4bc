package gossip

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"holdfast/cluster/internal/wire"
)

// incompressible returns text that zstd cannot shorten much.
func incompressible(random *rand.Rand, size int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	var b strings.Builder
	for range size {
		b.WriteByte(letters[random.IntN(len(letters))])
	}
	return b.String()
}

func TestMembersConvergeOnAnyNetwork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := newNetwork(t, rapid.Uint64().Draw(r, "seed"))
		n.loss = rapid.Float64Range(0, 0.5).Draw(r, "loss")
		n.duplication = rapid.Float64Range(0, 0.5).Draw(r, "duplication")
		n.delay = time.Duration(rapid.IntRange(0, 3000).Draw(r, "delay")) * time.Millisecond
		members := n.startAll(rapid.IntRange(2, 4).Draw(r, "members"))
		for range rapid.IntRange(0, 20).Draw(r, "changes") {
			m := members[rapid.IntRange(0, len(members)-1).Draw(r, "member")]
			m.Set(n.now, fmt.Sprint("holdfast.", rapid.IntRange(0, 5).Draw(r, "key")), fmt.Sprint(rapid.IntRange(0, 3).Draw(r, "value")))
			n.run(time.Duration(rapid.IntRange(0, 2000).Draw(r, "pause")) * time.Millisecond)
		}
		n.until(5*time.Minute, "all see all", converged(members...))
	})
}

func TestStateLargerThanADatagramArrivesInSeveral(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 1)
	first, second := n.start(1, nil, nil), n.start(2, []int{1}, nil)
	for i := range 3_000 {
		first.Set(n.now, fmt.Sprintf("holdfast.filler:%d", i), incompressible(n.random, 80))
	}
	n.until(time.Minute, "all keys arrived", converged(first, second))
	require.Greater(t, first.machine.self.state.bytes, 4*wire.MaxDatagram)
	require.Greater(t, n.largest, 60_000)
	require.GreaterOrEqual(t, second.Counters().Deltas, uint64(4))
}

func TestSmallNewMemberIsToldBeforeALargeOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MaxDatagram = 600 })
	b.Set(b.now, "k", "v")
	b.Set(b.now, "l", "v")
	random := rand.New(rand.NewPCG(1, 1))
	for number, keys := range map[int]int{2: 3, 3: 40} {
		id := wire.Identity{NodeID: fmt.Sprint("member-", number), Generation: 1, Address: addressOf(number)}
		b.syn(wire.DigestEntry{Identity: id, Heartbeat: 1})
		d := wire.NodeDelta{Identity: id, Max: wire.Version(keys)}
		for i := range keys {
			d.KeyValues = append(d.KeyValues, kv(fmt.Sprint("key-", i), incompressible(random, 20), wire.Version(i+1)))
		}
		b.tell(d)
	}
	answer := b.syn()
	var order []string
	for _, d := range answer.Delta {
		order = append(order, fmt.Sprintf("%s %d", d.Identity.NodeID, len(d.KeyValues)))
	}
	require.Len(t, order, 3)
	require.Equal(t, []string{"self 2", "member-2 3"}, order[:2])
	require.Less(t, len(answer.Delta[2].KeyValues), 40, "the large one is cut")
}

func TestMemberOfWhomMostIsToldComesFirstAmongThoseThatAreKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var digest []wire.DigestEntry
	for number, keys := range map[int]int{2: 5, 3: 9, 4: 7} {
		id := wire.Identity{NodeID: fmt.Sprint("member-", number), Generation: 1, Address: addressOf(number)}
		b.syn(wire.DigestEntry{Identity: id, Heartbeat: 1})
		d := wire.NodeDelta{Identity: id, Max: wire.Version(keys)}
		for i := range keys {
			d.KeyValues = append(d.KeyValues, kv(fmt.Sprint("key-", i), "v", wire.Version(i+1)))
		}
		b.tell(d)
		digest = append(digest, wire.DigestEntry{Identity: id, Heartbeat: 1, Max: 1})
	}
	var order []string
	for _, d := range b.syn(digest...).Delta {
		require.Equal(t, wire.Version(1), d.From)
		order = append(order, d.Identity.NodeID)
	}
	require.Equal(t, []string{"member-3", "member-4", "member-2"}, order)
}

func TestMemberThatRelaysNothingTellsItsOwnKeysOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.NoRelay = true })
	b.Set(b.now, "k", "v")
	b.syn(heartbeat(1))
	b.tell(wire.NodeDelta{Identity: otherIdentity(), Max: 1, KeyValues: []wire.KeyValue{kv("k", "v", 1)}})
	answer := b.receive(addressOf(3), wire.Message{Type: wire.Syn, ClusterID: "test"})
	require.Len(t, answer.Digest, 2)
	require.Len(t, answer.Delta, 1)
	require.Equal(t, b.self.identity, answer.Delta[0].Identity)
}

// In steady state an exchange is three small datagrams.
func TestNothingIsToldTwice(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, 1)
	members := n.startAll(3)
	n.until(time.Minute, "all see all", converged(members...))
	before := members[0].Counters()
	n.largest = 0
	n.run(time.Minute)
	after := members[0].Counters()
	require.Equal(t, before.Deltas, after.Deltas)
	require.Equal(t, before.RejectedDeltas, after.RejectedDeltas)
	require.Less(t, n.largest, 250)
}
