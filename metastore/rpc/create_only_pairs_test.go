package rpc_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func createOnly(uid metastore.IndexUID, splits ...metastore.SplitMetadata) metastore.StageSplitsRequest {
	return metastore.StageSplitsRequest{IndexUID: uid, Splits: splits, CreateOnly: true}
}

func TestNewClientNewServerStagesCreateOnly(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	uid := createIndex(t, store, "logs-a")
	stage(t, store, uid, byNode("indexer", "a"))
	client := serve(t, store, rpc.ServerOptions{}).client(rpc.ClientOptions{})

	for round, want := range []metastore.StageSplitsResult{
		{Mutation: metastore.MutationYes, Staged: []string{"b"}, Skipped: []metastore.SkippedSplit{{SplitID: "a", State: metastore.Staged}}},
		{Skipped: []metastore.SkippedSplit{{SplitID: "a", State: metastore.Staged}, {SplitID: "b", State: metastore.Staged}}},
	} {
		got, err := client.StageSplits(t.Context(), createOnly(uid, byNode("recovery", "b"), byNode("recovery", "a")))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if got.Mutation != want.Mutation || !slices.Equal(got.Staged, want.Staged) || !slices.Equal(got.Skipped, want.Skipped) {
			t.Errorf("round %d: %+v, want %+v", round, got, want)
		}
	}
	if rows, want := rowsOf(t, store, uid), []string{"a by indexer, Staged", "b by recovery, Staged"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}

func TestOldClientNewServerUpsertsAndReadsAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	uid := createIndex(t, store, "logs-a")
	stage(t, store, uid, byNode("indexer", "a"))
	b := serve(t, store, rpc.ServerOptions{})
	stageSplits := oldService(t).Methods().ByName("StageSplits")
	request, response := dynamicpb.NewMessage(stageSplits.Input()), dynamicpb.NewMessage(stageSplits.Output())
	uidField := stageSplits.Input().Fields().ByNumber(1)
	uidValue := request.Mutable(uidField).Message()
	uidValue.Set(uidField.Message().Fields().ByNumber(1), protoreflect.ValueOfString(uid.IndexID))
	uidValue.Set(uidField.Message().Fields().ByNumber(2), protoreflect.ValueOfBytes(uid.Incarnation.Bytes()))
	request.Set(stageSplits.Input().Fields().ByNumber(2), protoreflect.ValueOfString(listOf(byNode("old client", "a"), byNode("old client", "b"))))

	if err := b.raw.Invoke(b.ctx, method("StageSplits"), request, response); err != nil {
		t.Fatalf("stage: %v", err)
	}

	if unknown := response.GetUnknown(); len(unknown) > 0 {
		t.Errorf("the answer has the bytes %x, want none", unknown)
	}
	if rows, want := rowsOf(t, store, uid), []string{"a by old client, Staged", "b by old client, Staged"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}

func TestNewClientOldServerRefusesCreateOnlyBeforeSendingARow(t *testing.T) {
	t.Parallel()
	old := startOldServer(t)

	_, err := old.client(rpc.ClientOptions{}).StageSplits(t.Context(), createOnly(anyUID, split("a")))

	if !errors.Is(err, rpc.ErrCreateOnlyUnsupported) {
		t.Errorf("error %v, want ErrCreateOnlyUnsupported", err)
	}
	wantKind(t, err, metastore.KindInvalidArgument)
	if calls, staged := old.seen(); calls != 0 || len(staged) != 0 {
		t.Errorf("the old server saw %d calls and wrote %q, want nothing", calls, staged)
	}
}

func TestNewClientOldServerUpserts(t *testing.T) {
	t.Parallel()
	old := startOldServer(t)

	result, err := old.client(rpc.ClientOptions{}).StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: anyUID, Splits: []metastore.SplitMetadata{split("a")}})

	if err != nil || result.Mutation != metastore.MutationYes {
		t.Errorf("stage: %+v, %v, want success", result, err)
	}
	if _, staged := old.seen(); !slices.Equal(staged, []string{"a"}) {
		t.Errorf("the old server wrote %q, want the split", staged)
	}
}

func TestTheCreateOnlyRequestItselfWritesNothingOnAnOldServer(t *testing.T) {
	t.Parallel()
	old := startOldServer(t)

	got := failing(old.bundle, old.metastore.StageSplits, &metastorepb.StageSplitsRequest{
		IndexUid: uidMessage(anyUID), CreateOnly: true, CreateOnlySplitMetadataListSerializedJson: listOf(split("a")),
	})

	if got.Code() != codes.Internal {
		t.Errorf("code %s, want Internal", got.Code())
	}
	if calls, staged := old.seen(); calls != 1 || len(staged) != 0 {
		t.Errorf("the old server saw %d calls and wrote %q, want one call that writes nothing", calls, staged)
	}
}

func TestNewClientOldProxyNeverOverwrites(t *testing.T) {
	t.Parallel()
	for name, handsOnOthers := range map[string]bool{
		"that knows the metastore service only":      false,
		"that hands on services that it cannot read": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memStore(t)
			uid := createIndex(t, store, "logs-a")
			stage(t, store, uid, byNode("indexer", "a"))
			client := startOldProxy(t, serve(t, store, rpc.ServerOptions{}), handsOnOthers).client(rpc.ClientOptions{})

			_, err := client.StageSplits(t.Context(), createOnly(uid, byNode("recovery", "a"), byNode("recovery", "b")))
			if !errors.Is(err, rpc.ErrCreateOnlyUnsupported) {
				t.Errorf("error %v, want ErrCreateOnlyUnsupported", err)
			}
			wantKind(t, err, metastore.KindInvalidArgument)
			if rows, want := rowsOf(t, store, uid), []string{"a by indexer, Staged"}; !slices.Equal(rows, want) {
				t.Errorf("rows %q, want %q", rows, want)
			}

			stage(t, client, uid, byNode("upsert", "a")) // ordinary staging goes through
			if rows, want := rowsOf(t, store, uid), []string{"a by upsert, Staged"}; !slices.Equal(rows, want) {
				t.Errorf("rows %q, want %q", rows, want)
			}
		})
	}
}

func TestAnAnswerThatDoesNotConfirmCreateOnlyIsAnError(t *testing.T) {
	t.Parallel()
	client := serve(t, &scripted{}, rpc.ServerOptions{}).intercepted(func(ctx context.Context, fullMethod string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if fullMethod != method("StageSplits") {
			return invoke(ctx, fullMethod, request, reply, connection, options...)
		}
		return nil // an empty answer
	})

	_, err := client.StageSplits(t.Context(), createOnly(anyUID, split("a")))

	if !errors.Is(err, rpc.ErrCreateOnlyUnsupported) {
		t.Errorf("error %v, want ErrCreateOnlyUnsupported", err)
	}
	wantKind(t, err, metastore.KindInternal)
}

// wantKind checks the kind of an error, which says whether the call may have had an effect.
func wantKind(t *testing.T, err error, kind metastore.ErrorKind) {
	t.Helper()
	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != kind {
		t.Errorf("error %v (%T), want kind %s", err, err, kind)
	}
}

func TestTheCapabilityIsAskedForOncePerConnection(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	uid := createIndex(t, store, "logs-a")
	var asked atomic.Int32
	b := serve(t, store, rpc.ServerOptions{})
	client := b.intercepted(func(ctx context.Context, fullMethod string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if fullMethod == "/holdfast.v1.ExtensionService/GetCapabilities" {
			asked.Add(1)
		}
		return invoke(ctx, fullMethod, request, reply, connection, options...)
	})
	if err := client.CheckConnectivity(t.Context()); err != nil { // connects
		t.Fatalf("connect: %v", err)
	}

	for range 3 {
		if _, err := client.StageSplits(t.Context(), createOnly(uid, split("a"))); err != nil {
			t.Fatalf("stage: %v", err)
		}
	}

	if asked.Load() != 1 {
		t.Errorf("the client asked %d times, want once", asked.Load())
	}
}

func TestAConnectionToAnotherServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	uid := createIndex(t, store, "logs-a")
	current, old := serve(t, store, rpc.ServerOptions{}), startOldServer(t)
	var target atomic.Pointer[bundle]
	target.Store(current)
	client, err := rpc.Dial("passthrough:///bufconn", rpc.ClientOptions{DialOptions: []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return target.Load().listener.DialContext(ctx) }),
	}})
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for range 2 { // the second time the answer is remembered
		if _, err := client.StageSplits(t.Context(), createOnly(uid, split("a"))); err != nil {
			t.Fatalf("stage on the new server: %v", err)
		}
	}

	target.Store(old.bundle)
	if err := current.server.Drain(current.ctx); err != nil {
		t.Fatalf("drain: %v", err)
	}
	_, err = client.StageSplits(t.Context(), createOnly(uid, split("b")))

	if !errors.Is(err, rpc.ErrCreateOnlyUnsupported) {
		t.Errorf("error %v, want ErrCreateOnlyUnsupported", err)
	}
	if calls, staged := old.seen(); calls > 1 || len(staged) != 0 {
		t.Errorf("the old server saw %d calls and wrote %q, want nothing written", calls, staged)
	}
}
