package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Version numbers the changes of one member's keys, from 1.
type Version uint64

// DigestEntry says what the sender knows of one member.
type DigestEntry struct {
	Identity Identity
	// Heartbeat is the highest heartbeat of the member that was seen.
	Heartbeat uint64
	// LastGC is the highest version of a removed key that was removed for good.
	LastGC Version
	// Max is the highest version of the member's keys that the sender has; 0 means none.
	Max Version
}

// minDigestEntry is the size of the shortest entry, in bytes: no node id, an IPv4 address.
const minDigestEntry = 41

// digest reads one in the encoding of the version: for 0 a count of two bytes and the entries, for 1
// a block stream of the entries. Of several entries for one member the last one holds, in the place of
// the first.
func (c *Codec) digest(r *reader, protocol Protocol) []DigestEntry {
	var entries []DigestEntry
	if protocol == V0 {
		count := int(r.u16())
		entries = digestEntries(r, count)
	} else {
		content := reader{rest: c.stream(r, maxDigestContent), err: r.err}
		entries = digestEntries(&content, -1)
		r.err = content.err
	}
	r.within("digest")
	return entries
}

// digestEntries reads count entries, or, if count is negative, entries up to the end of the bytes.
func digestEntries(r *reader, count int) []DigestEntry {
	capacity := len(r.rest) / minDigestEntry
	if count >= 0 {
		capacity = min(capacity, count)
	}
	entries := make([]DigestEntry, 0, capacity)
	places := make(map[Identity]int, capacity)
	for i := 0; i != count && (count >= 0 || len(r.rest) > 0); i++ {
		e := DigestEntry{Identity: r.identity(), Heartbeat: r.u64(), LastGC: Version(r.u64()), Max: Version(r.u64())}
		if r.err != nil {
			r.within("entry %d", i)
			return nil
		}
		if place, found := places[e.Identity]; found {
			entries[place] = e
			continue
		}
		places[e.Identity] = len(entries)
		entries = append(entries, e)
	}
	return entries
}

func (c *Codec) appendDigest(b []byte, protocol Protocol, entries []DigestEntry) ([]byte, error) {
	if len(entries) > math.MaxUint16 {
		return nil, fmt.Errorf("a digest of %d members, at most %d can be written", len(entries), math.MaxUint16)
	}
	var content []byte
	for _, e := range entries {
		if err := e.Identity.check(); err != nil {
			return nil, fmt.Errorf("write a digest: %w", err)
		}
		content = appendIdentity(content, e.Identity)
		content = binary.LittleEndian.AppendUint64(content, e.Heartbeat)
		content = binary.LittleEndian.AppendUint64(content, uint64(e.LastGC))
		content = binary.LittleEndian.AppendUint64(content, uint64(e.Max))
	}
	if protocol == V0 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
		return append(b, content...), nil
	}
	stream := streamWriter{codec: c}
	stream.write(content)
	return append(b, stream.end()...), nil
}
