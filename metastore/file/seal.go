package file

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
)

// Objects are JSON objects whose last member is the CRC-32C of all bytes before it, in lower-case
// hexadecimal:
//
//	{...,"crc32c":"0a1b2c3d"}
//
// It is checked where it is present. A person who edits an object by hand removes the member.
const (
	sealStart  = `,"crc32c":"`
	sealEnd    = `"}`
	sealLength = len(sealStart) + 8 + len(sealEnd)
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errSeal = errors.New("the checksum in member crc32c does not fit the bytes before it")
)

// appendSeal closes an object, given without its last brace.
func appendSeal(object []byte) []byte {
	return append(object, sealText(crc32.Checksum(object, castagnoli))...)
}

func sealText(sum uint32) string {
	digits := hex.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	return sealStart + digits + sealEnd
}

// checkSeal checks the checksum of a whole object, if it has one.
func checkSeal(object []byte) error {
	if len(object) < sealLength {
		return nil
	}
	body, tail := object[:len(object)-sealLength], object[len(object)-sealLength:]
	if bytes.HasPrefix(tail, []byte(sealStart)) && string(tail) != sealText(crc32.Checksum(body, castagnoli)) {
		return errSeal
	}
	return nil
}

// sealWriter adds up the checksum of what passes through it.
type sealWriter struct {
	w   io.Writer
	sum uint32
}

func (s *sealWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.sum = crc32.Update(s.sum, castagnoli, p[:n])
	return n, err
}

// close writes the last member and brace of the object.
func (s *sealWriter) close() error {
	_, err := io.WriteString(s.w, sealText(s.sum))
	return err
}

// sealReader checks the checksum of an object that is too large to hold. At its end it returns
// errSeal instead of io.EOF when the checksum is wrong.
type sealReader struct {
	r    io.Reader
	sum  uint32
	tail []byte // the last bytes that were read, at most sealLength, not yet part of sum
	read int64
}

func (s *sealReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.read += int64(n)
	s.add(p[:n])
	if err == io.EOF && bytes.HasPrefix(s.tail, []byte(sealStart)) && string(s.tail) != sealText(s.sum) {
		return n, errSeal
	}
	return n, err
}

func (s *sealReader) add(p []byte) {
	if len(p) >= sealLength {
		s.sum = crc32.Update(s.sum, castagnoli, s.tail)
		s.sum = crc32.Update(s.sum, castagnoli, p[:len(p)-sealLength])
		s.tail = append(s.tail[:0], p[len(p)-sealLength:]...)
		return
	}
	if excess := len(s.tail) + len(p) - sealLength; excess > 0 {
		s.sum = crc32.Update(s.sum, castagnoli, s.tail[:excess])
		s.tail = append(s.tail[:0], s.tail[excess:]...)
	}
	s.tail = append(s.tail, p...)
}
