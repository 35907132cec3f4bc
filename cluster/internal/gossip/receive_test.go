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

func TestAnswersHaveTheVersionOfWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	for _, own := range []wire.Protocol{wire.V0, wire.V1} {
		for _, theirs := range []wire.Protocol{wire.V0, wire.V1} {
			t.Run(fmt.Sprintf("own %d, theirs %d", own, theirs), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, func(o *Options) { o.Protocol = own })
				synAck := b.receive(addressOf(2), wire.Message{Protocol: theirs, Type: wire.Syn, ClusterID: "test"})
				require.Equal(t, wire.SynAck, synAck.Type)
				require.Equal(t, theirs, synAck.Protocol)
				bad := b.receive(addressOf(2), wire.Message{Protocol: theirs, Type: wire.Syn, ClusterID: "other"})
				require.Equal(t, wire.BadCluster, bad.Type)
				require.Equal(t, theirs, bad.Protocol)

				b.SetSeeds([]netip.AddrPort{addressOf(2)})
				packets := b.Round(b.now)
				require.Len(t, packets, 1)
				syn, err := b.codec.Decode(packets[0].Payload)
				require.NoError(t, err)
				require.Equal(t, own, syn.Protocol)
				ack := b.receive(addressOf(2), wire.Message{Protocol: theirs, Type: wire.SynAck})
				require.Equal(t, &wire.Message{Protocol: theirs, Type: wire.Ack}, ack)
			})
		}
	}
}

func TestSynOfAnotherClusterIsRefusedAndNotUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(5))
	answer := b.receive(addressOf(2), wire.Message{Type: wire.Syn, ClusterID: "test2", Digest: []wire.DigestEntry{
		heartbeat(9), {Identity: wire.Identity{NodeID: "third", Generation: 1, Address: addressOf(3)}, Heartbeat: 1},
	}})
	require.Equal(t, &wire.Message{Type: wire.BadCluster}, answer)
	require.Len(t, b.others, 1)
	require.Equal(t, uint64(5), b.others[0].heartbeat)
	require.Equal(t, uint64(1), b.Counters().ForeignCluster)
}

func TestFirstSynIsAnsweredWithAllThatTheCallerLacks(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.Set(b.now, "enabled_services", "metastore")
	b.Set(b.now, "readiness", "READY")
	caller := heartbeat(3)
	caller.Max = 4
	answer := b.syn(caller)
	require.Equal(t, []wire.DigestEntry{
		{Identity: b.self.identity, Heartbeat: 1, Max: 2},
		{Identity: otherIdentity(), Heartbeat: 3},
	}, answer.Digest)
	require.Equal(t, []wire.NodeDelta{{Identity: b.self.identity, Max: 2, KeyValues: []wire.KeyValue{
		kv("enabled_services", "metastore", 1), kv("readiness", "READY", 2),
	}}}, answer.Delta)
}

func TestOwnHeartbeatRisesInRoundsOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for range 5 {
		require.Equal(t, uint64(1), b.syn().Digest[0].Heartbeat)
	}
	b.round()
	require.Equal(t, uint64(2), b.syn().Digest[0].Heartbeat)
	b.Announce(b.now)
	require.Equal(t, uint64(2), b.syn().Digest[0].Heartbeat)
}

func TestMalformedDatagramsAreCountedAndNotAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(1))
	for i, payload := range [][]byte{
		nil, {0}, {0x53, 0xb0, 0, 4}, {0x53, 0xb0, 2, 3}, bytes.Repeat([]byte{0x53, 0xb0}, 30_000),
	} {
		require.Empty(t, b.Receive(b.now, addressOf(2), payload))
		require.Equal(t, uint64(i+1), b.Counters().Malformed)
	}
	require.Len(t, b.others, 1)
}

func TestDatagramsFromOutsideThePeerNetworksAreCountedAndNotAnswered(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("10.0.0.0/24")
	b := newBench(t, func(o *Options) { o.Allowed = network.Contains })
	syn := wire.Message{Type: wire.Syn, ClusterID: "test", Digest: []wire.DigestEntry{heartbeat(1)}}
	for _, from := range []string{"10.0.1.1:7282", "[::ffff:10.0.1.1]:7282", "[fe80::1%eth0]:7282"} {
		require.Empty(t, b.Receive(b.now, netip.MustParseAddrPort(from), b.encode(syn)))
	}
	require.Equal(t, uint64(3), b.Counters().RefusedNetwork)
	require.Empty(t, b.others)

	require.Len(t, b.Receive(b.now, netip.MustParseAddrPort("[::ffff:10.0.0.9]:7282"), b.encode(syn)), 1)
	require.Len(t, b.others, 1)
}

// Syns go to the addresses of members: nobody may point the machine at others.
func TestMembersThatCannotBePeersAreRefused(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("10.0.0.0/24")
	b := newBench(t, func(o *Options) { o.Allowed = network.Contains })
	for i, id := range []wire.Identity{
		{NodeID: "x", Address: netip.MustParseAddrPort("10.0.1.1:7282")},
		{NodeID: "x", Address: netip.MustParseAddrPort("10.0.0.1:0")},
		{NodeID: "x", Address: netip.MustParseAddrPort("0.0.0.0:7282")},
		{NodeID: "x", Address: netip.MustParseAddrPort("224.0.0.1:7282")},
		{NodeID: "", Address: addressOf(2)},
		{NodeID: string(bytes.Repeat([]byte("x"), 256)), Address: addressOf(2)},
	} {
		b.syn(wire.DigestEntry{Identity: id, Heartbeat: 1})
		require.Equal(t, uint64(i+1), b.Counters().RefusedMembers)
		require.Empty(t, b.others)
	}
}

func TestAnswersAreBelievedFromThoseWhoWereAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(1)) // from 2
	delta := []wire.NodeDelta{{Identity: otherIdentity(), Max: 1, KeyValues: []wire.KeyValue{kv("k", "v", 1)}}}
	stranger := addressOf(9)

	require.Nil(t, b.receive(stranger, wire.Message{Type: wire.Ack, Delta: delta}))
	require.Nil(t, b.receive(stranger, wire.Message{Type: wire.SynAck, Digest: []wire.DigestEntry{heartbeat(9)}, Delta: delta}))
	require.Nil(t, b.receive(addressOf(2), wire.Message{Type: wire.SynAck, Digest: []wire.DigestEntry{heartbeat(9)}, Delta: delta}))
	require.Equal(t, uint64(3), b.Counters().Unasked)
	require.Empty(t, b.find(otherIdentity()).state.keys)
	require.Equal(t, uint64(1), b.find(otherIdentity()).heartbeat)

	// The Syn that 2 sent was answered; for ten rounds its Ack is awaited.
	for range 10 {
		b.round()
	}
	require.Nil(t, b.receive(addressOf(2), wire.Message{Type: wire.Ack, Delta: delta}))
	require.Len(t, b.find(otherIdentity()).state.keys, 1)
}

func TestAnswersThatTakeMoreThanTenRoundsAreDropped(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.SetSeeds([]netip.AddrPort{addressOf(9)})
	b.round()
	require.NotNil(t, b.receive(addressOf(9), wire.Message{Type: wire.SynAck}))
	b.SetSeeds(nil)
	for range 10 {
		b.round()
	}
	require.NotNil(t, b.receive(addressOf(9), wire.Message{Type: wire.SynAck}))
	b.round()
	require.Nil(t, b.receive(addressOf(9), wire.Message{Type: wire.SynAck}))
	require.Empty(t, b.synSent, "the address is forgotten")
}

func TestSynsFromCountlessAddressesTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	syn := b.encode(wire.Message{Type: wire.Syn, ClusterID: "test"})
	for i := range maxAddresses {
		require.Len(t, b.Receive(b.now, addressOf(i), syn), 1)
	}
	require.Empty(t, b.Receive(b.now, addressOf(maxAddresses), syn))
	require.Len(t, b.synAckSent, maxAddresses)
}

func TestKeysOfThisMemberAreItsOwnMatter(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := newBench(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	b.Set(b.now, "readiness", "READY")
	b.tell(wire.NodeDelta{Identity: b.self.identity, Max: 7, KeyValues: []wire.KeyValue{kv("readiness", "NOT_READY", 7)}})
	require.Equal(t, "READY", b.self.state.value("readiness"))
	require.Equal(t, wire.Version(1), b.self.state.max)
	require.Equal(t, uint64(1), b.Counters().IdentityConflicts)
	require.Contains(t, log.String(), "level=ERROR")

	// A repeated message is not logged again within a minute.
	length := log.Len()
	b.tell(wire.NodeDelta{Identity: b.self.identity, Max: 8, KeyValues: []wire.KeyValue{kv("readiness", "NOT_READY", 8)}})
	require.Equal(t, length, log.Len())
	b.now = b.now.Add(time.Minute)
	b.tell(wire.NodeDelta{Identity: b.self.identity, Max: 9, KeyValues: []wire.KeyValue{kv("readiness", "NOT_READY", 9)}})
	require.Greater(t, log.Len(), length)
}

func TestDeltaMakesNoMember(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.tell(wire.NodeDelta{Identity: otherIdentity(), Max: 1, KeyValues: []wire.KeyValue{kv("k", "v", 1)}})
	require.Empty(t, b.others)
}

func TestStatesThatFollowEachOtherAreTakenInOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(1))
	delta := wire.NodeDelta{Identity: otherIdentity(), Max: 1, KeyValues: []wire.KeyValue{kv("k", "v", 1)}}
	b.tell(delta)
	b.tell(delta)
	require.Equal(t, uint64(1), b.Counters().Deltas)
	require.Equal(t, uint64(1), b.Counters().RejectedDeltas)
	b.tell(wire.NodeDelta{Identity: otherIdentity(), LastGC: 5, Max: 6, KeyValues: []wire.KeyValue{kv("k", "w", 6)}})
	require.Equal(t, uint64(1), b.Counters().Resets)
	require.Equal(t, "w", b.find(otherIdentity()).state.value("k"))
}

func FuzzReceive(f *testing.F) {
	b := newBench(f, nil)
	b.Set(b.now, "readiness", "READY")
	delta := []wire.NodeDelta{{Identity: otherIdentity(), Max: 1, KeyValues: []wire.KeyValue{kv("k", "v", 1)}}}
	for _, m := range []wire.Message{
		{Type: wire.Syn, ClusterID: "test", Digest: []wire.DigestEntry{heartbeat(1)}},
		{Type: wire.SynAck, Digest: []wire.DigestEntry{heartbeat(2)}, Delta: delta},
		{Type: wire.Ack, Delta: delta},
		{Type: wire.BadCluster},
	} {
		f.Add(b.encode(m), b.encode(m))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		b := newBench(t, nil)
		b.SetSeeds([]netip.AddrPort{addressOf(2)})
		b.Round(b.now)
		b.syn(heartbeat(1))
		for _, payload := range [][]byte{first, second} {
			for _, packet := range b.Receive(b.now, addressOf(2), payload) {
				require.LessOrEqual(t, len(packet.Payload), wire.MaxDatagram)
				_, err := b.codec.Decode(packet.Payload)
				require.NoError(t, err)
			}
			for range 3 {
				b.round()
			}
		}
		size := 0
		for _, other := range b.others {
			size += other.state.bytes
		}
		require.Equal(t, size, b.bytes)
	})
}
