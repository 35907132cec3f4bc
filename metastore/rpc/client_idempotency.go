package rpc

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// WithIdempotencyKey returns a context whose one mutating call has this key, to finish a call whose outcome
// is unknown. It must be the same call, to a server that honours keys; otherwise the call is refused.
func WithIdempotencyKey(ctx context.Context, key idempotency.Key) context.Context {
	return context.WithValue(ctx, clientKey{}, givenKey{key: key})
}

// WithFreshIdempotencyKey returns a context whose one mutating call has this key, made for it a moment ago, in place
// of one that the client makes. So the request itself may follow from the key. Where the client would make none,
// the call is sent without.
func WithFreshIdempotencyKey(ctx context.Context, key idempotency.Key) context.Context {
	return context.WithValue(ctx, clientKey{}, givenKey{key: key, fresh: true})
}

type clientKey struct{}

// givenKey is a key that the caller gave. The zero value is none.
type givenKey struct {
	key idempotency.Key
	// fresh: no call was sent with it.
	fresh bool
}

// isRepeated reports whether a call may have been sent with the key.
func (g givenKey) isRepeated() bool { return g.key != idempotency.Key{} && !g.fresh }

// Repetition tells whether an answer was that of a repeated call.
type Repetition struct {
	// Replayed: the call had been executed before, by an earlier attempt or another process.
	Replayed bool
	// ResourceGone: what the call is about does not exist any more.
	ResourceGone bool
}

// WithRepetition returns a context whose one mutating call tells about its answer.
func WithRepetition(ctx context.Context, told *Repetition) context.Context {
	return context.WithValue(ctx, clientRepetition{}, told)
}

type clientRepetition struct{}

// UnknownOutcomeError says that it is not known what became of a mutating call. The same call with the same
// key (WithIdempotencyKey) finds out, and executes it if it was not, for as long as the server remembers keys.
type UnknownOutcomeError struct {
	Key idempotency.Key
	// Lifetime is how long after the first attempt the server remembers the key.
	Lifetime time.Duration
	err      error
}

// Error implements error.
func (e *UnknownOutcomeError) Error() string { return e.err.Error() }

// Unwrap returns the failure of the last attempt.
func (e *UnknownOutcomeError) Unwrap() error { return e.err }

// keyUnary gives each mutating call a key that all its attempts share, if the server honours keys. Without a
// key there is one attempt.
func (c *Client) keyUnary(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if !isMetastoreMethod(method) || !IsMutation(path.Base(method)) {
		return invoke(ctx, method, request, reply, connection, options...)
	}
	key, lifetime, err := c.keyForCall(ctx, path.Base(method), isRepeatable(options))
	if err != nil {
		return err
	}
	if key == (idempotency.Key{}) {
		return invoke(ctx, method, request, reply, connection, options...)
	}
	// Later the server might not remember the key.
	ctx, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, idempotencyKeyHeader, key.String())
	var header metadata.MD
	given, _ := ctx.Value(clientKey{}).(givenKey)
	repeated := given.isRepeated()
	noted := retry.WithOnRetryCallback(func(context.Context, uint, error) { repeated = true })
	err = invoke(ctx, method, request, reply, connection, append(options, repeatable, grpc.Header(&header), noted)...)
	if told, ok := ctx.Value(clientRepetition{}).(*Repetition); ok && err == nil {
		told.Replayed = len(header.Get(replayedHeader)) > 0
		told.ResourceGone = len(header.Get(resourceStateHeader)) > 0 && header.Get(resourceStateHeader)[0] == "gone"
	}
	if err == nil {
		return nil
	}
	var sent *rpcError
	if !errors.As(err, &sent) {
		// The context ended in the pause between two attempts.
		sent = &rpcError{meaning: meaningOf(status.Convert(err), nil), status: status.Convert(err)}
	}
	sent.key, sent.keyLifetime, sent.repeated = key, lifetime, repeated
	return sent
}

// ErrKeysNotHonoured says that a call with a given key was not sent, because the server would ignore the key.
var ErrKeysNotHonoured = errors.New("the server does not honour idempotency keys, so it cannot tell whether the call was executed")

// keyForCall returns the key of a call, and how long it may be repeated. Without a key it returns the zero value. A
// call that may be repeated anyway, such as create-only staging, has a key only if it was given one.
func (c *Client) keyForCall(ctx context.Context, operation string, repeatable bool) (idempotency.Key, time.Duration, error) {
	given, _ := ctx.Value(clientKey{}).(givenKey)
	if !given.isRepeated() && (repeatable || c.options.NoIdempotencyKeys) {
		return idempotency.Key{}, 0, nil
	}
	lifetime, err := c.keyLifetime(ctx, operation)
	switch {
	case given.isRepeated() && err == nil && lifetime == 0:
		return idempotency.Key{}, 0, metastore.Unsupported(ErrKeysNotHonoured, "the call was not sent")
	case given.isRepeated():
		return given.key, lifetime, err
	case errors.Is(err, metastore.ErrUnavailable), errors.Is(err, &metastore.Error{Kind: metastore.KindTimeout}):
		// Without a key, should the server be back by now, nobody could repeat the call if its answer were lost.
		return idempotency.Key{}, 0, err
	case err != nil || lifetime == 0:
		// Something on the way refuses the question. The call itself will tell what is wrong.
		return idempotency.Key{}, 0, nil
	case given.fresh:
		return given.key, lifetime, nil
	}
	key, err := idempotency.NewKey()
	return key, lifetime, err
}

// keyLifetime is how long the server remembers the keys of an RPC, 0 if it does not. Behind one address there must not
// be servers with keys and without.
func (c *Client) keyLifetime(ctx context.Context, operation string) (time.Duration, error) {
	capabilities, err := c.offered(ctx)
	if err != nil {
		return 0, err
	}
	return capabilities.keyLifetime(operation), nil
}

// repeatsKey reports whether a refusal that is about a key may become a success with the same key.
func repeatsKey(refused *idempotency.Error) bool {
	return refused.Reason == idempotency.KeyInFlight || refused.Reason == idempotency.OutcomeUnknown
}

// isUnknownOutcome reports whether it is not known what became of a call that failed with err.
func isUnknownOutcome(err error) bool {
	var refused *idempotency.Error
	if errors.As(err, &refused) {
		return repeatsKey(refused)
	}
	return !metastore.AsError(err).Kind.CertainlyAborted()
}

// isUndecided reports whether a repeated call was refused before the server looked for what became of its
// earlier attempts.
func isUndecided(err error) bool {
	var refused *idempotency.Error
	if errors.As(err, &refused) {
		// Another server, whose clock is ahead, may have taken a key that is from the future for this one.
		return refused.Reason == idempotency.KeyQuota || refused.Reason == idempotency.KeyFromFuture
	}
	return errors.Is(err, metastore.ErrTooManyRequests) || metastore.AsError(err).Kind == metastore.KindForbidden
}
