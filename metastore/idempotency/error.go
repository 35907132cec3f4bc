package idempotency

import "time"

// Reason says why a call with a key was not answered. The texts are part of the protocol.
type Reason string

// The reasons.
const (
	// KeyInvalid: the key is none.
	KeyInvalid Reason = "IDEMPOTENCY_KEY_INVALID"
	// KeyRequired: the server takes this operation only with a key.
	KeyRequired Reason = "IDEMPOTENCY_KEY_REQUIRED"
	// KeyFromFuture: the key was made later than now.
	KeyFromFuture Reason = "IDEMPOTENCY_KEY_FROM_FUTURE"
	// KeyExpired: the key is too old to tell whether it was used.
	KeyExpired Reason = "IDEMPOTENCY_KEY_EXPIRED"
	// KeyReused: the key was used for another request.
	KeyReused Reason = "IDEMPOTENCY_KEY_REUSED"
	// KeyInFlight: a call with the key is under way.
	KeyInFlight Reason = "IDEMPOTENCY_KEY_IN_FLIGHT"
	// KeyQuota: too many keys are remembered.
	KeyQuota Reason = "IDEMPOTENCY_KEY_QUOTA"
	// OutcomeUnknown: whether the call was executed could not be found out; the same key finds out.
	OutcomeUnknown Reason = "COMMIT_OUTCOME_UNKNOWN"
	// ResultGone: the call was executed, and what it would answer is gone since.
	ResultGone Reason = "IDEMPOTENT_RESULT_GONE"
)

// Error is the refusal of a call with a key. But for OutcomeUnknown and ResultGone the call changed nothing.
type Error struct {
	Reason  Reason
	Message string
	// Metadata goes to the client as it is: details by name, nothing secret.
	Metadata map[string]string
	// RetryAfter is how long the client should wait before it repeats the call with the same key. 0 says nothing.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is an *Error of the same reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason
}

// Replayed says that a call with the key and the same binding was executed before, and that nothing
// was done now. It is the error of a store's method; the caller makes the answer from the current state.
type Replayed struct {
	Record Record
}

// Error implements error.
func (r *Replayed) Error() string {
	return r.Record.Operation + " with this idempotency key was executed before"
}
