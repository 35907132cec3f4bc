package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// Key names one logical call: a UUID of version 7, whose first 48 bits are the time at which it was
// made, in milliseconds. The zero value is no key.
type Key [16]byte

// NewKey makes a key for a call that is about to be sent.
func NewKey() (Key, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Key{}, fmt.Errorf("make an idempotency key: %w", err)
	}
	return Key(id), nil
}

// keyLength is that of the only accepted form, 8-4-4-4-12 hexadecimal digits.
const keyLength = 36

// ParseKey reads a key: 36 characters in groups of 8-4-4-4-12 hexadecimal digits, in either case. Other
// forms of UUIDs, and other versions than 7, are refused.
func ParseKey(text string) (Key, error) {
	var key Key
	if text == "" {
		return key, errors.New("it is empty")
	}
	if len(text) != keyLength {
		return key, fmt.Errorf("it has %d characters, must have %d", len(text), keyLength)
	}
	digits := make([]byte, 0, 2*len(key))
	for i := range keyLength {
		switch i {
		case 8, 13, 18, 23:
			if text[i] != '-' {
				return key, fmt.Errorf("character %d must be a hyphen", i+1)
			}
		default:
			digits = append(digits, text[i])
		}
	}
	if _, err := hex.Decode(key[:], digits); err != nil {
		return Key{}, errors.New("it holds what is no hexadecimal digit")
	}
	if version := key[6] >> 4; version != 7 {
		return Key{}, fmt.Errorf("it is a UUID of version %d, must be of version 7", version)
	}
	if key[8]>>6 != 0b10 {
		return Key{}, errors.New("it is a UUID of an unknown variant")
	}
	return key, nil
}

// String returns the form that ParseKey reads, in lower case.
func (k Key) String() string { return uuid.UUID(k).String() }

// Time is when the key was made.
func (k Key) Time() time.Time { return time.UnixMilli(int64(k.milliseconds())) }

func (k Key) milliseconds() uint64 {
	var padded [8]byte
	copy(padded[2:], k[:6])
	return binary.BigEndian.Uint64(padded[:])
}

// Abbreviated is what logs show of a key: its time and a few digits that tell keys of one time apart.
// Who reads a log cannot use it.
func (k Key) Abbreviated() string {
	hash := sha256.Sum256(k[:])
	return k.Time().UTC().Format("20060102T150405.000Z") + "-" + hex.EncodeToString(hash[:4])
}

// Step derives the key of one step of a call that is made of several: the same step of the same call
// has the same key.
func (k Key) Step(name string) Key {
	step := Key(k.derive("step", name))
	copy(step[:6], k[:6])
	step[6] = step[6]&0x0f | 0x70
	step[8] = step[8]&0x3f | 0x80
	return step
}

// derive returns bytes that follow from the key, the purpose and the parts, and from nothing else.
func (k Key) derive(purpose string, parts ...string) [16]byte {
	hash := sha256.New()
	write := func(text string) {
		// Never fails, as documented.
		_, _ = hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		_, _ = hash.Write([]byte(text))
	}
	write("holdfast idempotency 1")
	write(purpose)
	write(string(k[:]))
	for _, part := range parts {
		write(part)
	}
	return [16]byte(hash.Sum(nil))
}

// ULID returns the id that a call with this key gives to what it makes: the time of the key, and bits
// that follow from the key, who calls, and what the id is for.
func (k Key) ULID(principal Principal, purpose string) ulid.ULID {
	id := ulid.ULID(k.derive("ulid", string(principal[:]), purpose))
	copy(id[:6], k[:6])
	return id
}

// FirstKeyAt returns what orders before every key of the time, to the millisecond, and of later ones.
func FirstKeyAt(t time.Time) Key {
	var first Key
	var padded [8]byte
	binary.BigEndian.PutUint64(padded[:], uint64(max(0, t.UnixMilli())))
	copy(first[:6], padded[2:])
	return first
}
