package wire_test

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

// packet is a datagram that a real member sent, and what it says.
type packet struct {
	name string
	hex  string
	want wire.Message
	// plain says that nothing in it is compressed, so that only one way to write it exists.
	plain bool
}

func member(nodeID string, generation uint64, address string) wire.Identity {
	return wire.Identity{NodeID: nodeID, Generation: generation, Address: netip.MustParseAddrPort(address)}
}

func packets() []packet {
	g4 := member("g4", 1796039721242139531, "127.0.0.1:9142")
	return []packet{
		{
			name: "P1, a Syn of version 0", plain: true,
			hex: `53b0 00 00
				0100
				0200 6735 6163d86af9d0ec18 04 7f000001 de23
				0200000000000000 0000000000000000 0500000000000000
				0b00 676f737369702d6c616234`,
			want: wire.Message{Type: wire.Syn, ClusterID: "gossip-lab4", Digest: []wire.DigestEntry{
				{Identity: member("g5", 1796040121071985505, "127.0.0.1:9182"), Heartbeat: 2, Max: 5},
			}},
		},
		{
			name: "P2, a SynAck of version 0 with a raw block", plain: true,
			hex: `53b0 00 01
				0200
				0200 6734 8b1b21539cd0ec18 04 7f000001 b623 0f00000000000000 0000000000000000 0500000000000000
				0a00 686f6c64666173742d63 4ad1d3519cd0ec18 04 7f000001 c423 1300000000000000 0000000000000000 0400000000000000
				02 4000
				00 0200 6734 8b1b21539cd0ec18 04 7f000001 b623 0000000000000000 0400000000000000
				01 0900 72656164696e657373 0500 5245414459 0500000000000000 00
				00`,
			want: wire.Message{Type: wire.SynAck,
				Digest: []wire.DigestEntry{
					{Identity: g4, Heartbeat: 15, Max: 5},
					{Identity: member("holdfast-c", 1796039721220297034, "127.0.0.1:9156"), Heartbeat: 19, Max: 4},
				},
				Delta: []wire.NodeDelta{{Identity: g4, From: 4, Max: 5, KeyValues: []wire.KeyValue{
					{Key: "readiness", Value: "READY", Version: 5},
				}}},
			},
		},
		{
			name: "P3, an Ack of version 0 with a compressed block",
			hex: `53b0 00 02
				01 aa00
				28b52ffd20c10d0500d209252e7055d301fc1f3afde0ea43a7e7320fc4089946
				560524f2e576a92ec0a8e4993b1d2fa68418f50ddf21121dc94e01ffffffd0f6
				a59d179a312d6a168045b813bb544ed5fa0a77c28632a960a0e66279d4bdd392
				bafcc8fd79d48b489e3449930479bc1f584a85db96c6bb498531e3ea0977c70b
				1059b76fe88dd6c6db50eec5d1b947b83b0adc2f002d0e0c08320dc60055fd79
				041000e581accff2ee0e
				00`,
			want: wire.Message{Type: wire.Ack, Delta: []wire.NodeDelta{{Identity: g4, Max: 4, KeyValues: []wire.KeyValue{
				{Key: "enabled_services", Value: "searcher", Version: 1},
				{Key: "grpc_advertise_addr", Value: "127.0.0.1:9141", Version: 2},
				{Key: "readiness", Value: "NOT_READY", Version: 3},
				{Key: "standalone_compactors", Value: "false", Version: 4},
			}}}},
		},
		{
			name: "P4, a Syn of version 1",
			hex: `53b0 01 00
				01 4100
				28b52ffd205ec5010084020200673393a203529cd0ec18047f000001ac2304000a00686f6c6466
				6173742d620849f451c2230305008000a00f56959d4980326002
				00
				0b00 676f737369702d6c616232`,
			want: wire.Message{Protocol: wire.V1, Type: wire.Syn, ClusterID: "gossip-lab2", Digest: []wire.DigestEntry{
				{Identity: member("g3", 1796039721223430803, "127.0.0.1:9132"), Heartbeat: 4, Max: 4},
				{Identity: member("holdfast-b", 1796039721222424840, "127.0.0.1:9154"), Heartbeat: 3, Max: 3},
			}},
		},
		{name: "P5, an Ack that says nothing", plain: true, hex: "53b0 00 02 00", want: wire.Message{Type: wire.Ack}},
		{name: "P6, BadCluster", plain: true, hex: "53b0 00 03", want: wire.Message{Type: wire.BadCluster}},
	}
}

func (p packet) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(p.hex), ""))
	require.NoError(t, err)
	return b
}

func newCodec(t testing.TB) *wire.Codec {
	t.Helper()
	codec, err := wire.NewCodec()
	require.NoError(t, err)
	return codec
}

func TestPacketsOfRealMembersAreRead(t *testing.T) {
	t.Parallel()
	for _, p := range packets() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			got, err := newCodec(t).Decode(p.bytes(t))
			require.NoError(t, err)
			require.Equal(t, p.want, got)
		})
	}
}

func TestPacketsOfRealMembersAreWritten(t *testing.T) {
	t.Parallel()
	for _, p := range packets() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			codec := newCodec(t)
			written, err := codec.Encode(p.want, wire.MaxDatagram)
			require.NoError(t, err)
			if p.plain {
				require.Equal(t, hex.EncodeToString(p.bytes(t)), hex.EncodeToString(written))
			}
			again, err := codec.Decode(written)
			require.NoError(t, err)
			require.Equal(t, p.want, again)
		})
	}
}

func TestBytesAfterAMessageAreIgnored(t *testing.T) {
	t.Parallel()
	for _, p := range packets() {
		got, err := newCodec(t).Decode(append(p.bytes(t), 0, 1, 2, 0xff))
		require.NoError(t, err, p.name)
		require.Equal(t, p.want, got, p.name)
	}
}
