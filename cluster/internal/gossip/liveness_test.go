package gossip

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/cluster/internal/wire"
)

// bench is a machine that is handed datagrams by a test instead of a network.
type bench struct {
	*Machine
	t     testing.TB
	now   time.Time
	codec *wire.Codec
}

func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	options := Options{
		Self:      wire.Identity{NodeID: "self", Generation: 100, Address: addressOf(1)},
		ClusterID: "test",
		Random:    rand.New(rand.NewPCG(1, 2)),
	}
	if change != nil {
		change(&options)
	}
	machine, err := New(options)
	require.NoError(t, err)
	codec, err := wire.NewCodec()
	require.NoError(t, err)
	return &bench{Machine: machine, t: t, now: epoch, codec: codec}
}

func (b *bench) encode(m wire.Message) []byte {
	b.t.Helper()
	payload, err := b.codec.Encode(m, wire.MaxDatagram)
	require.NoError(b.t, err)
	return payload
}

// receive hands over a message and returns the answer, if there is one.
func (b *bench) receive(from netip.AddrPort, m wire.Message) *wire.Message {
	b.t.Helper()
	packets := b.Receive(b.now, from, b.encode(m))
	if len(packets) == 0 {
		return nil
	}
	require.Len(b.t, packets, 1)
	require.Equal(b.t, from, packets[0].To, "answers go to where the datagram came from")
	answer, err := b.codec.Decode(packets[0].Payload)
	require.NoError(b.t, err)
	return &answer
}

func (b *bench) syn(entries ...wire.DigestEntry) *wire.Message {
	b.t.Helper()
	return b.receive(addressOf(2), wire.Message{Type: wire.Syn, ClusterID: "test", Digest: entries})
}

// tell makes the machine take in changes: as the Ack that ends an exchange.
func (b *bench) tell(delta ...wire.NodeDelta) {
	b.t.Helper()
	require.NotNil(b.t, b.syn())
	require.Nil(b.t, b.receive(addressOf(2), wire.Message{Type: wire.Ack, Delta: delta}))
}

// round lets a second pass.
func (b *bench) round() {
	b.now = b.now.Add(interval)
	b.Round(b.now)
}

func otherIdentity() wire.Identity {
	return wire.Identity{NodeID: "other", Generation: 50, Address: addressOf(2)}
}

func heartbeat(n uint64) wire.DigestEntry {
	return wire.DigestEntry{Identity: otherIdentity(), Heartbeat: n}
}

// known says whether a digest names the member.
func known(digest []wire.DigestEntry, id wire.Identity) bool {
	for _, entry := range digest {
		if entry.Identity == id {
			return true
		}
	}
	return false
}

func TestMemberIsAliveFromItsThirdHeartbeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for n := range uint64(3) {
		require.False(t, n > 0 && b.find(otherIdentity()).live)
		b.syn(heartbeat(n + 10))
		b.round()
	}
	require.True(t, b.find(otherIdentity()).live)
}

func TestHeartbeatsThatAreNoNewsAreNoArrivals(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, n := range []uint64{0, 7, 7, 3, 0, 7, 6} {
		b.syn(heartbeat(n))
		b.round()
		other := b.find(otherIdentity())
		require.True(t, other.detector.last.IsZero(), "after heartbeat %d", n)
		require.False(t, other.live)
	}
	b.syn(heartbeat(8))
	require.Equal(t, b.now, b.find(otherIdentity()).detector.last)
}

// beat sends rising heartbeats, one a second, and returns the last.
func (b *bench) beat(from uint64, count int) uint64 {
	for range count {
		b.syn(heartbeat(from))
		b.round()
		from++
	}
	return from - 1
}

func TestMemberIsDeadInTheRoundAfterTheSilenceThatIsPutUpWith(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.beat(1, 62) // 60 intervals of one second, after the first heartbeat and the first arrival
	require.Len(t, b.find(otherIdentity()).detector.intervals, 60)
	last := b.find(otherIdentity()).detector.last
	for b.now.Sub(last) <= 10*time.Second {
		require.True(t, b.find(otherIdentity()).live, "after %s", b.now.Sub(last))
		b.round()
	}
	require.False(t, b.find(otherIdentity()).live)
	require.Equal(t, b.now, b.find(otherIdentity()).deadSince)
}

// kill makes the other member die, and returns its last heartbeat.
func (b *bench) kill() uint64 {
	last := b.beat(1, 20)
	for b.find(otherIdentity()).live {
		b.round()
	}
	return last
}

func TestOneIntervalBringsADeadMemberBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	last := b.kill()
	b.syn(heartbeat(last + 1))
	b.round()
	require.False(t, b.find(otherIdentity()).live, "the interval since before its death is too long")
	b.syn(heartbeat(last + 2))
	b.round()
	require.True(t, b.find(otherIdentity()).live)
	require.Zero(t, b.find(otherIdentity()).deadSince)
}

func TestDeadMemberIsSpokenOfForHalfTheGraceAndThenForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	last := b.kill()
	death := b.find(otherIdentity()).deadSince
	third := addressOf(3)
	digest := func() []wire.DigestEntry {
		return b.receive(third, wire.Message{Type: wire.Syn, ClusterID: "test"}).Digest
	}
	b.now = death.Add(7*time.Minute + 29*time.Second)
	b.Round(b.now)
	require.True(t, known(digest(), otherIdentity()))

	b.now = death.Add(7*time.Minute + 30*time.Second)
	b.Round(b.now)
	require.False(t, known(digest(), otherIdentity()))
	require.NotNil(t, b.find(otherIdentity()))

	b.now = death.Add(15 * time.Minute)
	b.Round(b.now)
	require.Nil(t, b.find(otherIdentity()))
	// What others still say of it does not bring it back, but a sign of life does.
	b.syn(heartbeat(last))
	require.Nil(t, b.find(otherIdentity()))
	b.syn(heartbeat(last + 1))
	require.NotNil(t, b.find(otherIdentity()))
}

func TestFiveThousandForgottenMembersAreRemembered(t *testing.T) {
	t.Parallel()
	r := newRemovedMembers()
	id := func(n int) wire.Identity { return wire.Identity{NodeID: "x", Generation: uint64(n)} }
	for n := range maxRemoved {
		r.add(id(n), 9)
	}
	require.True(t, r.holds(id(0), 9), "asking for it makes it the latest")
	r.add(id(maxRemoved), 9)
	require.False(t, r.holds(id(1), 9))
	require.True(t, r.holds(id(0), 9))
	require.False(t, r.holds(id(0), 10))
	require.Len(t, r.places, maxRemoved)
}
