package gossip

import (
	"testing"

	"holdfast/cluster/internal/wire"
)

// benchCluster is a machine that knows live members with three keys each, and a Syn of one of them that
// knows as much.
func benchCluster(b *testing.B, members int) (*bench, []byte) {
	m := newBench(b, func(o *Options) { o.Protocol = wire.V1 })
	var entries []wire.DigestEntry
	for n := range members {
		id := numbered(n + 10)
		m.with(true, n+10)
		other := m.find(id)
		for _, key := range []string{"enabled_services", KeyGRPCAddress, "readiness"} {
			other.state.set(m.now, key, "10.0.0.1:7281")
		}
		entries = append(entries, wire.DigestEntry{Identity: id, Heartbeat: 1, Max: 3})
	}
	return m, m.encode(wire.Message{Protocol: wire.V1, Type: wire.Syn, ClusterID: "test", Digest: entries})
}

func BenchmarkSynInAClusterOf30(b *testing.B)   { benchmarkSyn(b, 30) }
func BenchmarkSynInAClusterOf1000(b *testing.B) { benchmarkSyn(b, 1_000) }

// benchmarkSyn measures what one exchange that a peer opens costs: reading the Syn, writing the answer.
func benchmarkSyn(b *testing.B, members int) {
	m, syn := benchCluster(b, members)
	b.ReportAllocs()
	for b.Loop() {
		if packets := m.Receive(m.now, addressOf(10), syn); len(packets) != 1 {
			b.Fatal("no answer")
		}
	}
}
