package chaos

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// frame is the head of a frame of HTTP/2.
type frame struct {
	kind byte
	ends bool // the stream
}

const (
	dataFrame    = 0
	headersFrame = 1
)

// forwardFrames copies frames until an error, or until one of the functions, which see each frame before and
// after it is forwarded, returns false.
func forwardFrames(to io.Writer, from io.Reader, before, after func(frame) bool) {
	const head = 9
	reader := bufio.NewReader(from)
	var buffer []byte
	for {
		start, err := reader.Peek(head)
		if err != nil {
			return
		}
		length := head + int(binary.BigEndian.Uint32(start)>>8)
		f := frame{kind: start[3], ends: start[4]&1 != 0}
		if cap(buffer) < length {
			buffer = make([]byte, length)
		}
		if _, err := io.ReadFull(reader, buffer[:length]); err != nil || !before(f) {
			return
		}
		if _, err := to.Write(buffer[:length]); err != nil || !after(f) {
			return
		}
	}
}

func TestTheProxyForwardsFramesUntilItIsToldToStop(t *testing.T) {
	t.Parallel()
	frameOf := func(kind, flags byte, payload string) string {
		return string([]byte{0, 0, byte(len(payload)), kind, flags, 0, 0, 0, 1}) + payload
	}
	sent := frameOf(headersFrame, 0, "ask") + frameOf(dataFrame, 1, "body") + frameOf(headersFrame, 0, "again")
	for _, c := range []struct {
		name   string
		before func(frame) bool
		after  func(frame) bool
		want   int
	}{
		{"all", func(frame) bool { return true }, func(frame) bool { return true }, len(sent)},
		{"before data", func(f frame) bool { return f.kind != dataFrame }, func(frame) bool { return true }, 9 + 3},
		{"after the end of a stream", func(frame) bool { return true }, func(f frame) bool { return !f.ends }, 9 + 3 + 9 + 4},
	} {
		reader, writer := io.Pipe()
		var wrote error
		var writing sync.WaitGroup
		writing.Go(func() {
			_, wrote = writer.Write([]byte(sent))
			_ = writer.Close() // never fails
		})
		got := &textWriter{}
		forwardFrames(got, reader, c.before, c.after)
		_ = reader.Close() // never fails
		writing.Wait()
		if wrote != nil && !errors.Is(wrote, io.ErrClosedPipe) {
			t.Fatal(wrote)
		}
		require.Equal(t, sent[:c.want], got.text, c.name)
	}
}

type textWriter struct{ text string }

func (w *textWriter) Write(p []byte) (int, error) {
	w.text += string(p)
	return len(p), nil
}
