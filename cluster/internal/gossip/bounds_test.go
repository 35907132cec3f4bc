package gossip

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

func numbered(n int) wire.Identity {
	return wire.Identity{NodeID: "numbered", Generation: uint64(n), Address: addressOf(n)}
}

func TestOldestDeadMemberGivesWayToANewOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MaxMembers = 3 })
	// The first one lives, the second dies before the third.
	b.syn(wire.DigestEntry{Identity: numbered(10), Heartbeat: 1}, wire.DigestEntry{Identity: numbered(11), Heartbeat: 1})
	b.round()
	b.syn(wire.DigestEntry{Identity: numbered(12), Heartbeat: 1})
	for beat := range uint64(3) {
		b.syn(wire.DigestEntry{Identity: numbered(10), Heartbeat: beat + 2})
		b.round()
	}
	require.True(t, b.find(numbered(10)).live)

	b.syn(wire.DigestEntry{Identity: numbered(13), Heartbeat: 1})
	require.Nil(t, b.find(numbered(11)))
	require.NotNil(t, b.find(numbered(10)))
	require.NotNil(t, b.find(numbered(12)))
	require.NotNil(t, b.find(numbered(13)))
	require.Equal(t, uint64(1), b.Counters().Evicted)
	b.syn(wire.DigestEntry{Identity: numbered(11), Heartbeat: 1})
	require.Nil(t, b.find(numbered(11)), "what was known of it does not bring it back")
}

func TestMembersForWhomThereIsNoRoomAreRefusedAndCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MaxMembers = 3 })
	var entries []wire.DigestEntry
	for n := range 10 {
		entries = append(entries, wire.DigestEntry{Identity: numbered(n + 10), Heartbeat: 1})
	}
	b.syn(entries...)
	require.Len(t, b.others, 3)
	require.Equal(t, uint64(7), b.Counters().RefusedMembers)
	require.Zero(t, b.Counters().Evicted, "nobody was judged dead yet")
}

func TestOneDatagramEvictsAFewMembersOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MaxMembers = 100 })
	digest := func(from int) (entries []wire.DigestEntry) {
		for n := range 100 {
			entries = append(entries, wire.DigestEntry{Identity: numbered(from + n), Heartbeat: 1})
		}
		return entries
	}
	b.syn(digest(1000)...)
	b.round()
	b.syn(digest(2000)...)
	require.Equal(t, uint64(maxEvictions), b.Counters().Evicted)
	require.Len(t, b.others, 100)
}

func large(id wire.Identity, version wire.Version, size int) wire.NodeDelta {
	return wire.NodeDelta{Identity: id, From: version - 1, Max: version, KeyValues: []wire.KeyValue{kv("k", strings.Repeat("x", size), version)}}
}

func TestKeysOfOneMemberAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MaxStateBytes = 10_000 })
	b.syn(heartbeat(1))
	b.tell(large(otherIdentity(), 1, 9_000))
	b.tell(large(otherIdentity(), 2, 9_500)) // takes the place of the former value
	require.Equal(t, wire.Version(2), b.find(otherIdentity()).state.max)
	b.tell(large(otherIdentity(), 3, 10_000))
	require.Equal(t, wire.Version(2), b.find(otherIdentity()).state.max)
	require.Equal(t, uint64(1), b.Counters().OverLimit)
	require.LessOrEqual(t, b.bytes, 10_000)
}

func TestDeadMembersGiveWayWhenAllKeysTogetherAreTooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MaxBytes = 25_000 })
	for n := range 2 {
		b.syn(wire.DigestEntry{Identity: numbered(n + 10), Heartbeat: 1})
		b.tell(large(numbered(n+10), 1, 10_000))
		b.round()
	}
	b.syn(heartbeat(1))
	b.tell(large(otherIdentity(), 1, 10_000))
	require.Nil(t, b.find(numbered(10)), "it is dead for the longest time")
	require.Len(t, b.find(numbered(11)).state.keys, 1)
	require.Len(t, b.find(otherIdentity()).state.keys, 1)
	require.Equal(t, b.bytes, b.find(numbered(11)).state.bytes+b.find(otherIdentity()).state.bytes)

	b.tell(large(otherIdentity(), 2, 40_000))
	require.Equal(t, uint64(1), b.Counters().OverLimit)
	require.Equal(t, "x", b.find(otherIdentity()).state.value("k")[:1])
	require.LessOrEqual(t, b.bytes, 25_000)
}

// A digest of 2,000 members does not fit in a datagram of version 0.
func TestDigestThatDoesNotFitNamesTheLivingAndTheRestInTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for beat := range uint64(4) {
		for part := range 4 {
			var entries []wire.DigestEntry
			for n := range 500 {
				number := part*500 + n
				entry := wire.DigestEntry{Identity: numbered(number + 10), Heartbeat: 1}
				if number%4 == 0 {
					entry.Heartbeat += beat // every fourth member lives
				}
				entries = append(entries, entry)
			}
			b.syn(entries...)
		}
		b.round()
	}
	named := make(map[wire.Identity]bool)
	for range 20 {
		digest := b.syn().Digest
		require.Equal(t, b.self.identity, digest[0].Identity)
		require.Greater(t, len(digest), 700)
		for number := 0; number < 2_000; number += 4 {
			require.True(t, known(digest, numbered(number+10)))
		}
		for _, entry := range digest {
			named[entry.Identity] = true
		}
	}
	require.Greater(t, len(named), 1_900)
	require.Positive(t, b.Counters().CutDigests)
	require.Zero(t, b.Counters().Unwritable)
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string // in the error
	}{
		{"no node id", func(o *Options) { o.Self.NodeID = "" }, "node id has 0 bytes"},
		{"long node id", func(o *Options) { o.Self.NodeID = strings.Repeat("x", 256) }, "node id has 256 bytes"},
		{"no address", func(o *Options) { o.Self.Address = wire.Identity{}.Address }, "one host"},
		{"no cluster id", func(o *Options) { o.ClusterID = "" }, "cluster id has 0 bytes"},
		{"unknown protocol", func(o *Options) { o.Protocol = 2 }, "version is 2"},
		{"tiny datagrams", func(o *Options) { o.MaxDatagram = 100 }, "100 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := Options{Self: otherIdentity(), ClusterID: "test"}
			test.change(&options)
			_, err := New(options)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDeadIsWhoNeverShowedSignsOfLifeToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(1))
	b.round()
	require.Equal(t, b.now, b.find(otherIdentity()).deadSince)
	b.now = b.now.Add(15 * time.Minute)
	b.Round(b.now)
	require.Nil(t, b.find(otherIdentity()))
}
