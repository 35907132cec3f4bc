package wire

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// MaxDatagram is the largest payload of a UDP datagram, in bytes.
const MaxDatagram = 65_507

// Protocol is a protocol version.
type Protocol uint8

// The protocol versions. V1 can hold more members in a datagram; not every node knows it.
const (
	V0 Protocol = 0
	V1 Protocol = 1
)

// Type says what a message is.
type Type uint8

// The types of messages. Two members exchange what they know by a Syn, its answer and the answer to that.
const (
	Syn        Type = 0
	SynAck     Type = 1
	Ack        Type = 2
	BadCluster Type = 3
)

// String names the type, for logs and metrics.
func (t Type) String() string {
	switch t {
	case Syn:
		return "Syn"
	case SynAck:
		return "SynAck"
	case Ack:
		return "Ack"
	case BadCluster:
		return "BadCluster"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Message is the content of a datagram.
type Message struct {
	Protocol Protocol
	Type     Type
	// Digest is what the sender knows; of Syn and SynAck.
	Digest []DigestEntry
	// ClusterID names the cluster; of Syn only.
	ClusterID string
	// Delta is what the sender tells; of SynAck and Ack. Its members are different ones.
	Delta []NodeDelta
}

var (
	magic    = [2]byte{0x53, 0xb0}
	errMagic = errors.New("it does not begin with the magic bytes")
)

// Decode reads a datagram. Bytes after a complete message are ignored.
func (c *Codec) Decode(datagram []byte) (Message, error) {
	r := &reader{rest: datagram}
	m, err := header(r)
	if err != nil {
		return Message{}, fmt.Errorf("datagram of %d bytes: %w", len(datagram), err)
	}
	switch m.Type {
	case Syn:
		m.Digest = c.digest(r, m.Protocol)
		m.ClusterID = r.string()
		r.within("%s", m.Type)
	case SynAck:
		m.Digest = c.digest(r, m.Protocol)
		m.Delta = c.delta(r)
		r.within("%s", m.Type)
	case Ack:
		m.Delta = c.delta(r)
		r.within("%s", m.Type)
	case BadCluster:
	}
	if r.err != nil {
		return Message{}, fmt.Errorf("datagram of %d bytes: %w", len(datagram), r.err)
	}
	return m, nil
}

func header(r *reader) (Message, error) {
	start := r.take(len(magic))
	m := Message{Protocol: Protocol(r.u8()), Type: Type(r.u8())}
	switch {
	case r.err != nil:
		return m, r.err
	case [2]byte(start) != magic:
		return m, errMagic
	case m.Protocol > V1:
		return m, fmt.Errorf("protocol version is %d, must be 0 or 1", m.Protocol)
	case m.Type > BadCluster:
		return m, fmt.Errorf("type is %d, must be at most %d", uint8(m.Type), uint8(BadCluster))
	}
	return m, nil
}

// Encode writes a message of at most limit bytes. The delta is cut where it does not fit any more;
// everything else that does not fit is an error, as is what the encoding cannot express.
func (c *Codec) Encode(m Message, limit int) ([]byte, error) {
	return c.EncodeWithDelta(m, slices.Values(m.Delta), limit)
}

// EncodeWithDelta is Encode with a delta that is made while it is written, and only as far as it fits.
func (c *Codec) EncodeWithDelta(m Message, delta iter.Seq[NodeDelta], limit int) ([]byte, error) {
	b := []byte{magic[0], magic[1], byte(m.Protocol), byte(m.Type)}
	var err error
	if m.Type == Syn || m.Type == SynAck {
		if b, err = c.appendDigest(b, m.Protocol, m.Digest); err != nil {
			return nil, err
		}
	}
	if m.Type == Syn {
		if err := checkString("the cluster id", m.ClusterID); err != nil {
			return nil, err
		}
		b = appendString(b, m.ClusterID)
	}
	if m.Type == SynAck || m.Type == Ack {
		if b, err = c.appendDelta(b, delta, limit-len(b)); err != nil {
			return nil, err
		}
	}
	if len(b) > limit {
		return nil, fmt.Errorf("write %s: %w: %d bytes, at most %d are allowed", m.Type, ErrTooLarge, len(b), limit)
	}
	return b, nil
}

// ErrTooLarge says that the digest of a message does not fit in a datagram.
var ErrTooLarge = errors.New("the message is too large")
