package wire

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// appendDelta writes as much of the changes as fits in budget bytes, in their order. What does not fit
// is left to later messages: the receiver then asks from the version that it has.
func (c *Codec) appendDelta(b []byte, nodes iter.Seq[NodeDelta], budget int) ([]byte, error) {
	stream := streamWriter{codec: c}
	empty := true
	for n := range nodes {
		begun, complete, err := n.write(&stream, budget)
		if err != nil {
			return nil, fmt.Errorf("write a delta: %w", err)
		}
		empty = empty && !begun
		// A change that fits in no message must not keep back the members behind it.
		if !complete && !empty {
			break
		}
	}
	return append(b, stream.end()...), nil
}

// write writes the operations of one member while they fit, and says whether it wrote any, and
// whether it wrote all.
func (n *NodeDelta) write(stream *streamWriter, budget int) (begun, complete bool, err error) {
	head, err := n.head()
	if err != nil {
		return false, false, err
	}
	put := func(operation []byte) bool {
		if stream.sizeWith(len(head)+len(operation)) > budget {
			return false
		}
		stream.write(head)
		stream.write(operation)
		head = nil // only the first operation brings it
		return true
	}
	if len(n.KeyValues) == 0 {
		var operation []byte
		if n.Max != 0 {
			operation = binary.LittleEndian.AppendUint64([]byte{opSetMaxVersion}, uint64(n.Max))
		}
		complete = put(operation)
		return complete, complete, nil
	}
	last := Version(0)
	for i, kv := range n.KeyValues {
		operation, err := kv.operation(last)
		if err != nil {
			return i > 0, false, fmt.Errorf("member %s: %w", n.Identity, err)
		}
		if !put(operation) {
			return i > 0, false, nil
		}
		last = kv.Version
	}
	return true, true, nil
}

func (n *NodeDelta) head() ([]byte, error) {
	if err := n.Identity.check(); err != nil {
		return nil, err
	}
	b := appendIdentity([]byte{opNode}, n.Identity)
	b = binary.LittleEndian.AppendUint64(b, uint64(n.LastGC))
	return binary.LittleEndian.AppendUint64(b, uint64(n.From)), nil
}

// operation writes a KeyValue that follows version last of the same member.
func (kv *KeyValue) operation(last Version) ([]byte, error) {
	if err := checkString("a key", kv.Key); err != nil {
		return nil, err
	}
	if err := checkString("the value of a key", kv.Value); err != nil {
		return nil, err
	}
	// A receiver that trusts the order of versions may die of a wrong one.
	if kv.Version <= last || kv.Status > StatusDeleteAfterTTL {
		return nil, fmt.Errorf("key %q has version %d after %d and status %d", kv.Key, kv.Version, last, kv.Status)
	}
	b := appendString([]byte{opKeyValue}, kv.Key)
	b = appendString(b, kv.Value)
	b = binary.LittleEndian.AppendUint64(b, uint64(kv.Version))
	return append(b, byte(kv.Status)), nil
}
