package gossip

import (
	"cmp"
	"slices"
	"time"

	"holdfast/cluster/internal/wire"
)

// entryOverhead is what a key takes in memory besides its text, in bytes, roughly.
const entryOverhead = 128

// entry is one key of a member.
type entry struct {
	value   string
	version wire.Version
	status  wire.Status
	// since is when this member received the status.
	since time.Time
}

func entryBytes(key, value string) int { return len(key) + len(value) + entryOverhead }

// state is the keys of one member, as far as they are known. The zero value knows nothing.
//
// The pair of lastGC and max never goes down.
type state struct {
	keys map[string]entry
	// max is the highest version known, of a key that may be gone by now.
	max wire.Version
	// lastGC is the highest version of a key that was removed for good.
	lastGC wire.Version
	// bytes is the sum of entryBytes.
	bytes int
	// oldest is not after the oldest since of a key that will go away. Zero: there is none.
	oldest time.Time
}

func (s *state) put(key string, e entry) {
	if s.keys == nil {
		s.keys = make(map[string]entry)
	}
	if old, found := s.keys[key]; found {
		s.bytes -= entryBytes(key, old.value)
	}
	s.keys[key] = e
	s.bytes += entryBytes(key, e.value)
	if e.status != wire.StatusSet && (s.oldest.IsZero() || e.since.Before(s.oldest)) {
		s.oldest = e.since
	}
}

// set gives an own key a value under a new version, and says whether that changed anything.
func (s *state) set(now time.Time, key, value string) bool {
	if old, found := s.keys[key]; found && old.status == wire.StatusSet && old.value == value {
		return false
	}
	s.max++
	s.put(key, entry{value: value, version: s.max, since: now})
	return true
}

// value returns the value of a key that is not removed, or "".
func (s *state) value(key string) string {
	if e := s.keys[key]; e.status != wire.StatusDeleted {
		return e.value
	}
	return ""
}

// expire removes for good what was removed, or was to go away by itself, at least grace ago.
func (s *state) expire(now time.Time, grace time.Duration) {
	if s.oldest.IsZero() || now.Sub(s.oldest) < grace {
		return
	}
	s.oldest = time.Time{}
	for key, e := range s.keys {
		switch {
		case e.status == wire.StatusSet:
		case now.Sub(e.since) >= grace:
			s.bytes -= entryBytes(key, e.value)
			s.lastGC = max(s.lastGC, e.version)
			delete(s.keys, key)
		case s.oldest.IsZero() || e.since.Before(s.oldest):
			s.oldest = e.since
		}
	}
}

// keyValues returns the keys changed after version from, by rising version.
func (s *state) keyValues(from wire.Version) []wire.KeyValue {
	var found []wire.KeyValue
	for key, e := range s.keys {
		if e.version > from {
			found = append(found, wire.KeyValue{Key: key, Value: e.value, Version: e.version, Status: e.status})
		}
	}
	slices.SortFunc(found, func(a, b wire.KeyValue) int { return cmp.Compare(a.Version, b.Version) })
	return found
}

// changedSince counts the keys changed after version from.
func (s *state) changedSince(from wire.Version) int {
	count := 0
	for _, e := range s.keys {
		if e.version > from {
			count++
		}
	}
	return count
}

// startFor returns the version from which somebody who has what d says must be told, and whether there
// is anything to tell. Who missed the removal of keys that are gone for good must start from nothing.
func (s *state) startFor(d wire.DigestEntry) (from wire.Version, news bool) {
	if s.max <= d.Max {
		return 0, false
	}
	if d.LastGC < s.lastGC && d.Max < s.lastGC {
		return 0, true
	}
	return d.Max, true
}
