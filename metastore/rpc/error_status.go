package rpc

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// errorDetailKey is the trailer that carries the error as JSON. Clients of the peer read nothing
// else, and take every failure without it for one that may succeed when repeated.
const errorDetailKey = "qw-error-bin"

// kindCode is the status code of an error kind, as the peer answers it. A kind that the peer does
// not know has none.
func kindCode(kind metastore.ErrorKind) (code codes.Code, known bool) {
	switch kind {
	case metastore.KindAlreadyExists:
		return codes.AlreadyExists, true
	case metastore.KindNotFound:
		return codes.NotFound, true
	case metastore.KindForbidden:
		return codes.PermissionDenied, true
	case metastore.KindTimeout:
		return codes.DeadlineExceeded, true
	case metastore.KindTooManyRequests:
		return codes.ResourceExhausted, true
	case metastore.KindUnavailable:
		return codes.Unavailable, true
	case metastore.KindFailedPrecondition, metastore.KindInvalidArgument, metastore.KindInvalidPublishToken:
		return codes.InvalidArgument, true // FailedPrecondition too: the peer's clients expect 3, not 9
	case metastore.KindConnection, metastore.KindDb, metastore.KindInternal, metastore.KindIo,
		metastore.KindJSONDeserializeError, metastore.KindJSONSerializeError:
		return codes.Internal, true
	}
	return codes.Internal, false
}

// failure is an error of a call in the form that travels.
type failure struct {
	status *status.Status
	// detail is the content of errorDetailKey, nil if the failure has none.
	detail []byte
	// kind is empty if the failure has no detail.
	kind metastore.ErrorKind
}

// failureOf translates what a handler returned. ctx is the caller's.
func failureOf(ctx context.Context, err error) failure {
	var aboutKey *idempotency.Error
	if errors.As(err, &aboutKey) {
		return failure{status: keyStatus(aboutKey)}
	}
	var typed *metastore.Error
	if !errors.As(err, &typed) {
		if carrier, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
			// Made by gRPC itself or by a handler that speaks of RPCs: unimplemented, connection lost.
			return failure{status: carrier.GRPCStatus()}
		}
	}
	if typed == nil || !typed.Kind.CertainlyAborted() && typed.Kind != metastore.KindTimeout && typed.Kind != metastore.KindUnavailable {
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			typed = metastore.Timeout(nil, "the server gave up: the call took longer than its time limit")
		case errors.Is(err, context.Canceled) && ctx.Err() != nil:
			return failure{status: status.New(codes.Canceled, "the client cancelled the call")}
		case errors.Is(err, context.Canceled):
			typed = metastore.Unavailable(nil, "the server is stopping")
		}
	}
	if typed == nil {
		// Nobody has vetted this text, it may hold secrets: it goes to the log only.
		typed = metastore.Internal(nil, "unexpected failure; the log of the server has the cause under request id %s", RequestID(ctx))
	}
	code, known := kindCode(typed.Kind)
	if !known {
		typed = metastore.Internal(nil, "%s", typed.Error())
	}
	message, detail := fitHeaders(typed)
	return failure{status: status.New(code, message), detail: detail, kind: typed.Kind}
}
