package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"unicode/utf8"
)

// maxString is the longest string that can be written, in bytes.
const maxString = math.MaxUint16

// checkString refuses what appendString could not write.
func checkString(what, s string) error {
	if len(s) > maxString {
		return fmt.Errorf("%s has %d bytes, at most %d can be written", what, len(s), maxString)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s is not UTF-8", what)
	}
	return nil
}

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

func appendAddress(b []byte, a netip.AddrPort) []byte {
	tag := byte(tagIPv6)
	if a.Addr().Is4() {
		tag = tagIPv4
	}
	b = append(append(b, tag), a.Addr().AsSlice()...)
	return binary.LittleEndian.AppendUint16(b, a.Port())
}

var errNoAddress = errors.New("it has no IP address")

// check refuses an identity that appendIdentity could not write.
func (i Identity) check() error {
	if !i.Address.Addr().IsValid() {
		return fmt.Errorf("member %q: %w", i.NodeID, errNoAddress)
	}
	return checkString("the node id of a member", i.NodeID)
}

func appendIdentity(b []byte, i Identity) []byte {
	b = appendString(b, i.NodeID)
	b = binary.LittleEndian.AppendUint64(b, i.Generation)
	return appendAddress(b, i.Address)
}
