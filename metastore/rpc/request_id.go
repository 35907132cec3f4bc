package rpc

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc/metadata"
)

// requestIDHeader carries the id that names a call in the logs of client and server.
const requestIDHeader = "x-request-id"

type requestIDKey struct{}

// withRequestID takes the caller's request id, or draws one.
func withRequestID(ctx context.Context) (context.Context, string) {
	id := ""
	if values := metadata.ValueFromIncomingContext(ctx, requestIDHeader); len(values) > 0 && validRequestID(values[0]) {
		id = values[0]
	} else {
		id = uuid.NewString()
	}
	return context.WithValue(ctx, requestIDKey{}, id), id
}

// RequestID returns the id of the call that ctx belongs to on a server, empty outside of calls.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// validRequestID keeps what callers can write into the logs short and printable.
func validRequestID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
