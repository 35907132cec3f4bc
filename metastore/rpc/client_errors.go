package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// decodeUnary turns the failure of an attempt into the error that the server sent.
func decodeUnary(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	var trailer metadata.MD
	err := invoke(ctx, method, request, reply, connection, append(options, grpc.Trailer(&trailer))...)
	return decodeError(err, trailer)
}

// decodeStream does it for the attempt of a stream.
func decodeStream(ctx context.Context, desc *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, connection, method, options...)
	if err != nil {
		return nil, decodeError(err, nil)
	}
	return &decodingStream{stream}, nil
}

type decodingStream struct{ grpc.ClientStream }

func (s *decodingStream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if _, failed := status.FromError(err); err == nil || !failed {
		return err // io.EOF is the good end of a stream
	}
	return decodeError(err, s.Trailer())
}

// rpcError is a failed call: what the server meant, and the status that it came with.
type rpcError struct {
	meaning *metastore.Error
	status  *status.Status
	// refused is set if the failure is about the idempotency key.
	refused *idempotency.Error
	// key is that of the call, the zero value if it had none.
	key         idempotency.Key
	keyLifetime time.Duration
	// repeated: an earlier attempt with the key, also of another process, may have been executed.
	repeated bool
}

func (e *rpcError) Error() string              { return e.meaning.Error() }
func (e *rpcError) Unwrap() error              { return e.meaning }
func (e *rpcError) GRPCStatus() *status.Status { return e.status }

// decodeError reads the error detail of the trailer. Without one the status code says what it can;
// the codes that could mean anything become Internal, as with the peer's clients.
func decodeError(err error, trailer metadata.MD) error {
	if err == nil {
		return nil
	}
	sent, ok := status.FromError(err)
	if !ok {
		return err
	}
	return &rpcError{meaning: meaningOf(sent, trailer.Get(errorDetailKey)), status: sent, refused: keyError(sent)}
}

func meaningOf(sent *status.Status, details []string) *metastore.Error {
	if len(details) > 0 {
		meaning, err := metastore.ParseErrorJSON([]byte(details[0]))
		if err != nil {
			return &metastore.Error{
				Kind:    metastore.KindInternal,
				Message: fmt.Sprintf("the server's error cannot be read, its version may differ from the client's: %s: %s", sent.Message(), err),
			}
		}
		return meaning
	}
	switch sent.Code() {
	case codes.Canceled, codes.DeadlineExceeded:
		return metastore.Timeout(nil, "%s", sent.Message())
	case codes.Unavailable:
		return metastore.Unavailable(nil, "%s", sent.Message())
	case codes.Unimplemented:
		return &metastore.Error{Kind: metastore.KindInternal, Message: "the server does not implement the call: " + sent.Message()}
	}
	return &metastore.Error{Kind: metastore.KindInternal, Message: sent.Message()}
}

// callError is what a method of the client returns: an *metastore.Error, as every store does, or an
// *idempotency.Error; within an *UnknownOutcomeError if the call had a key and may have been executed. The end
// of the caller's context can be told with errors.Is.
func callError(ctx context.Context, operation string, err error) error {
	failed := failureOfCall(ctx, operation, err)
	var sent *rpcError
	if !errors.As(err, &sent) || sent.key == (idempotency.Key{}) {
		return failed
	}
	if isUnknownOutcome(failed) || sent.repeated && isUndecided(failed) {
		return &UnknownOutcomeError{Key: sent.key, Lifetime: sent.keyLifetime, err: failed}
	}
	return failed
}

func failureOfCall(ctx context.Context, operation string, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		if code := status.Code(err); code == codes.Canceled || code == codes.DeadlineExceeded {
			return metastore.Timeout(ctxErr, "%s", operation)
		}
	}
	var sent *rpcError
	if errors.As(err, &sent) {
		if sent.refused != nil {
			return sent.refused
		}
		return sent.meaning
	}
	var typed *metastore.Error
	if errors.As(err, &typed) {
		return typed
	}
	if code := status.Code(err); code == codes.Canceled || code == codes.DeadlineExceeded {
		return metastore.Timeout(err, "%s", operation)
	}
	return metastore.Internal(err, "%s", operation)
}
