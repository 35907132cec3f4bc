package segment

import (
	"encoding/binary"
	"errors"
)

var errLZ4 = errors.New("the LZ4 block is malformed")

// decodeLZ4 decodes one LZ4 block without a frame, of at most length bytes when decoded. A block is a
// sequence of: a token of two numbers of 4 bits, more bytes of the first, literals, a u16 distance, more
// bytes of the second. The first number counts the literals, the second, less 4, the bytes to copy from
// the distance; 15 means that bytes to add follow, up to one that is not 255. The last one ends behind its
// literals.
func decodeLZ4(block []byte, length int) ([]byte, error) {
	plain := make([]byte, 0, min(length, 16*len(block)))
	count := func(n int) (int, bool) {
		for more := n == 15; more; {
			if len(block) == 0 {
				return 0, false
			}
			n, more = n+int(block[0]), block[0] == 255
			block = block[1:]
			if n > length {
				return 0, false
			}
		}
		return n, true
	}
	for len(block) > 0 {
		token := block[0]
		block = block[1:]
		literals, ok := count(int(token >> 4))
		if !ok || literals > len(block) || literals > length-len(plain) {
			return nil, errLZ4
		}
		plain, block = append(plain, block[:literals]...), block[literals:]
		if len(block) == 0 {
			return plain, nil
		}
		if len(block) < 2 {
			return nil, errLZ4
		}
		distance := int(binary.LittleEndian.Uint16(block))
		block = block[2:]
		match, ok := count(int(token & 15))
		match += 4
		if !ok || distance == 0 || distance > len(plain) || match > length-len(plain) {
			return nil, errLZ4
		}
		for range match { // what is copied may overlap what it makes
			plain = append(plain, plain[len(plain)-distance])
		}
	}
	return nil, errLZ4
}
