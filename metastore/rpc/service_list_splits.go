package rpc

import (
	"google.golang.org/grpc"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// splitsPerMessage is how many splits every message of a listing holds, but the last.
const splitsPerMessage = 100

// ListSplits implements MetastoreService. Each message is a JSON array made by splicing the rows of
// the store. No match gives no message.
func (s *service) ListSplits(request *metastorepb.ListSplitsRequest, stream grpc.ServerStreamingServer[metastorepb.ListSplitsResponse]) error {
	query, err := metastore.ParseListSplitsQuery(bytesOf(request.GetQueryJson()))
	if err != nil {
		return err
	}
	ctx, cancel := s.streaming(stream.Context())
	defer cancel()
	sender := startSender(stream, s.options.StallTimeout, s.background)
	defer sender.close()
	chunks := chunkWriter{limit: s.options.MaxMessageSize - listMessageOverhead, send: sender.send}
	err = s.store.ListSplits(ctx, query, chunks.add)
	if err == nil {
		err = chunks.flush()
	}
	// A client that stalls or leaves ends the listing in the sender, whatever the store makes of it.
	if sendErr := sender.finish(); sendErr != nil {
		return sendErr
	}
	return err
}

// listMessageOverhead covers what protobuf adds around the JSON: a tag and a length.
const listMessageOverhead = 16

// chunkWriter collects rows into JSON arrays and hands full ones to send, which returns the buffer
// to go on with.
type chunkWriter struct {
	limit  int // bytes of one array
	send   func(array []byte) (next []byte, err error)
	buffer []byte
	row    []byte
	rows   int
}

func (w *chunkWriter) add(row *metastore.SplitRow) error {
	if w.rows == splitsPerMessage {
		if err := w.flush(); err != nil {
			return err
		}
	}
	start := len(w.buffer)
	if w.rows == 0 {
		w.buffer = append(w.buffer[:0], '[')
		start = 0
	} else {
		w.buffer = append(w.buffer, ',')
	}
	w.buffer = row.AppendJSON(w.buffer)
	if len(w.buffer)+len("]") > w.limit {
		// Send the rows before this one and begin a new message with it.
		if w.rows == 0 {
			return metastore.Internal(nil, "a split takes %d bytes, more than the limit of %d on one message", len(w.buffer), w.limit)
		}
		w.row = append(w.row[:0], w.buffer[start+len(","):]...)
		w.buffer = w.buffer[:start]
		if err := w.flush(); err != nil {
			return err
		}
		w.buffer = append(append(w.buffer[:0], '['), w.row...)
		if len(w.buffer)+len("]") > w.limit {
			return metastore.Internal(nil, "a split takes %d bytes, more than the limit of %d on one message", len(w.row), w.limit)
		}
	}
	w.rows++
	return nil
}

func (w *chunkWriter) flush() error {
	if w.rows == 0 {
		return nil
	}
	next, err := w.send(append(w.buffer, ']'))
	w.buffer, w.rows = next[:0], 0
	return err
}
