package gossip

import (
	"time"

	"holdfast/cluster/internal/wire"
)

// Member is what a machine knows of a member at one moment.
type Member struct {
	Identity wire.Identity
	// Self says that it is the machine's own.
	Self bool
	Live bool
	// DeadSince is when the member was judged dead; zero for a live one and one that was just heard of.
	DeadSince time.Time
	// Heartbeat is the highest that was seen, and HeartbeatAt when.
	Heartbeat   uint64
	HeartbeatAt time.Time
	// Max is the highest version of its keys that is known.
	Max wire.Version
	// Keys is the number of keys that are kept, removed ones included.
	Keys int
	// Values holds the values of the keys that were asked for and are set.
	Values map[string]string
}

// Members returns all members, by identity, with the values of some keys.
func (m *Machine) Members(keys ...string) []Member {
	members := make([]Member, 0, len(m.others)+1)
	for of := range m.all() {
		values := make(map[string]string, len(keys))
		for _, key := range keys {
			if value := of.state.value(key); value != "" {
				values[key] = value
			}
		}
		members = append(members, Member{
			Identity:    of.identity,
			Self:        of == m.self,
			Live:        of.live,
			DeadSince:   of.deadSince,
			Heartbeat:   of.heartbeat,
			HeartbeatAt: of.heartbeatAt,
			Max:         of.state.max,
			Keys:        len(of.state.keys),
			Values:      values,
		})
	}
	return members
}

// State is the keys of a member at one moment.
type State struct {
	Identity wire.Identity
	Max      wire.Version
	LastGC   wire.Version
	// KeyValues are sorted by version.
	KeyValues []wire.KeyValue
}

// States returns the keys of all members that have any, by identity, but not of those that are dead for
// long.
func (m *Machine) States(now time.Time) []State {
	var states []State
	for of := range m.all() {
		if len(of.state.keys) > 0 && !m.longDead(now, of) {
			states = append(states, State{Identity: of.identity, Max: of.state.max, LastGC: of.state.lastGC, KeyValues: of.state.keyValues(0)})
		}
	}
	return states
}

// all yields all members by identity.
func (m *Machine) all() func(yield func(*member) bool) {
	place, _ := m.place(m.self.identity)
	return func(yield func(*member) bool) {
		for i := range len(m.others) + 1 {
			of := m.self
			switch {
			case i < place:
				of = m.others[i]
			case i > place:
				of = m.others[i-1]
			}
			if !yield(of) {
				return
			}
		}
	}
}
