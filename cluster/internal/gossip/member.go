package gossip

import (
	"slices"
	"time"

	"holdfast/cluster/internal/wire"
)

// member is what is known of one member.
type member struct {
	identity wire.Identity
	state    state

	// heartbeat is the highest seen; 0 if the member was only heard of.
	heartbeat uint64
	// heartbeatAt is when it was seen.
	heartbeatAt time.Time
	detector    detector

	live bool
	// deadSince is when the member was judged dead. Zero while it is live, and before it was judged.
	deadSince time.Time
}

// saw records a heartbeat that a digest brought.
func (m *member) saw(now time.Time, heartbeat uint64) {
	if heartbeat <= m.heartbeat {
		return
	}
	// The first heartbeat may be as old as the member; only news of it show that it lives.
	if m.heartbeat != 0 {
		m.detector.arrived(now)
	}
	m.heartbeat, m.heartbeatAt = heartbeat, now
}

// judge updates whether the member is alive, and says whether that changed.
func (m *member) judge(now time.Time) bool {
	before := m.live
	m.live = m.detector.alive(now)
	switch {
	case m.live:
		m.deadSince = time.Time{}
	default:
		m.detector.forget()
		if m.deadSince.IsZero() {
			m.deadSince = now
		}
	}
	return m.live != before
}

// deadFor returns for how long the member is dead, 0 if it is not.
func (m *member) deadFor(now time.Time) time.Duration {
	if m.deadSince.IsZero() {
		return 0
	}
	return now.Sub(m.deadSince)
}

func (m *member) digestEntry() wire.DigestEntry {
	return wire.DigestEntry{Identity: m.identity, Heartbeat: m.heartbeat, LastGC: m.state.lastGC, Max: m.state.max}
}

// place returns where the member is or would be among the others, which are sorted so that what the
// machine does follows from what it was given alone.
func (m *Machine) place(id wire.Identity) (int, bool) {
	return slices.BinarySearchFunc(m.others, id, func(other *member, id wire.Identity) int { return other.identity.Compare(id) })
}

func (m *Machine) find(id wire.Identity) *member {
	if place, found := m.place(id); found {
		return m.others[place]
	}
	return nil
}

// meet adds a member if there is room for it, and returns it or nil.
func (m *Machine) meet(id wire.Identity) *member {
	if len(m.others) >= m.options.MaxMembers && !m.evict() {
		return nil
	}
	other := &member{identity: id}
	place, _ := m.place(id)
	m.others = slices.Insert(m.others, place, other)
	m.removed.drop(id)
	return other
}

// maxEvictions bounds the work that one datagram can cause by naming members for which there is no room.
const maxEvictions = 16

// evict forgets the member that is dead for the longest time, and says whether there was one.
func (m *Machine) evict() bool {
	if m.evictions >= maxEvictions {
		return false
	}
	var oldest *member
	for _, other := range m.others {
		if !other.deadSince.IsZero() && (oldest == nil || other.deadSince.Before(oldest.deadSince)) {
			oldest = other
		}
	}
	if oldest == nil {
		return false
	}
	m.forget(oldest)
	m.evictions++
	m.counters.Evicted++
	return true
}

// forget drops a member. Only a higher heartbeat brings it back.
func (m *Machine) forget(other *member) {
	place, _ := m.place(other.identity)
	m.others = slices.Delete(m.others, place, place+1)
	m.bytes -= other.state.bytes
	m.removed.add(other.identity, other.heartbeat)
}
