package rpc

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/proto/metastorepb"
)

// The metadata of calls with idempotency keys.
const (
	idempotencyKeyHeader = "idempotency-key"
	replayedHeader       = "idempotency-replayed"
	resourceStateHeader  = "idempotency-resource-state"
	keyLifetimeHeader    = "idempotency-key-lifetime"
)

// keyedCalls has the mutating calls that come with an idempotency key executed once.
type keyedCalls struct {
	store   idempotency.Store
	window  idempotency.Window
	flights *idempotency.Flights
	// required names the operations that are refused without a key.
	required map[string]bool
	metrics  *keyMetrics
	logger   *slog.Logger
}

// newKeyedCalls honours keys if the store keeps records, unless the options say otherwise.
func newKeyedCalls(store metastore.Store, options ServerOptions) (*keyedCalls, error) {
	o := options.Idempotency
	k := &keyedCalls{window: o.Window, flights: idempotency.NewFlights(o.KeyWait, o.MaxWaiters), required: map[string]bool{}, logger: options.Logger}
	if !o.Disabled {
		k.store, _ = store.(idempotency.Store)
	}
	for _, operation := range o.RequireKeyFor {
		if !IsMutation(operation) {
			return nil, fmt.Errorf("server options: idempotency keys are required for %q, which is no mutating call", operation)
		}
		k.required[operation] = true
	}
	if k.store == nil && len(k.required) > 0 {
		return nil, errors.New("server options: idempotency keys are required for some calls, but the server does not honour them")
	}
	metrics, err := newKeyMetrics(options.Registerer)
	if err != nil {
		return nil, fmt.Errorf("register the metrics of idempotency keys: %w", err)
	}
	k.metrics = metrics
	if k.store != nil && options.Registerer != nil {
		if err := options.Registerer.Register(newRecordMetrics(k.store)); err != nil {
			return nil, fmt.Errorf("register the metrics of the records of idempotency keys: %w", err)
		}
	}
	return k, nil
}

// advertisedLifetime is what clients are told, 0 if keys are not honoured.
func (k *keyedCalls) advertisedLifetime() time.Duration {
	if k.store == nil {
		return 0
	}
	return k.window.Lifetime
}

// scope is within what the reuse of a key is detected, empty if keys are not honoured.
func (k *keyedCalls) scope() idempotency.Scope {
	if k.store == nil {
		return ""
	}
	return k.store.KeyScope()
}

// keyOf reads and checks the key of a call; without one it returns the zero value.
func (k *keyedCalls) keyOf(ctx context.Context, operation string, request any) (idempotency.Key, error) {
	values := metadata.ValueFromIncomingContext(ctx, idempotencyKeyHeader)
	staging, _ := request.(*metastorepb.StageSplitsRequest)
	switch {
	case len(values) == 0 && k.required[operation] && !staging.GetCreateOnly():
		return idempotency.Key{}, &idempotency.Error{Reason: idempotency.KeyRequired, Metadata: map[string]string{"operation": operation},
			Message: "the server takes " + operation + " only with an idempotency key: send a UUID of version 7 in the metadata " + idempotencyKeyHeader}
	case len(values) == 0:
		return idempotency.Key{}, nil
	case len(values) > 1:
		return idempotency.Key{}, invalidKey("it is given " + strconv.Itoa(len(values)) + " times")
	}
	key, err := idempotency.ParseKey(values[0])
	if err != nil {
		return idempotency.Key{}, invalidKey(err.Error())
	}
	return key, k.window.Check(key, time.Now())
}

func invalidKey(problem string) error {
	return &idempotency.Error{Reason: idempotency.KeyInvalid, Metadata: map[string]string{"problem": problem},
		Message: idempotencyKeyHeader + " is not valid: " + problem + "; it must be a UUID of version 7"}
}

// record is what the call of a key binds. The names of resources that are too long are hashed.
func (k *keyedCalls) record(ctx context.Context, key idempotency.Key, operation, resource string, request proto.Message) (idempotency.Record, error) {
	const maxResourceBytes = 512
	if len(resource) > maxResourceBytes {
		resource = idempotency.MultiResource([]string{resource})
	}
	principal, err := k.principal(ctx)
	if err != nil {
		return idempotency.Record{}, err
	}
	fingerprint, err := fingerprintOf(operation, request)
	return idempotency.Record{Key: key, Binding: idempotency.Binding{
		Principal: principal, Operation: operation, Resource: resource,
		Fingerprint: fingerprint, FingerprintVersion: idempotency.FingerprintVersion,
	}}, err
}

// fingerprintOf is the algorithm of idempotency.FingerprintVersion: SHA-256 of the version, the name of the
// operation, a zero byte, and the request with its unknown fields.
func fingerprintOf(operation string, request proto.Message) (idempotency.Fingerprint, error) {
	text := append([]byte{idempotency.FingerprintVersion}, operation...)
	text, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(append(text, 0), request)
	if err != nil {
		return idempotency.Fingerprint{}, metastore.Internal(err, "fingerprint of the request")
	}
	return sha256.Sum256(text), nil
}

// principal is the identity of the client's certificate. The cluster identity, which all servers of a
// store share, keeps equal names of different deployments apart.
func (k *keyedCalls) principal(ctx context.Context) (idempotency.Principal, error) {
	name := certificateName(ctx)
	if name == "" {
		return idempotency.Anonymous, nil
	}
	identity, err := k.store.ClusterIdentity(ctx)
	if err != nil {
		return idempotency.Principal{}, err
	}
	return idempotency.NewPrincipal([]byte(identity), name), nil
}

// certificateName is the first name in the client's verified certificate, empty if it has none.
func certificateName(ctx context.Context) string {
	caller, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	tls, ok := caller.AuthInfo.(credentials.TLSInfo)
	if !ok || len(tls.State.VerifiedChains) == 0 {
		return ""
	}
	return nameOf(tls.State.VerifiedChains[0][0])
}

func nameOf(certificate *x509.Certificate) string {
	switch {
	case len(certificate.URIs) > 0:
		return "uri:" + certificate.URIs[0].String()
	case len(certificate.DNSNames) > 0:
		return "dns:" + certificate.DNSNames[0]
	case len(certificate.EmailAddresses) > 0:
		return "email:" + certificate.EmailAddresses[0]
	}
	return "key:" + hex.EncodeToString(certificate.SubjectKeyId) + ":" + certificate.Subject.CommonName
}

// keyInContext carries a key that was checked from the interceptor to the handler.
type keyInContext struct{}

// withKey is the interceptor that reads keys before the handler looks at the request. Calls that change
// nothing are answered as without a key.
func (k *keyedCalls) withKey(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	operation := path.Base(info.FullMethod)
	if !isMetastoreMethod(info.FullMethod) {
		return handler(ctx, request)
	}
	if k.store == nil || !IsMutation(operation) {
		if len(metadata.ValueFromIncomingContext(ctx, idempotencyKeyHeader)) > 0 {
			k.metrics.count(operation, "ignored")
		}
		return handler(ctx, request)
	}
	key, err := k.keyOf(ctx, operation, request)
	if err != nil {
		k.refused(ctx, operation, key, err)
		return nil, err
	}
	if key == (idempotency.Key{}) {
		k.metrics.count(operation, "no_key")
	} else {
		ctx = context.WithValue(ctx, keyInContext{}, key)
	}
	return handler(ctx, request)
}

// keyFromContext returns the key of a mutating call, the zero value if it has none.
func keyFromContext(ctx context.Context) idempotency.Key {
	key, _ := ctx.Value(keyInContext{}).(idempotency.Key)
	return key
}

// execute executes a mutation once.
func (k *keyedCalls) execute(ctx context.Context, key idempotency.Key, request proto.Message, resource string, run mutation) error {
	method, _ := grpc.Method(ctx)
	operation := path.Base(method)
	record, err := k.record(ctx, key, operation, resource, request)
	if err != nil {
		return err
	}
	begun := time.Now()
	done, waited, err := k.flights.Begin(ctx, &record)
	if waited {
		k.metrics.waited(operation, time.Since(begun))
	}
	if err != nil {
		k.refused(ctx, operation, key, err)
		return err
	}
	defer done()
	call := idempotency.NewCall(k.store, record)
	if err := run(ctx, call); err != nil {
		k.refused(ctx, operation, key, err)
		return err
	}
	headers := metadata.Pairs(keyLifetimeHeader, strconv.FormatInt(int64(k.window.Lifetime/time.Second), 10))
	outcome := "first"
	if call.Replayed() {
		outcome = "replayed"
		if waited {
			outcome = "waited_replayed"
		}
		state := "current"
		if call.ResourceGone() {
			state = "gone"
		}
		headers.Set(replayedHeader, "true")
		headers.Set(resourceStateHeader, state)
		k.metrics.replayed(operation, time.Since(key.Time()))
		k.logger.InfoContext(ctx, "a call with an idempotency key was answered again", "operation", operation, "resource", resource,
			"key", key.Abbreviated(), "key_age", time.Since(key.Time()), "waited", waited, "request_id", RequestID(ctx))
	}
	k.metrics.count(operation, outcome)
	_ = grpc.SetHeader(ctx, headers) // it fails if the client went away; the call is executed all the same
	return nil
}

// refused counts and logs what is about the key. Other failures are those of a call without one.
func (k *keyedCalls) refused(ctx context.Context, operation string, key idempotency.Key, err error) {
	var about *idempotency.Error
	if !errors.As(err, &about) {
		return
	}
	k.metrics.count(operation, outcomeOf(about.Reason))
	level := slog.LevelDebug
	switch about.Reason {
	case idempotency.KeyReused, idempotency.KeyExpired, idempotency.KeyFromFuture:
		level = slog.LevelWarn
	case idempotency.OutcomeUnknown:
		level = slog.LevelError
	}
	attributes := []any{"operation", operation, "reason", string(about.Reason), "request_id", RequestID(ctx)}
	if key != (idempotency.Key{}) {
		attributes = append(attributes, "key", key.Abbreviated(), "key_age", time.Since(key.Time()))
	}
	for name, value := range about.Metadata {
		attributes = append(attributes, name, value)
	}
	k.logger.Log(ctx, level, "a call with an idempotency key was refused", attributes...)
}

func outcomeOf(reason idempotency.Reason) string {
	switch reason {
	case idempotency.KeyInvalid, idempotency.KeyRequired:
		return "invalid"
	case idempotency.KeyFromFuture:
		return "future"
	case idempotency.KeyExpired:
		return "expired"
	case idempotency.KeyReused:
		return "reused"
	case idempotency.KeyInFlight:
		return "in_flight"
	case idempotency.KeyQuota:
		return "quota"
	case idempotency.ResultGone:
		return "result_gone"
	}
	return "unknown_outcome"
}

// newULIDs returns the source of ids that a call makes itself: with an idempotency key they follow from it.
func newULIDs(ctx context.Context) func() ulid.ULID {
	key := keyFromContext(ctx)
	if key == (idempotency.Key{}) {
		return ulid.Make
	}
	made := 0
	return func() ulid.ULID {
		made++
		// Of what document a doc mapping is part is in the fingerprint of the call.
		return key.ULID(idempotency.Principal{}, "doc mapping "+strconv.Itoa(made))
	}
}
