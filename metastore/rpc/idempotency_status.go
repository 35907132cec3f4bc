package rpc

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"holdfast/metastore/idempotency"
)

// idempotencyDomain is the domain of the error details about idempotency keys.
const idempotencyDomain = "metastore.idempotency"

// keyStatus is the status of a refusal that is about a key. It has no detail of the peer's: clients of the
// peer never send keys.
func keyStatus(refused *idempotency.Error) *status.Status {
	plain := status.New(keyCode(refused.Reason), refused.Message)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: string(refused.Reason), Domain: idempotencyDomain, Metadata: refused.Metadata}}
	if refused.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(refused.RetryAfter.Round(time.Millisecond))})
	}
	detailed, err := plain.WithDetails(details...)
	if err != nil {
		return plain
	}
	return detailed
}

func keyCode(reason idempotency.Reason) codes.Code {
	switch reason {
	case idempotency.KeyInvalid, idempotency.KeyRequired, idempotency.KeyFromFuture:
		return codes.InvalidArgument
	case idempotency.KeyExpired, idempotency.KeyReused:
		return codes.FailedPrecondition
	case idempotency.KeyInFlight:
		return codes.Aborted
	case idempotency.KeyQuota:
		return codes.ResourceExhausted
	case idempotency.OutcomeUnknown:
		return codes.Unavailable
	case idempotency.ResultGone:
		return codes.NotFound
	}
	return codes.Internal
}

// keyError is the inverse of keyStatus; nil if the status is about something else.
func keyError(sent *status.Status) *idempotency.Error {
	var refused *idempotency.Error
	for _, detail := range sent.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == idempotencyDomain {
				refused = &idempotency.Error{Reason: idempotency.Reason(detail.GetReason()), Message: sent.Message(), Metadata: detail.GetMetadata()}
			}
		case *errdetails.RetryInfo:
			if refused != nil {
				refused.RetryAfter = detail.GetRetryDelay().AsDuration()
			}
		}
	}
	return refused
}
