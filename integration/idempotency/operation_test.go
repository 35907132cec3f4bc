package idempotency

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// mutatingRPCs returns the RPCs of the services that are not known only to read, sorted.
func mutatingRPCs() []string {
	reads := []string{
		"IndexMetadata", "IndexesMetadata", "ListIndexesMetadata", "ListIndexStats", "ListSplits", "ListMetricsSplits", "ListSketchSplits",
		"LastDeleteOpstamp", "ListDeleteTasks", "ListStaleSplits", "ListShards", "GetIndexTemplate", "FindIndexTemplateMatches",
		"ListIndexTemplates", "GetClusterIdentity", "GetDeleteOpstampFloor",
	}
	var names []string
	for _, service := range []protoreflect.ServiceDescriptor{
		metastorepb.File_proto_metastore_proto.Services().ByName("MetastoreService"),
		extensionpb.File_proto_extension_proto.Services().ByName("RecoveryService"),
	} {
		for i := range service.Methods().Len() {
			if name := string(service.Methods().Get(i).Name()); !slices.Contains(reads, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func operationCases() []kase {
	return []kase{
		{name: "K-79 the lifetime of keys is advertised", run: func(b *bundle) {
			capabilities := b.capabilities()
			if capabilities.IdempotencyKeyLifetime != 30*time.Minute || !capabilities.Has("idempotency", 1) {
				b.Fatalf("offered %+v", capabilities)
			}
			if got, want := slices.Sorted(slices.Values(capabilities.IdempotencyKeyRPCs)), mutatingRPCs(); !slices.Equal(got, want) {
				b.Errorf("keys are honoured by %q\nwant %q", got, want)
			}
			if want := b.backend.scope; capabilities.IdempotencyKeyScope != want {
				b.Errorf("reuse is detected within %q, want %q", capabilities.IdempotencyKeyScope, want)
			}
		}},
		{name: "K-80 a purge delay below twice the clock skew is refused", run: func(b *bundle) {
			window := idempotency.DefaultWindow()
			window.PurgeDelay = 2*window.ClockSkew - time.Second
			_, err := rpc.NewServer(b.store, rpc.ServerOptions{Idempotency: rpc.IdempotencyOptions{Window: window}})
			if err == nil || !strings.Contains(err.Error(), "purge delay") {
				b.Fatalf("started: %v", err)
			}
		}},
		{name: "K-81 repetitions, reuse and old keys are counted and logged, without keys and payloads", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.AddSource, addSource(uid, "secret-source"), key)
			replay(b, b.client.AddSource, addSource(uid, "secret-source"), "current", key)
			_, _, err := call(b, b.client.AddSource, addSource(uid, "other"), key)
			wantMismatch(b, err, "resource")
			_, _, err = call(b, b.client.AddSource, addSource(uid, "other"), keyAged(time.Hour))
			wantRefused(b, err, idempotency.KeyExpired, codes.FailedPrecondition)
			for _, outcome := range []string{"first", "replayed", "reused", "expired"} {
				if n := b.counted("AddSource", outcome); n != 1 {
					b.Errorf("%s was counted %v times, want once", outcome, n)
				}
			}
			log := b.log.String()
			for _, want := range []string{"IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_EXPIRED", "answered again", "mismatch=resource"} {
				if !strings.Contains(log, want) {
					b.Errorf("the log lacks %q:\n%s", want, log)
				}
			}
			for _, secret := range []string{key, `"source_type"`} {
				if strings.Contains(log, secret) {
					b.Errorf("the log holds %q:\n%s", secret, log)
				}
			}
			b.wantRecords(1)
			if b.records != nil {
				record := b.records(b.T)[0]
				for _, secret := range []string{"source_type", "anonymous"} {
					if strings.Contains(record, secret) {
						b.Errorf("the record holds %q: %s", secret, record)
					}
				}
			}
		}},
		{name: "K-82 the client keeps one key over its attempts", run: func(b *bundle) {
			uid := uidOf(b.index())
			var keys []string
			client := b.flaky(func(attempt int, key string) error {
				keys = append(keys, key)
				if attempt <= 2 {
					return status.Error(codes.Unavailable, "injected")
				}
				return nil
			})
			if _, err := client.CreateDeleteTask(b.Context(), metastore.DeleteQuery{IndexUID: uid, QueryAST: "q"}); err != nil {
				b.Fatal(err)
			}
			if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
				b.Fatalf("keys of the attempts: %q", keys)
			}
			if last, err := client.LastDeleteOpstamp(b.Context(), uid); err != nil || last == 0 {
				b.Fatalf("last opstamp %d, %v", last, err)
			}
		}},
		{name: "K-83 a client that gives up says that the outcome is unknown, and with which key to go on", run: func(b *bundle) {
			uid := uidOf(b.index())
			lost := true
			client := b.flaky(func(int, string) error {
				if lost {
					return status.Error(codes.Unavailable, "injected after the effect")
				}
				return nil
			})
			query := metastore.DeleteQuery{IndexUID: uid, QueryAST: "q"}
			_, err := client.CreateDeleteTask(b.Context(), query)
			var unknown *rpc.UnknownOutcomeError
			if !errors.As(err, &unknown) || unknown.Key == (idempotency.Key{}) {
				b.Fatalf("failed with %v", err)
			}
			lost = false
			var told rpc.Repetition
			if _, err := client.CreateDeleteTask(rpc.WithRepetition(rpc.WithIdempotencyKey(b.Context(), unknown.Key), &told), query); err != nil || !told.Replayed {
				b.Fatalf("repeated with its key: %v, %+v", err, told)
			}
			if tasks, err := client.ListDeleteTasks(b.Context(), uid, 0); err != nil || len(tasks) != 1 {
				b.Fatalf("%d tasks, %v; want one", len(tasks), err)
			}
		}},
	}
}

// flaky is a client whose mutating attempts reach the server and then fail with what lose returns.
func (b *bundle) flaky(lose func(attempt int, key string) error) *rpc.Client {
	b.Helper()
	attempt := 0
	intercept := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		err := invoke(ctx, method, request, reply, connection, options...)
		if !strings.HasSuffix(method, "/CreateDeleteTask") {
			return err
		}
		attempt++
		outgoing, _ := metadata.FromOutgoingContext(ctx)
		if lost := lose(attempt, strings.Join(outgoing.Get("idempotency-key"), ",")); lost != nil {
			return lost
		}
		return err
	}
	client, err := rpc.Dial(b.address, rpc.ClientOptions{RetryDelay: time.Millisecond, RetryAttempts: 3, DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(intercept)}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}

func TestAllMutationsTakeKeys(t *testing.T) {
	t.Parallel()
	b := newBundle(t, backends()[0], rpc.IdempotencyOptions{})
	reading := map[string]bool{
		"IndexMetadata": true, "IndexesMetadata": true, "ListIndexesMetadata": true, "ListIndexStats": true, "ListSplits": true, "ListStaleSplits": true,
		"ListShards": true, "LastDeleteOpstamp": true, "ListDeleteTasks": true, "GetIndexTemplate": true, "FindIndexTemplateMatches": true,
		"ListIndexTemplates": true, "ListMetricsSplits": true, "ListSketchSplits": true,
		// Its first call draws the identity, and all others answer it: it needs no key.
		"GetClusterIdentity": true,
	}
	for _, m := range metastorepb.MetastoreService_ServiceDesc.Methods {
		if reading[m.MethodName] {
			continue
		}
		_, _, err := call(b, b.invoke(m.MethodName), &metastorepb.EmptyResponse{}, "no key")
		wantRefused(b, err, idempotency.KeyInvalid, codes.InvalidArgument)
	}
}
