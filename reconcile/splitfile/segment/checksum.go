package segment

import "hash/crc32"

// The CRC-32 register is a polynomial of degree below 32 over GF(2), its highest bit the constant term.
// Appending n bytes to what was summed multiplies it by x^8n, modulo the polynomial of the checksum. That
// polynomial is primitive: x has the order 2^32-1, so there is a power of x that undoes it.

const (
	one   uint32 = 1 << 31
	x8    uint32 = 1 << 23
	order        = 1<<32 - 1
)

// multiply multiplies modulo the polynomial.
func multiply(a, b uint32) uint32 {
	var product uint32
	for bit := one; bit != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return product
}

// shift returns x^8n.
func shift(n uint64) uint32 {
	power, square := one, x8
	for ; n != 0; n >>= 1 {
		if n&1 != 0 {
			power = multiply(power, square)
		}
		square = multiply(square, square)
	}
	return power
}

// JoinChecksums returns the CRC-32 of A followed by B, which has length bytes.
func JoinChecksums(a, b uint32, length int64) uint32 {
	return multiply(a, shift(uint64(length))) ^ b
}

// ChecksumBefore returns the CRC-32 of A, given that of A followed by B, and that and the length of B.
func ChecksumBefore(joined, b uint32, length int64) uint32 {
	undo := (order - uint64(length)%order) % order
	return multiply(joined^b, shift(undo))
}
