package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"unicode/utf8"
)

// reader takes values off the front of bytes. The first failure stays, and every later value is zero.
type reader struct {
	rest []byte
	err  error
}

var errShort = errors.New("the bytes end too early")

func (r *reader) fail(format string, arguments ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, arguments...)
		r.rest = nil
	}
}

// within says what was being read when the failure came about.
func (r *reader) within(format string, arguments ...any) {
	if r.err != nil {
		r.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, arguments...), r.err)
	}
}

// take returns the next n bytes, or nil.
func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if len(r.rest) < n {
		r.fail("%w: %d bytes wanted, %d left", errShort, n, len(r.rest))
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) string() string {
	b := r.take(int(r.u16()))
	if !utf8.Valid(b) {
		r.fail("a string of %d bytes is not UTF-8", len(b))
		return ""
	}
	return string(b)
}

const (
	tagIPv4 = 4
	tagIPv6 = 6
)

// address reads a tag, an IP address in network order, and a port.
func (r *reader) address() netip.AddrPort {
	var ip netip.Addr
	switch tag := r.u8(); {
	case r.err != nil:
	case tag == tagIPv4:
		ip, _ = netip.AddrFromSlice(r.take(4))
	case tag == tagIPv6:
		ip, _ = netip.AddrFromSlice(r.take(16))
	default:
		r.fail("IP version is %d, must be 4 or 6", tag)
	}
	port := r.u16()
	if r.err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, port)
}

func (r *reader) identity() Identity {
	i := Identity{NodeID: r.string(), Generation: r.u64(), Address: r.address()}
	r.within("member identity")
	return i
}
