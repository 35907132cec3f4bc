package gossip

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"holdfast/cluster/internal/wire"
)

func kv(key, value string, version wire.Version) wire.KeyValue {
	return wire.KeyValue{Key: key, Value: value, Version: version}
}

// versions returns the versions of all keys.
func (s *state) versions() map[string]wire.Version {
	versions := make(map[string]wire.Version)
	for key, e := range s.keys {
		versions[key] = e.version
	}
	return versions
}

func TestDeltaIsJudgedByWhatIsKnown(t *testing.T) {
	t.Parallel()
	known := func() *state {
		s := &state{}
		s.put("a", entry{value: "1", version: 3, since: epoch})
		s.put("b", entry{value: "1", version: 7, since: epoch})
		s.max, s.lastGC = 10, 5
		return s
	}
	for _, test := range []struct {
		name  string
		delta wire.NodeDelta
		want  outcome
	}{
		{"starts behind what is known", wire.NodeDelta{From: 11, Max: 12}, fromFuture},
		{"removals were missed", wire.NodeDelta{LastGC: 11, From: 10, Max: 12}, behindGC},
		{"removals were missed, and it starts from nothing", wire.NodeDelta{LastGC: 11, From: 0, Max: 12}, appliedAfterReset},
		{"removals may have been missed, but what is known is later", wire.NodeDelta{LastGC: 10, From: 10, Max: 12}, applied},
		{"known already", wire.NodeDelta{From: 9, Max: 10}, nothingNew},
		{"says nothing", wire.NodeDelta{From: 10}, nothingNew},
		{"follows", wire.NodeDelta{From: 10, Max: 11}, applied},
		{"overlaps", wire.NodeDelta{From: 2, Max: 11}, applied},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, known().judge(&test.delta))
		})
	}
}

func TestAppliedDeltaAddsWhatIsNew(t *testing.T) {
	t.Parallel()
	s := &state{}
	s.put("old", entry{value: "1", version: 3, since: epoch})
	s.max, s.lastGC = 10, 12 // the keys up to version 10 arrived after a reset, cut to fit a datagram
	later := epoch.Add(time.Minute)
	s.apply(later, &wire.NodeDelta{From: 4, Max: 15, LastGC: 12, KeyValues: []wire.KeyValue{
		kv("seen", "x", 9),
		{Key: "collected", Value: "", Version: 11, Status: wire.StatusDeleted},
		{Key: "collected too", Value: "x", Version: 12, Status: wire.StatusDeleteAfterTTL},
		kv("old", "2", 13),
		{Key: "removed", Value: "", Version: 14, Status: wire.StatusDeleted},
		kv("new", "1", 15),
	}}, applied)
	require.Equal(t, map[string]wire.Version{"old": 13, "removed": 14, "new": 15}, s.versions())
	require.Equal(t, "2", s.value("old"))
	require.Equal(t, "", s.value("removed"))
	require.Equal(t, later, s.keys["new"].since)
	require.Equal(t, wire.Version(15), s.max)
	require.Equal(t, wire.Version(12), s.lastGC)
}

func TestResetDropsWhatMayHaveBeenRemoved(t *testing.T) {
	t.Parallel()
	s := &state{}
	s.put("gone", entry{value: "1", version: 3, since: epoch})
	s.max = 3
	s.apply(epoch, &wire.NodeDelta{LastGC: 5, Max: 6, KeyValues: []wire.KeyValue{kv("kept", "1", 1), kv("new", "1", 6)}}, appliedAfterReset)
	require.Equal(t, map[string]wire.Version{"kept": 1, "new": 6}, s.versions())
	require.Equal(t, wire.Version(6), s.max)
	require.Equal(t, wire.Version(5), s.lastGC)
	require.Equal(t, entryBytes("kept", "1")+entryBytes("new", "1"), s.bytes)
}

func TestSettingTheSameValueMakesNoVersion(t *testing.T) {
	t.Parallel()
	var s state
	require.True(t, s.set(epoch, "readiness", "READY"))
	require.False(t, s.set(epoch, "readiness", "READY"))
	require.Equal(t, wire.Version(1), s.max)
	require.True(t, s.set(epoch, "readiness", "NOT_READY"))
	require.Equal(t, wire.Version(2), s.max)
}

func TestWhatIsRemovedOrGoesAwayIsCollectedAfterTheGrace(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(1))
	b.tell(wire.NodeDelta{Identity: otherIdentity(), Max: 3, KeyValues: []wire.KeyValue{
		kv("stays", "1", 1),
		{Key: "removed", Version: 2, Status: wire.StatusDeleted},
		{Key: "passes", Value: "1", Version: 3, Status: wire.StatusDeleteAfterTTL},
	}})
	received := b.now
	other := b.find(otherIdentity())
	require.Equal(t, "1", other.state.value("passes"), "it is visible until then")
	beat := uint64(2)
	until := func(end time.Time) {
		for b.now.Before(end) { // the member lives on
			b.syn(heartbeat(beat))
			beat++
			b.round()
		}
	}
	until(received.Add(15*time.Minute - time.Second))
	require.Len(t, other.state.keys, 3)
	require.Zero(t, other.state.lastGC)

	until(received.Add(15 * time.Minute))
	require.Equal(t, map[string]wire.Version{"stays": 1}, other.state.versions())
	require.Equal(t, wire.Version(3), other.state.lastGC)
	require.Equal(t, wire.Version(3), other.state.max)
	require.Equal(t, other.state.bytes, b.bytes)

	// Whoever knows nothing is told nothing of them; who missed the removal starts from nothing.
	for _, d := range []wire.DigestEntry{{}, {Max: 2}} {
		d.Identity = otherIdentity()
		answer := b.receive(addressOf(3), wire.Message{Type: wire.Syn, ClusterID: "test", Digest: []wire.DigestEntry{d}})
		require.Equal(t, []wire.NodeDelta{{Identity: otherIdentity(), LastGC: 3, Max: 1, KeyValues: []wire.KeyValue{kv("stays", "1", 1)}}}, answer.Delta)
	}
}

func TestMemberWhoseKeysAreAllGoneIsToldAsAMaxVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.syn(heartbeat(1))
	b.tell(wire.NodeDelta{Identity: otherIdentity(), Max: 2, KeyValues: []wire.KeyValue{{Key: "removed", Version: 2, Status: wire.StatusDeleted}}})
	b.find(otherIdentity()).state.expire(b.now.Add(time.Hour), 15*time.Minute)
	answer := b.receive(addressOf(3), wire.Message{Type: wire.Syn, ClusterID: "test"})
	require.Equal(t, []wire.NodeDelta{{Identity: otherIdentity(), LastGC: 2, Max: 2}}, answer.Delta)
}

// owner is the state of a member as the member itself has it.
type owner struct{ state }

func (o *owner) remove(now time.Time, key string, status wire.Status) {
	old, found := o.keys[key]
	if !found {
		return
	}
	o.max++
	value := old.value
	if status == wire.StatusDeleted {
		value = ""
	}
	o.put(key, entry{value: value, version: o.max, status: status, since: now})
}

// TestCopiesFollowTheirOwner lets an owner change, remove and collect keys, and copies learn of it from
// the owner or from each other, from deltas that are cut anywhere, arrive late or several times.
func TestCopiesFollowTheirOwner(t *testing.T) {
	t.Parallel()
	const grace = 15 * time.Minute
	rapid.Check(t, func(t *rapid.T) {
		now := epoch
		var o owner
		copies := make([]state, 3)
		var late []wire.NodeDelta
		make := func(from *state, to *state) (wire.NodeDelta, bool) {
			start, news := from.startFor(wire.DigestEntry{Max: to.max, LastGC: to.lastGC})
			return wire.NodeDelta{LastGC: from.lastGC, From: start, Max: from.max, KeyValues: from.keyValues(start)}, news
		}
		take := func(to *state, d wire.NodeDelta) {
			max, lastGC := to.max, to.lastGC
			if verdict := to.judge(&d); verdict == applied || verdict == appliedAfterReset {
				to.apply(now, &d, verdict)
			}
			if to.lastGC < lastGC || to.lastGC == lastGC && to.max < max {
				t.Fatalf("(%d, %d) became (%d, %d)", lastGC, max, to.lastGC, to.max)
			}
			size := 0
			for key, e := range to.keys {
				size += entryBytes(key, e.value)
			}
			require.Equal(t, size, to.bytes)
		}
		key := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		t.Repeat(map[string]func(*rapid.T){
			"set":    func(t *rapid.T) { o.set(now, key.Draw(t, "key"), fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "value"))) },
			"remove": func(t *rapid.T) { o.remove(now, key.Draw(t, "key"), wire.StatusDeleted) },
			"pass":   func(t *rapid.T) { o.remove(now, key.Draw(t, "key"), wire.StatusDeleteAfterTTL) },
			"time":   func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 10).Draw(t, "minutes")) * time.Minute) },
			"collect": func(t *rapid.T) {
				o.expire(now, grace)
				for i := range copies {
					copies[i].expire(now, grace)
				}
			},
			"tell": func(t *rapid.T) {
				sources := []*state{&o.state, &copies[0], &copies[1], &copies[2]}
				from := rapid.SampledFrom(sources).Draw(t, "from")
				to := &copies[rapid.IntRange(0, 2).Draw(t, "to")]
				d, news := make(from, to)
				if !news || from == to {
					return
				}
				if len(d.KeyValues) > 1 && rapid.Bool().Draw(t, "cut") {
					d.KeyValues = d.KeyValues[:rapid.IntRange(1, len(d.KeyValues)).Draw(t, "length")]
				}
				if len(d.KeyValues) > 0 {
					d.Max = d.KeyValues[len(d.KeyValues)-1].Version
				}
				take(to, d)
				late = append(late, d)
			},
			"arrive late": func(t *rapid.T) {
				if len(late) > 0 {
					take(&copies[rapid.IntRange(0, 2).Draw(t, "to")], rapid.SampledFrom(late).Draw(t, "delta"))
				}
			},
		})
		// In the end the owner tells every copy, in whole deltas, and time passes.
		for range 3 {
			for i := range copies {
				if d, news := make(&o.state, &copies[i]); news {
					if len(d.KeyValues) > 0 {
						d.Max = d.KeyValues[len(d.KeyValues)-1].Version
					}
					take(&copies[i], d)
				}
			}
		}
		now = now.Add(time.Hour)
		o.expire(now, grace)
		for i := range copies {
			copies[i].expire(now, grace)
			require.Equal(t, o.max, copies[i].max)
			require.Equal(t, visible(&o.state), visible(&copies[i]))
		}
	})
}

// visible returns the keys that have a value.
func visible(s *state) map[string]string {
	values := make(map[string]string)
	for key, e := range s.keys {
		if e.status != wire.StatusDeleted {
			values[key] = e.value
		}
	}
	return values
}
