package rpc

import (
	"sync"
	"time"
	"unsafe"

	"google.golang.org/grpc"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// sender sends the messages of one listing while the next one is being made, and bounds how long a
// client may leave it waiting. At most one message is in flight beside the one being made, so the
// pace of the client is the pace of the store.
type sender struct {
	stream grpc.ServerStreamingServer[metastorepb.ListSplitsResponse]
	stall  time.Duration
	timer  *time.Timer
	// work hands over a full array; idle gives back a buffer that is free again.
	work chan []byte
	idle chan sent
	// close ends the goroutine once it has nothing to send.
	close  func()
	failed error
}

type sent struct {
	buffer []byte
	err    error
}

// startSender starts the goroutine that sends, counted in group. It ends after close or, if the
// client has stalled, when the handler has returned too: the end of a call wakes up a Send that
// waits for the client.
func startSender(stream grpc.ServerStreamingServer[metastorepb.ListSplitsResponse], stall time.Duration, group *sync.WaitGroup) *sender {
	s := &sender{
		stream: stream,
		stall:  stall,
		timer:  time.NewTimer(stall),
		work:   make(chan []byte),
		idle:   make(chan sent, 1),
	}
	s.timer.Stop()
	s.close = sync.OnceFunc(func() { close(s.work) })
	s.idle <- sent{}
	group.Go(s.run)
	return s
}

func (s *sender) run() {
	for array := range s.work {
		// The message borrows the buffer: Send has encoded it when it returns.
		err := s.stream.Send(&metastorepb.ListSplitsResponse{SplitsSerializedJson: unsafe.String(unsafe.SliceData(array), len(array))})
		s.idle <- sent{buffer: array, err: err}
	}
}

// send hands over an array and returns a buffer to go on with. It waits for the message before.
func (s *sender) send(array []byte) ([]byte, error) {
	free, err := s.await()
	if err != nil {
		return nil, err
	}
	s.work <- array
	return free, nil
}

// await waits until nothing is being sent.
func (s *sender) await() ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	s.timer.Reset(s.stall)
	defer s.timer.Stop()
	select {
	case done := <-s.idle:
		s.failed = done.err
		return done.buffer, done.err
	case <-s.timer.C:
		s.failed = metastore.Timeout(nil, "the client did not read the listing for %s", s.stall)
		return nil, s.failed
	}
}

// finish waits for the last message and returns why sending failed, if it did. Nothing may be sent
// after it.
func (s *sender) finish() error {
	defer s.close()
	_, err := s.await()
	return err
}
