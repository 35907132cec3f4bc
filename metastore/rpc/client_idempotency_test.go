package rpc_test

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
	"holdfast/proto/extensionpb"
)

// keysOf returns a client that notes the keys of its calls of one RPC, and fails those of which fail says so,
// after they were executed.
func (b *bundle) keysOf(operation string, fail func(attempt int) error) (*rpc.Client, *[]string) {
	var keys []string
	interceptor := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		err := invoke(ctx, method, request, reply, connection, options...)
		if path.Base(method) != operation {
			return err
		}
		outgoing, _ := metadata.FromOutgoingContext(ctx)
		keys = append(keys, append(outgoing.Get("idempotency-key"), "none")[0])
		if failed := fail(len(keys)); failed != nil {
			return failed
		}
		return err
	}
	client := b.client(rpc.ClientOptions{
		RetryDelay:  time.Nanosecond,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptor)},
	})
	return client, &keys
}

func never(int) error { return nil }

func newKey(t *testing.T) idempotency.Key {
	t.Helper()
	key, err := idempotency.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAFreshKeyIsThatOfTheCall(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	client, keys := b.keysOf("CreateIndex", never)
	key := newKey(t)

	var told rpc.Repetition
	ctx := rpc.WithRepetition(rpc.WithFreshIdempotencyKey(b.ctx, key), &told)
	if _, err := client.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")}); err != nil || told.Replayed {
		t.Fatalf("create: %v, %+v", err, told)
	}

	if len(*keys) != 1 || (*keys)[0] != key.String() {
		t.Errorf("sent the keys %q, want %s", *keys, key)
	}
}

func TestAFreshKeyIsLeftOutWhereAGivenOneIsRefused(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{Idempotency: rpc.IdempotencyOptions{Disabled: true}})
	client, keys := b.keysOf("CreateIndex", never)
	request := metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")}

	_, err := client.CreateIndex(rpc.WithIdempotencyKey(b.ctx, newKey(t)), request)
	if !errors.Is(err, rpc.ErrKeysNotHonoured) || len(*keys) != 0 {
		t.Errorf("with a given key: error %v after %d calls, want ErrKeysNotHonoured and no call", err, len(*keys))
	}
	_, err = client.CreateIndex(rpc.WithFreshIdempotencyKey(b.ctx, newKey(t)), request)
	if err != nil || len(*keys) != 1 || (*keys)[0] != "none" {
		t.Errorf("with a fresh key: error %v, keys %q, want one call without a key", err, *keys)
	}
}

func TestARefusalThatSaysNothingAboutAnEarlierAttemptLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	refusal := func(code codes.Code, reason idempotency.Reason) *status.Status {
		refused, err := status.New(code, "refused").WithDetails(&errdetails.ErrorInfo{Reason: string(reason), Domain: "metastore.idempotency"})
		if err != nil {
			t.Fatal(err)
		}
		return refused
	}
	full, ahead := refusal(codes.ResourceExhausted, idempotency.KeyQuota), refusal(codes.InvalidArgument, idempotency.KeyFromFuture)
	for name, test := range map[string]struct {
		refusal *status.Status
		lost    int // attempts whose answers are lost before the refusal
		with    func(context.Context, idempotency.Key) context.Context
		unknown bool
	}{
		"the first attempt is refused":                               {refusal: full, with: rpc.WithFreshIdempotencyKey},
		"an attempt whose answer was lost came first":                {refusal: full, lost: 1, with: rpc.WithFreshIdempotencyKey, unknown: true},
		"another process may have sent the call":                     {refusal: full, with: rpc.WithIdempotencyKey, unknown: true},
		"a server whose clock is behind":                             {refusal: ahead, with: rpc.WithFreshIdempotencyKey},
		"a server whose clock is behind after one with the answer":   {refusal: ahead, lost: 1, with: rpc.WithFreshIdempotencyKey, unknown: true},
		"a server whose clock is behind that of another, long after": {refusal: ahead, with: rpc.WithIdempotencyKey, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, memStore(t), rpc.ServerOptions{})
			client, _ := b.keysOf("CreateIndex", func(attempt int) error {
				if attempt <= test.lost {
					return status.Error(codes.Unavailable, "lost")
				}
				return test.refusal.Err()
			})
			key := newKey(t)

			_, err := client.CreateIndex(test.with(b.ctx, key), metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")})

			var unknown *rpc.UnknownOutcomeError
			if errors.As(err, &unknown) != test.unknown {
				t.Fatalf("error %v, unknown outcome: %t, want %t", err, !test.unknown, test.unknown)
			}
			if test.unknown && (unknown.Key != key || unknown.Lifetime != idempotency.DefaultWindow().Lifetime) {
				t.Errorf("key %s for %s, want %s for the lifetime that the server tells", unknown.Key, unknown.Lifetime, key)
			}
			if refused := new(idempotency.Error); !errors.As(err, &refused) || refused.Message != "refused" {
				t.Errorf("error %v, want the server's", err)
			}
		})
	}
}

func TestACallIsNotRepeatedBeyondTheLifetimeOfItsKey(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	shortLived := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		err := invoke(ctx, method, request, reply, connection, options...)
		if capabilities, ok := reply.(*extensionpb.GetCapabilitiesResponse); ok {
			capabilities.IdempotencyKeyLifetimeSeconds = 1
		}
		if path.Base(method) == "CreateIndex" {
			return status.Error(codes.Unavailable, "lost")
		}
		return err
	}
	client := b.client(rpc.ClientOptions{RetryAttempts: 1000, RetryDelay: 10 * time.Millisecond, DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(shortLived)}})
	begun := time.Now()

	_, err := client.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")})

	var unknown *rpc.UnknownOutcomeError
	if !errors.As(err, &unknown) || unknown.Lifetime != time.Second {
		t.Fatalf("error %v, want an unknown outcome", err)
	}
	if took := time.Since(begun); took < time.Second/2 || took > testTimeout/2 {
		t.Errorf("gave up after %s, want about a second", took)
	}
}

func TestKeysAreMadeForTheCallsThatAServerNames(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	for name, test := range map[string]struct {
		told  []string
		keyed bool
	}{
		// As a server does that is from before the names were told.
		"none":     {keyed: true},
		"this one": {told: []string{"DeleteIndex", "CreateIndex"}, keyed: true},
		"another":  {told: []string{"DeleteIndex"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			tell := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
				if path.Base(method) == "CreateIndex" {
					outgoing, _ := metadata.FromOutgoingContext(ctx)
					sent = strings.Join(outgoing.Get("idempotency-key"), ",")
				}
				err := invoke(ctx, method, request, reply, connection, options...)
				if capabilities, ok := reply.(*extensionpb.GetCapabilitiesResponse); ok {
					capabilities.IdempotencyKeyRpcs, capabilities.IdempotencyKeyScope = test.told, ""
				}
				return err
			}
			client := b.client(rpc.ClientOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(tell)}})
			request := metastore.CreateIndexRequest{Config: indexConfig(t, "logs-"+strings.ReplaceAll(name, " ", "-"))}
			if _, err := client.CreateIndex(b.ctx, request); err != nil {
				t.Fatal(err)
			}
			if (sent != "") != test.keyed {
				t.Errorf("sent with key %q; with a key: want %t", sent, test.keyed)
			}

			_, err := client.CreateIndex(rpc.WithIdempotencyKey(b.ctx, newKey(t)), request)

			if errors.Is(err, rpc.ErrKeysNotHonoured) == test.keyed {
				t.Errorf("repeating a call with its key: %v; refused before it is sent: want %t", err, !test.keyed)
			}
		})
	}
}

func TestACallIsNotSentWithoutAKeyWhileTheServerCannotSayWhetherItTakesKeys(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	for code, wantSent := range map[codes.Code]int{
		codes.Unavailable: 0,
		// As a proxy answers that lets only calls of the metastore service through.
		codes.PermissionDenied: 1,
		codes.Unimplemented:    1,
	} {
		sent := 0
		refuse := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			if path.Base(method) == "GetCapabilities" {
				return status.Error(code, "refused")
			}
			sent++
			return invoke(ctx, method, request, reply, connection, options...)
		}
		client := b.client(rpc.ClientOptions{RetryDelay: time.Nanosecond, DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(refuse)}})

		_, err := client.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-"+strings.ToLower(code.String()))})

		if (err == nil) != (wantSent > 0) || sent != wantSent || err != nil && !errors.Is(err, metastore.ErrUnavailable) {
			t.Errorf("%s: sent %d times, %v; want %d times", code, sent, err, wantSent)
		}
	}
}

func TestAServerWithoutRecoveryDoesNotDecideAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	for lost := range 2 {
		b := serve(t, memStore(t), rpc.ServerOptions{})
		client, _ := b.keysOf("RecoverIndex", func(attempt int) error {
			if attempt <= lost {
				return status.Error(codes.Unavailable, "lost")
			}
			return status.Error(codes.Unimplemented, "unknown service")
		})

		_, err := client.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a"), Incarnation: metastore.Some(anyUID.Incarnation)})

		var unknown *rpc.UnknownOutcomeError
		if errors.As(err, &unknown) != (lost > 0) || errors.Is(err, metastore.ErrRecoveryUnsupported) != (lost == 0) {
			t.Errorf("after %d attempts whose answers were lost: %v", lost, err)
		}
	}
}

func TestAnInterruptionBetweenTwoAttemptsLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	ctx, cancel := context.WithCancel(b.ctx)
	client, keys := b.keysOf("CreateIndex", func(int) error {
		cancel()
		return status.Error(codes.Unavailable, "lost")
	})

	_, err := client.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")})

	var unknown *rpc.UnknownOutcomeError
	if !errors.As(err, &unknown) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want an unknown outcome because of the caller", err)
	}
	if len(*keys) != 1 || unknown.Key.String() != (*keys)[0] {
		t.Errorf("the error names key %s, the call had %q", unknown.Key, *keys)
	}
}

func TestCreateOnlyStagingNeedsNoKeyWhereStagingNeedsOne(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{Idempotency: rpc.IdempotencyOptions{RequireKeyFor: []string{"StageSplits"}}})
	client := b.client(rpc.ClientOptions{NoIdempotencyKeys: true})
	request := metastore.StageSplitsRequest{IndexUID: createIndex(t, client, "logs-a"), Splits: []metastore.SplitMetadata{split("s")}}

	_, err := client.StageSplits(b.ctx, request)
	if !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyRequired}) {
		t.Errorf("without a key: %v, want a refusal", err)
	}
	request.CreateOnly = true
	if result, err := client.StageSplits(b.ctx, request); err != nil || len(result.Staged) != 1 {
		t.Errorf("create-only without a key: %+v, %v, want a staged split", result, err)
	}
}
