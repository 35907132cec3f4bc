package gossip

import (
	"time"

	"holdfast/cluster/internal/wire"
)

// outcome is what became of the delta of one member.
type outcome int

const (
	applied outcome = iota
	// appliedAfterReset means that all keys were dropped first, as removed ones may have been among them.
	appliedAfterReset
	// fromFuture means that the delta starts behind what is known: what is between would be missed.
	fromFuture
	// behindGC means that removals may have been missed, and that the delta does not tell everything.
	behindGC
	// nothingNew means that all of it is known already.
	nothingNew
)

// judge says what is to become of a delta.
func (s *state) judge(d *wire.NodeDelta) outcome {
	missedRemovals := d.LastGC > s.lastGC && d.LastGC > s.max
	switch {
	case d.From > s.max:
		return fromFuture
	case missedRemovals && d.From != 0:
		return behindGC
	case missedRemovals:
		return appliedAfterReset
	case s.max >= d.Max:
		return nothingNew
	}
	return applied
}

// growth is how many bytes a delta of the outcome would add.
func (s *state) growth(d *wire.NodeDelta, o outcome) int {
	total := 0
	if o == appliedAfterReset {
		total = -s.bytes
	}
	for _, kv := range d.KeyValues {
		total += entryBytes(kv.Key, kv.Value)
		if old, found := s.keys[kv.Key]; found && o != appliedAfterReset {
			total -= entryBytes(kv.Key, old.value)
		}
	}
	return total
}

// apply takes in a delta that was judged applied or appliedAfterReset.
func (s *state) apply(now time.Time, d *wire.NodeDelta, o outcome) {
	if o == appliedAfterReset {
		*s = state{lastGC: d.LastGC}
	}
	before := s.max
	for _, kv := range d.KeyValues {
		switch old, found := s.keys[kv.Key]; {
		case kv.Version <= before:
		case kv.Status != wire.StatusSet && kv.Version <= s.lastGC:
		case found && old.version >= kv.Version:
		default:
			s.put(kv.Key, entry{value: kv.Value, version: kv.Version, status: kv.Status, since: now})
		}
	}
	s.max = max(s.max, d.Max)
}
