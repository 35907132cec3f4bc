package wire_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

// Pieces of datagrams, as bytes.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func text(s string) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, uint16(len(s))), s...)
}

func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func identity(nodeID string) []byte {
	return join(text(nodeID), u64(7), []byte{4, 10, 0, 0, 1, 0x11, 0x22})
}

func node(nodeID string) []byte { return join([]byte{0}, identity(nodeID), u64(0), u64(0)) }

func keyValue(key string, version uint64, status byte) []byte {
	return join([]byte{1}, text(key), text("v"), u64(version), []byte{status})
}

func setMaxVersion(version uint64) []byte { return append([]byte{2}, u64(version)...) }

func block(tag byte, payload []byte) []byte {
	return join([]byte{tag}, binary.LittleEndian.AppendUint16(nil, uint16(len(payload))), payload)
}

// ack is an Ack whose delta has this content, in one raw block.
func ack(content ...[]byte) []byte {
	return join([]byte{0x53, 0xb0, 0, 2}, block(2, join(content...)), []byte{0})
}

func compress(t testing.TB, content []byte) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	require.NoError(t, err)
	return encoder.EncodeAll(content, nil)
}

func TestMalformedDatagramsAreRefused(t *testing.T) {
	t.Parallel()
	header := []byte{0x53, 0xb0, 0, 2}
	syn := func(entry []byte) []byte {
		return join([]byte{0x53, 0xb0, 0, 0, 1, 0}, entry, u64(1), u64(0), u64(0), text("c"))
	}
	for _, test := range []struct {
		name     string
		datagram []byte
		want     string // in the error
	}{
		{"nothing", nil, "too early"},
		{"half a header", header[:3], "too early"},
		{"wrong magic", []byte{0x53, 0xb1, 0, 3}, "magic"},
		{"protocol version 2", []byte{0x53, 0xb0, 2, 3}, "protocol version is 2"},
		{"type 4", []byte{0x53, 0xb0, 0, 4}, "type is 4"},
		{"no end of the stream", header, "too early"},
		{"block tag 3", join(header, block(3, nil), []byte{0}), "block 0: tag is 3"},
		{"block longer than the datagram", join(header, []byte{2, 0xff, 0xff}, node("a"), []byte{0}), "too early"},
		{"block that is no zstd", join(header, block(1, []byte("text")), []byte{0}), "decompress"},
		{"operation tag 3", ack(node("a"), []byte{3}), "operation 1: tag is 3"},
		{"status 3", ack(node("a"), keyValue("k", 1, 3)), "status is 3"},
		{"IP version 5", syn(join(text("a"), u64(7), []byte{5, 10, 0, 0, 1, 0x11, 0x22})), "IP version is 5"},
		{"node id that is not UTF-8", syn(identity("\xff")), "not UTF-8"},
		{"key that is not UTF-8", ack(node("a"), keyValue("\xff", 1, 0)), "not UTF-8"},
		{"cluster id that is not UTF-8", join([]byte{0x53, 0xb0, 0, 0, 0, 0}, text("\xff")), "not UTF-8"},
		{"KeyValue before Node", ack(keyValue("k", 1, 0)), "before any Node"},
		{"SetMaxVersion before Node", ack(setMaxVersion(1)), "before any Node"},
		{"Node twice", ack(node("a"), node("b"), node("a")), "operation 2: a second Node"},
		{"same version twice", ack(node("a"), keyValue("k", 2, 0), keyValue("l", 2, 0)), "version 2 does not follow version 2"},
		{"falling versions", ack(node("a"), keyValue("k", 2, 0), keyValue("l", 1, 0)), "version 1 does not follow version 2"},
		{"version 0", ack(node("a"), keyValue("k", 0, 0)), "version 0 does not follow version 0"},
		{"SetMaxVersion below a KeyValue", ack(node("a"), keyValue("k", 2, 0), setMaxVersion(1)), "SetMaxVersion after another change"},
		{"SetMaxVersion above a KeyValue", ack(node("a"), keyValue("k", 2, 0), setMaxVersion(3)), "SetMaxVersion after another change"},
		{"SetMaxVersion twice", ack(node("a"), setMaxVersion(0), setMaxVersion(3)), "SetMaxVersion after another change"},
		{"KeyValue after SetMaxVersion", ack(node("a"), setMaxVersion(0), keyValue("k", 2, 0)), "KeyValue after a SetMaxVersion"},
		{"more digest entries announced than there are", join([]byte{0x53, 0xb0, 0, 0, 0xff, 0xff}, identity("a"), u64(1)), "digest: entry 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := newCodec(t).Decode(test.datagram)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestLastOfSeveralDigestEntriesForOneMemberHolds(t *testing.T) {
	t.Parallel()
	datagram := join([]byte{0x53, 0xb0, 0, 0, 3, 0},
		identity("a"), u64(1), u64(0), u64(0),
		identity("b"), u64(5), u64(0), u64(0),
		identity("a"), u64(2), u64(3), u64(4),
		text("c"))
	got, err := newCodec(t).Decode(datagram)
	require.NoError(t, err)
	require.Equal(t, []wire.DigestEntry{
		{Identity: member("a", 7, "10.0.0.1:8721"), Heartbeat: 2, LastGC: 3, Max: 4},
		{Identity: member("b", 7, "10.0.0.1:8721"), Heartbeat: 5},
	}, got.Digest)
}

func TestBlockMayDecompressTo65535BytesAndNoMore(t *testing.T) {
	t.Parallel()
	// A Node and one KeyValue whose value fills the block.
	content := func(size int) []byte {
		head := join(node("a"), []byte{1}, text("k"))
		tail := join(u64(1), []byte{0})
		value := bytes.Repeat([]byte{'v'}, size-len(head)-len(tail)-2)
		return join(head, text(string(value)), tail)
	}
	datagram := func(size int) []byte {
		return join([]byte{0x53, 0xb0, 0, 2}, block(1, compress(t, content(size))), []byte{0})
	}
	_, err := newCodec(t).Decode(datagram(65_535))
	require.NoError(t, err)
	_, err = newCodec(t).Decode(datagram(65_536))
	require.ErrorContains(t, err, "block 0: decompress")
}

// Not parallel, as it measures what the process allocates.
func TestBombsAreRefusedWithinBoundedMemory(t *testing.T) {
	full := compress(t, make([]byte, 65_535))
	many := bytes.Repeat(block(1, full), 60_000/(len(full)+3))
	codec := newCodec(t)
	for name, datagram := range map[string][]byte{
		"one block":               join([]byte{0x53, 0xb0, 0, 2}, block(1, compress(t, make([]byte, 100<<20))), []byte{0}),
		"many blocks of a delta":  join([]byte{0x53, 0xb0, 0, 2}, many, []byte{0}),
		"many blocks of a digest": join([]byte{0x53, 0xb0, 1, 0}, many, []byte{0}, text("c")),
	} {
		require.LessOrEqual(t, len(datagram), wire.MaxDatagram, name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := codec.Decode(datagram)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "block ", name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), name)
	}
}

func TestItemsMaySpanBlocks(t *testing.T) {
	t.Parallel()
	content := join(node("a"), keyValue("k", 1, 0), keyValue("l", 2, 2), node("b"), setMaxVersion(9))
	codec := newCodec(t)
	want, err := codec.Decode(ack(content))
	require.NoError(t, err)
	require.Len(t, want.Delta, 2)
	for offset := range len(content) + 1 {
		first, second := content[:offset], content[offset:]
		for name, datagram := range map[string][]byte{
			"raw, raw":        join([]byte{0x53, 0xb0, 0, 2}, block(2, first), block(2, second), []byte{0}),
			"compressed, raw": join([]byte{0x53, 0xb0, 0, 2}, block(1, compress(t, first)), block(2, second), []byte{0}),
			"raw, compressed": join([]byte{0x53, 0xb0, 0, 2}, block(2, first), block(1, compress(t, second)), []byte{0}),
		} {
			got, err := codec.Decode(datagram)
			require.NoError(t, err, "%s, cut at %d", name, offset)
			require.Equal(t, want, got, "%s, cut at %d", name, offset)
		}
	}
}

func TestEveryPrefixOfAPacketIsRefused(t *testing.T) {
	t.Parallel()
	for _, p := range packets() {
		whole := p.bytes(t)
		codec := newCodec(t)
		for n := range len(whole) {
			_, err := codec.Decode(whole[:n])
			require.Error(t, err, "%s, %d bytes", p.name, n)
		}
	}
}

func TestEveryChangeOfOneByteOfAPacketIsReadOrRefused(t *testing.T) {
	t.Parallel()
	for _, p := range packets() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			whole := p.bytes(t)
			codec := newCodec(t)
			for i := range whole {
				for change := 1; change < 256; change++ {
					changed := bytes.Clone(whole)
					changed[i] ^= byte(change)
					checkSurvives(t, codec, changed)
				}
			}
		})
	}
}

// checkSurvives reads a datagram; a message that is read must survive being written and read again.
func checkSurvives(t require.TestingT, codec *wire.Codec, datagram []byte) {
	m, err := codec.Decode(datagram)
	if err != nil {
		require.Equal(t, wire.Message{}, m)
		return
	}
	written, err := codec.Encode(m, 1<<30)
	require.NoError(t, err)
	again, err := codec.Decode(written)
	require.NoError(t, err)
	require.Equal(t, m, again)
}

func FuzzDecode(f *testing.F) {
	for _, p := range packets() {
		f.Add(p.bytes(f))
	}
	f.Add(ack(node("a"), keyValue("k", 2, 0), setMaxVersion(1)))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		checkSurvives(t, newCodec(t), datagram)
	})
}

// FuzzDecodeContent reaches behind the compression: the bytes are the content of the streams.
func FuzzDecodeContent(f *testing.F) {
	f.Add(join(identity("a"), u64(1), u64(2), u64(3)), join(node("a"), keyValue("k", 1, 0), node("b"), setMaxVersion(9)))
	f.Add(join(identity("a"), u64(1), u64(2), u64(3), identity("a"), u64(4), u64(5), u64(6)), ack(node("a"), keyValue("k", 2, 0), setMaxVersion(1)))
	f.Fuzz(func(t *testing.T, digest, delta []byte) {
		if len(digest)+len(delta) > 60_000 {
			return
		}
		checkSurvives(t, newCodec(t), join([]byte{0x53, 0xb0, 1, 1}, block(2, digest), []byte{0}, block(2, delta), []byte{0}))
	})
}
