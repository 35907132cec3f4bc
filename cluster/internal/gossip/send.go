package gossip

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"

	"holdfast/cluster/internal/wire"
)

// encode writes a message. A digest is put in, if the type has one, and the changes that are unknown to
// who has what known says, as far as they fit. It returns nil if the message cannot be written.
func (m *Machine) encode(now time.Time, message wire.Message, known []wire.DigestEntry) []byte {
	delta := func(func(wire.NodeDelta) bool) {}
	if message.Type == wire.SynAck || message.Type == wire.Ack {
		delta = m.delta(now, known)
	}
	for limit := m.options.MaxMembers + 1; ; limit = len(message.Digest) * 3 / 4 {
		if message.Type == wire.Syn || message.Type == wire.SynAck {
			message.Digest = m.digest(now, limit)
		}
		payload, err := m.codec.EncodeWithDelta(message, delta, m.options.MaxDatagram)
		switch {
		case err == nil:
			return payload
		case !errors.Is(err, wire.ErrTooLarge) || len(message.Digest) <= 1:
			m.counters.Unwritable++
			m.warn(now, "a gossip message could not be written", "type", message.Type.String(), "error", err)
			return nil
		}
		m.counters.CutDigests++
		m.warn(now, "the cluster has more members than a datagram can name, some are left out in turn", "members", len(message.Digest))
	}
}

// digest says what is known of at most limit members: of itself always, then of live ones, then of others,
// those that are left out being chosen at random.
func (m *Machine) digest(now time.Time, limit int) []wire.DigestEntry {
	spoken := make([]*member, 0, len(m.others))
	for _, other := range m.others {
		if !m.longDead(now, other) {
			spoken = append(spoken, other)
		}
	}
	if len(spoken) > limit-1 {
		m.options.Random.Shuffle(len(spoken), func(i, j int) { spoken[i], spoken[j] = spoken[j], spoken[i] })
		slices.SortStableFunc(spoken, func(a, b *member) int { return cmp.Compare(rank(a), rank(b)) })
		spoken = spoken[:max(limit-1, 0)]
	}
	digest := make([]wire.DigestEntry, 0, len(spoken)+1)
	digest = append(digest, m.self.digestEntry())
	for _, other := range spoken {
		digest = append(digest, other.digestEntry())
	}
	return digest
}

// rank orders live members before others.
func rank(m *member) int {
	if m.live {
		return 0
	}
	return 1
}

// telling is a member of whom there is something to tell.
type telling struct {
	member *member
	from   wire.Version
	stale  int
}

// delta returns what somebody who has what known says is to be told. Who must be told from the start
// comes first, small states before large ones: they are new members, and those who serve the others have
// few keys. Then come those of whom most is to be told.
func (m *Machine) delta(now time.Time, known []wire.DigestEntry) iter.Seq[wire.NodeDelta] {
	entries := make(map[wire.Identity]wire.DigestEntry, len(known))
	for _, entry := range known {
		entries[entry.Identity] = entry
	}
	var tellings []telling
	consider := func(of *member) {
		if from, news := of.state.startFor(entries[of.identity]); news {
			tellings = append(tellings, telling{member: of, from: from, stale: of.state.changedSince(from)})
		}
	}
	consider(m.self)
	if !m.options.NoRelay {
		for _, other := range m.others {
			if !m.longDead(now, other) {
				consider(other)
			}
		}
	}
	m.options.Random.Shuffle(len(tellings), func(i, j int) { tellings[i], tellings[j] = tellings[j], tellings[i] })
	slices.SortStableFunc(tellings, func(a, b telling) int {
		switch {
		case a.from == 0 && b.from == 0:
			return cmp.Compare(a.member.state.max, b.member.state.max)
		case a.from == 0:
			return -1
		case b.from == 0:
			return 1
		}
		return cmp.Compare(b.stale, a.stale)
	})
	return func(yield func(wire.NodeDelta) bool) {
		for _, t := range tellings {
			s := &t.member.state
			if !yield(wire.NodeDelta{Identity: t.member.identity, LastGC: s.lastGC, From: t.from, KeyValues: s.keyValues(t.from), Max: s.max}) {
				return
			}
		}
	}
}
