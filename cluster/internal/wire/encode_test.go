package wire_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"holdfast/cluster/internal/wire"
)

func anyIdentity(t *rapid.T) wire.Identity {
	address, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ipv4"))
	if rapid.Bool().Draw(t, "is_ipv6") {
		address, _ = netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ipv6"))
	}
	return wire.Identity{
		NodeID:     rapid.StringN(0, 20, -1).Draw(t, "node_id"),
		Generation: rapid.Uint64().Draw(t, "generation"),
		Address:    netip.AddrPortFrom(address, rapid.Uint16().Draw(t, "port")),
	}
}

func anyDigest(t *rapid.T) []wire.DigestEntry {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) wire.DigestEntry {
		return wire.DigestEntry{
			Identity:  anyIdentity(t),
			Heartbeat: rapid.Uint64().Draw(t, "heartbeat"),
			LastGC:    wire.Version(rapid.Uint64().Draw(t, "last_gc")),
			Max:       wire.Version(rapid.Uint64().Draw(t, "max")),
		}
	}), 0, 8, func(e wire.DigestEntry) wire.Identity { return e.Identity }).Draw(t, "digest")
}

// anyDelta draws changes that a member may have to tell, with values of up to valueSize bytes.
func anyDelta(t *rapid.T, valueSize int) []wire.NodeDelta {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) wire.NodeDelta {
		n := wire.NodeDelta{
			Identity: anyIdentity(t),
			LastGC:   wire.Version(rapid.Uint64().Draw(t, "last_gc")),
			From:     wire.Version(rapid.Uint64().Draw(t, "from")),
		}
		for range rapid.IntRange(0, 6).Draw(t, "keys") {
			n.Max += wire.Version(rapid.Uint64Range(1, 1<<40).Draw(t, "step"))
			value := rapid.StringN(0, 8, -1).Draw(t, "value")
			if valueSize > 0 {
				value = strings.Repeat("x", rapid.IntRange(0, valueSize).Draw(t, "value_size"))
			}
			n.KeyValues = append(n.KeyValues, wire.KeyValue{
				Key:     rapid.StringN(0, 20, -1).Draw(t, "key"),
				Value:   value,
				Version: n.Max,
				Status:  wire.Status(rapid.IntRange(0, 2).Draw(t, "status")),
			})
		}
		if len(n.KeyValues) == 0 {
			n.Max = wire.Version(rapid.Uint64().Draw(t, "max"))
		}
		return n
	}), 0, 5, func(n wire.NodeDelta) wire.Identity { return n.Identity }).Draw(t, "delta")
}

func anyMessage(t *rapid.T) wire.Message {
	m := wire.Message{
		Protocol: wire.Protocol(rapid.IntRange(0, 1).Draw(t, "protocol")),
		Type:     wire.Type(rapid.IntRange(0, 3).Draw(t, "type")),
	}
	if m.Type == wire.Syn || m.Type == wire.SynAck {
		m.Digest = anyDigest(t)
	}
	if m.Type == wire.SynAck || m.Type == wire.Ack {
		m.Delta = anyDelta(t, 0)
	}
	if m.Type == wire.Syn {
		m.ClusterID = rapid.String().Draw(t, "cluster_id")
	}
	return m
}

// sameMessage compares without regard to nil and empty lists.
func sameMessage(t require.TestingT, want, got wire.Message) {
	if len(want.Digest) == 0 && len(got.Digest) == 0 {
		want.Digest, got.Digest = nil, nil
	}
	if len(want.Delta) == 0 && len(got.Delta) == 0 {
		want.Delta, got.Delta = nil, nil
	}
	require.Equal(t, want, got)
}

func TestEveryMessageSurvivesTheWay(t *testing.T) {
	t.Parallel()
	codec := newCodec(t)
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		datagram, err := codec.Encode(m, wire.MaxDatagram)
		require.NoError(t, err)
		got, err := codec.Decode(datagram)
		require.NoError(t, err)
		sameMessage(t, m, got)
	})
}

func TestDeltaIsCutAtTheBudgetAndStaysWellFormed(t *testing.T) {
	t.Parallel()
	codec := newCodec(t)
	rapid.Check(t, func(t *rapid.T) {
		m := wire.Message{Type: wire.SynAck, Digest: anyDigest(t), Delta: anyDelta(t, 20_000)}
		limit := rapid.IntRange(2_000, wire.MaxDatagram).Draw(t, "limit")
		datagram, err := codec.Encode(m, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(datagram), limit)
		got, err := codec.Decode(datagram)
		require.NoError(t, err)

		// What arrives is what was to be told, in order, up to a cut. Only members that fit in no message
		// may be missing at the front.
		wanted := m.Delta
		for i, n := range got.Delta {
			for len(wanted) > 0 && wanted[0].Identity != n.Identity {
				require.Zero(t, i, "a member was left out in the middle")
				wanted = wanted[1:]
			}
			require.NotEmpty(t, wanted)
			if i < len(got.Delta)-1 {
				require.Equal(t, wanted[0], n)
			} else {
				require.LessOrEqual(t, len(n.KeyValues), len(wanted[0].KeyValues))
				if len(n.KeyValues) > 0 {
					require.Equal(t, wanted[0].KeyValues[:len(n.KeyValues)], n.KeyValues)
				} else {
					require.Equal(t, wanted[0], n)
				}
			}
			wanted = wanted[1:]
		}
	})
}

func TestBudgetIsUsedToTheLastByteThatRawBlocksLeave(t *testing.T) {
	t.Parallel()
	codec := newCodec(t)
	// The header has 4 bytes, the Node 35, each KeyValue 16; a block adds 3, the end of the stream 1.
	n := wire.NodeDelta{Identity: member("a", 7, "10.0.0.1:80")}
	for v := range 3 {
		n.KeyValues = append(n.KeyValues, wire.KeyValue{Key: "k", Value: "v", Version: wire.Version(v + 1)})
	}
	for limit, want := range map[int]int{
		5: 0, 8 + 35 + 16 - 1: 0, 8 + 35 + 16: 1, 8 + 35 + 32 - 1: 1, 8 + 35 + 32: 2, 8 + 35 + 48: 3,
	} {
		datagram, err := codec.Encode(wire.Message{Type: wire.Ack, Delta: []wire.NodeDelta{n}}, limit)
		require.NoError(t, err)
		got, err := codec.Decode(datagram)
		require.NoError(t, err)
		written := 0
		if len(got.Delta) > 0 {
			written = len(got.Delta[0].KeyValues)
		}
		require.Equal(t, want, written, "limit %d", limit)
	}
}

func TestChangeThatFitsInNoMessageKeepsBackNoOtherMember(t *testing.T) {
	t.Parallel()
	codec := newCodec(t)
	large := strings.Repeat("x", 65_000)
	datagram, err := codec.Encode(wire.Message{Type: wire.Ack, Delta: []wire.NodeDelta{
		{Identity: member("large", 7, "10.0.0.1:80"), KeyValues: []wire.KeyValue{{Key: large, Value: large, Version: 1}}, Max: 1},
		{Identity: member("small", 7, "10.0.0.2:80"), KeyValues: []wire.KeyValue{{Key: "k", Value: "v", Version: 1}}, Max: 1},
	}}, wire.MaxDatagram)
	require.NoError(t, err)
	got, err := codec.Decode(datagram)
	require.NoError(t, err)
	require.Len(t, got.Delta, 1)
	require.Equal(t, "small", got.Delta[0].Identity.NodeID)
}

func TestLongContentIsCompressedInBlocksOf16384Bytes(t *testing.T) {
	t.Parallel()
	codec := newCodec(t)
	var n wire.NodeDelta
	n.Identity = member("a", 7, "10.0.0.1:80")
	for v := range 40 {
		n.Max = wire.Version(v + 1)
		n.KeyValues = append(n.KeyValues, wire.KeyValue{Key: "k", Value: strings.Repeat("x", 5_000), Version: n.Max})
	}
	m := wire.Message{Type: wire.Ack, Delta: []wire.NodeDelta{n}}
	datagram, err := codec.Encode(m, wire.MaxDatagram)
	require.NoError(t, err)
	require.Less(t, len(datagram), 5_000)
	require.Equal(t, byte(1), datagram[4], "the first block is compressed")
	got, err := codec.Decode(datagram)
	require.NoError(t, err)
	require.Equal(t, m, got)
}

func TestWhatTheEncodingCannotExpressIsRefused(t *testing.T) {
	t.Parallel()
	a := member("a", 7, "10.0.0.1:80")
	long := strings.Repeat("x", 65_536)
	keys := func(kvs ...wire.KeyValue) wire.Message {
		return wire.Message{Type: wire.Ack, Delta: []wire.NodeDelta{{Identity: a, KeyValues: kvs}}}
	}
	for _, test := range []struct {
		name    string
		message wire.Message
		want    string // in the error
	}{
		{"long cluster id", wire.Message{Type: wire.Syn, ClusterID: long}, "the cluster id has 65536 bytes"},
		{"cluster id that is not UTF-8", wire.Message{Type: wire.Syn, ClusterID: "\xff"}, "the cluster id is not UTF-8"},
		{"member without address", wire.Message{Type: wire.Syn, Digest: []wire.DigestEntry{{}}}, "no IP address"},
		{"long node id", wire.Message{Type: wire.Syn, Digest: []wire.DigestEntry{{Identity: member(long, 1, "10.0.0.1:80")}}}, "node id of a member has 65536 bytes"},
		{"digest of 65,536 members", wire.Message{Type: wire.Syn, Digest: make([]wire.DigestEntry, 65_536)}, "at most 65535"},
		{"digest larger than a datagram", wire.Message{Type: wire.Syn, Digest: manyMembers(2_000)}, "too large"},
		{"long key", keys(wire.KeyValue{Key: long, Version: 1}), "a key has 65536 bytes"},
		{"long value", keys(wire.KeyValue{Value: long, Version: 1}), "the value of a key has 65536 bytes"},
		{"version 0", keys(wire.KeyValue{Key: "k"}), "version 0 after 0"},
		{"falling versions", keys(wire.KeyValue{Key: "k", Version: 2}, wire.KeyValue{Key: "l", Version: 1}), "version 1 after 2"},
		{"unknown status", keys(wire.KeyValue{Key: "k", Version: 2, Status: 3}), "status 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := newCodec(t).Encode(test.message, wire.MaxDatagram)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func manyMembers(n int) []wire.DigestEntry {
	digest := make([]wire.DigestEntry, n)
	for i := range digest {
		digest[i] = wire.DigestEntry{Identity: member("seventeen-letters", uint64(i)*0x9e3779b97f4a7c15, "10.0.0.1:80"), Heartbeat: 1}
	}
	return digest
}

func TestVersion1HoldsMoreMembersThanVersion0(t *testing.T) {
	t.Parallel()
	codec := newCodec(t)
	_, err := codec.Encode(wire.Message{Type: wire.Syn, Digest: manyMembers(1_200)}, wire.MaxDatagram)
	require.ErrorIs(t, err, wire.ErrTooLarge)
	m := wire.Message{Protocol: wire.V1, Type: wire.Syn, Digest: manyMembers(3_000)}
	datagram, err := codec.Encode(m, wire.MaxDatagram)
	require.NoError(t, err)
	got, err := codec.Decode(datagram)
	require.NoError(t, err)
	require.Equal(t, m, got)
}
