package rpc

import (
	"context"
	"errors"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxRetryDelay bounds the pause between two attempts.
const maxRetryDelay = 5 * time.Second

// repeatable marks a call that has no second effect when repeated. Only such calls are retried.
var repeatable = repeatableOption{}

type repeatableOption struct{ grpc.EmptyCallOption }

func retryUnary(options ClientOptions) grpc.UnaryClientInterceptor {
	retrying := retry.UnaryClientInterceptor(retryPolicy(options)...)
	return func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, callOptions ...grpc.CallOption) error {
		attempt := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, callOptions ...grpc.CallOption) error {
			// The pause before another attempt may end at the same time as the context, and then either counts.
			if err := ctx.Err(); err != nil {
				return status.FromContextError(err).Err()
			}
			ctx, cancel := context.WithTimeout(ctx, options.CallTimeout)
			defer cancel()
			return invoke(ctx, method, request, reply, connection, callOptions...)
		}
		if !isRepeatable(callOptions) {
			return attempt(ctx, method, request, reply, connection, callOptions...)
		}
		return retrying(ctx, method, request, reply, connection, attempt, callOptions...)
	}
}

// retryStream repeats a stream that failed before its first message. The library repeats later
// failures too, which would hand out rows twice; receivedOnce prevents it.
func retryStream(options ClientOptions) grpc.StreamClientInterceptor {
	retrying := retry.StreamClientInterceptor(retryPolicy(options)...)
	return func(ctx context.Context, desc *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer, callOptions ...grpc.CallOption) (grpc.ClientStream, error) {
		if !isRepeatable(callOptions) {
			return open(ctx, desc, connection, method, callOptions...)
		}
		started := false
		openOnce := func(ctx context.Context, desc *grpc.StreamDesc, connection *grpc.ClientConn, method string, callOptions ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := open(ctx, desc, connection, method, callOptions...)
			if err != nil {
				return nil, err
			}
			return &receivedOnce{ClientStream: stream, started: &started}, nil
		}
		return retrying(ctx, desc, connection, method, openOnce, callOptions...)
	}
}

// receivedOnce marks the failures of a stream that has delivered a message.
type receivedOnce struct {
	grpc.ClientStream
	started *bool
}

func (s *receivedOnce) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err == nil {
		*s.started = true
		return nil
	}
	if *s.started && retriable(err) {
		return &midStreamError{err}
	}
	return err
}

// midStreamError is a failure after rows were handed out.
type midStreamError struct{ error }

func (e *midStreamError) Unwrap() error { return e.error }

func isRepeatable(options []grpc.CallOption) bool {
	for _, option := range options {
		if _, ok := option.(repeatableOption); ok {
			return true
		}
	}
	return false
}

func retryPolicy(options ClientOptions) []retry.CallOption {
	return []retry.CallOption{
		retry.WithMax(uint(options.RetryAttempts)),
		retry.WithRetriable(retriable),
		retry.WithBackoff(retry.BackoffExponentialWithJitterBounded(options.RetryDelay, 0.5, maxRetryDelay)),
	}
}

// retriable reports whether a repeated call may succeed: its outcome is unknown, or nothing answered.
func retriable(err error) bool {
	var midStream *midStreamError
	if errors.As(err, &midStream) {
		return false
	}
	var sent *rpcError
	if !errors.As(err, &sent) {
		return false
	}
	if sent.refused != nil {
		return repeatsKey(sent.refused)
	}
	switch sent.status.Code() {
	case codes.Unimplemented, codes.ResourceExhausted: // an answer over the limit stays over it
		return false
	}
	return !sent.meaning.Kind.CertainlyAborted()
}
