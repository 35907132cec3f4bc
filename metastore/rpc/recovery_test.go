package rpc_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/readonly"
	"holdfast/metastore/rpc"
	"holdfast/proto/extensionpb"
)

func recoverRequest(t *testing.T, incarnation ulid.ULID) metastore.CreateIndexRequest {
	return metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a"), Incarnation: metastore.Some(incarnation)}
}

// indexes returns the UIDs of all indexes of a store.
func indexes(t *testing.T, store metastore.Store) string {
	t.Helper()
	found, _, err := store.IndexesMetadata(t.Context(), []metastore.IndexLookup{{IndexID: metastore.Some("logs-a")}})
	if err != nil {
		t.Fatalf("get metadata: %v", err)
	}
	var uids []string
	for _, index := range found {
		uids = append(uids, index.IndexUID.String())
	}
	return strings.Join(uids, " ")
}

func TestAnIndexIsRecoveredWithAnIncarnationOnly(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	b := serve(t, store, rpc.ServerOptions{})
	recovery := extensionpb.NewRecoveryServiceClient(b.raw)
	request := func(incarnation []byte) *extensionpb.RecoverIndexRequest {
		return &extensionpb.RecoverIndexRequest{IndexConfigJson: string(indexConfig(t, "logs-a").AppendJSON(nil)), IncarnationId: incarnation}
	}
	for name, incarnation := range map[string][]byte{"absent": nil, "nil": make([]byte, 16), "3 bytes": {1, 2, 3}, "17 bytes": make([]byte, 17)} {
		failed := failing(b, recovery.RecoverIndex, request(incarnation))
		if failed.Code() != codes.InvalidArgument || !strings.Contains(failed.detail(), "incarnation_id") {
			t.Errorf("%s: %s with %s, want InvalidArgument that names the field", name, failed.Code(), failed.detail())
		}
	}
	if found := indexes(t, store); found != "" {
		t.Errorf("%s was created", found)
	}
	if failed := failing(b, recovery.RecoverIndex, &extensionpb.RecoverIndexRequest{IndexConfigJson: "{", IncarnationId: anyUID.Incarnation.Bytes()}); !strings.Contains(failed.detail(), "JsonDeserializeError") {
		t.Errorf("a config that is no JSON gives %s", failed.detail())
	}

	response, err := recovery.RecoverIndex(b.ctx, request(anyUID.Incarnation.Bytes()))
	if err != nil || !strings.Contains(response.GetIndexMetadataJson(), anyUID.String()) {
		t.Fatalf("recover: %v, %v", response, err)
	}
	failed := failing(b, recovery.RecoverIndex, request(anyUID.Incarnation.Bytes()))
	if failed.Code() != codes.AlreadyExists || !strings.Contains(failed.detail(), "AlreadyExists") {
		t.Errorf("the second time: %s with %s, want AlreadyExists", failed.Code(), failed.detail())
	}
}

func TestARecoveryNeedsAnIndexUIDAndAFloorThatLeavesOpstamps(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	recovery := extensionpb.NewRecoveryServiceClient(b.raw)
	if failed := failing(b, recovery.GetDeleteOpstampFloor, &extensionpb.GetDeleteOpstampFloorRequest{}); failed.Code() != codes.InvalidArgument || !strings.Contains(failed.detail(), "index_uid is missing") {
		t.Errorf("reading without a UID: %s with %s", failed.Code(), failed.detail())
	}
	if failed := failing(b, recovery.RaiseDeleteOpstampFloor, &extensionpb.RaiseDeleteOpstampFloorRequest{DeleteOpstampFloor: 3}); failed.Code() != codes.InvalidArgument || !strings.Contains(failed.detail(), "index_uid is missing") {
		t.Errorf("raising without a UID: %s with %s", failed.Code(), failed.detail())
	}
	if failed := failing(b, recovery.RaiseDeleteOpstampFloor, &extensionpb.RaiseDeleteOpstampFloorRequest{IndexUid: uidMessage(anyUID), DeleteOpstampFloor: 1 << 63}); failed.Code() != codes.InvalidArgument || !strings.Contains(failed.detail(), "delete_opstamp_floor") {
		t.Errorf("raising too far: %s with %s", failed.Code(), failed.detail())
	}
}

// recoveryCalls are the calls that a server may not know.
func recoveryCalls(t *testing.T, client *rpc.Client) map[string]func() error {
	return map[string]func() error{
		"create": func() error {
			_, err := client.CreateIndex(t.Context(), recoverRequest(t, anyUID.Incarnation))
			return err
		},
		"ask":   func() error { return client.RequireRecoverIndex(t.Context()) },
		"floor": func() error { _, err := client.DeleteOpstampFloor(t.Context(), anyUID); return err },
		"raise": func() error { return client.RaiseDeleteOpstampFloor(t.Context(), anyUID, 5) },
	}
}

func TestNothingIsSentToAServerThatDoesNotOfferARecovery(t *testing.T) {
	t.Parallel()
	old := startOldServer(t)
	var sent atomic.Int32
	client := old.intercepted(func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if !strings.HasSuffix(method, "/GetCapabilities") {
			sent.Add(1)
		}
		return invoke(ctx, method, request, reply, connection, options...)
	})
	for name, call := range recoveryCalls(t, client) {
		err := call()
		if !errors.Is(err, metastore.ErrRecoveryUnsupported) || !metastore.AsError(err).Kind.CertainlyAborted() {
			t.Errorf("%s: error %v, want a certain ErrRecoveryUnsupported", name, err)
		}
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
}

func TestAServerThatTookThePlaceOfOneWithRecoveryIsToldApart(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	b := serve(t, store, rpc.ServerOptions{})
	client := b.intercepted(func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if strings.HasPrefix(method, "/holdfast.v1.RecoveryService/") {
			return status.Error(codes.Unimplemented, "unknown service holdfast.v1.RecoveryService")
		}
		return invoke(ctx, method, request, reply, connection, options...)
	})
	for name, call := range recoveryCalls(t, client) {
		if err := call(); name != "ask" && !errors.Is(err, metastore.ErrRecoveryUnsupported) {
			t.Errorf("%s: error %v, want ErrRecoveryUnsupported", name, err)
		}
	}
	if found := indexes(t, store); found != "" {
		t.Errorf("%s was created", found)
	}
}

func TestARecoveryWhoseAnswerWasLostIsExecutedOnce(t *testing.T) {
	t.Parallel()
	lost := func(attempt int) error {
		if attempt == 1 {
			return status.Error(codes.Unavailable, "lost")
		}
		return nil
	}
	b := serve(t, memStore(t), rpc.ServerOptions{})
	client, keys := b.keysOf("RecoverIndex", lost)
	index, err := client.CreateIndex(b.ctx, recoverRequest(t, anyUID.Incarnation))
	if err != nil || index.IndexUID != anyUID {
		t.Fatalf("recover: %v", err)
	}
	if len(*keys) != 2 || (*keys)[0] == "none" || (*keys)[0] != (*keys)[1] {
		t.Errorf("sent the keys %q, want one key twice", *keys)
	}

	client, keys = b.keysOf("RaiseDeleteOpstampFloor", lost)
	if err := client.RaiseDeleteOpstampFloor(b.ctx, anyUID, 7); err != nil {
		t.Fatalf("raise: %v", err)
	}
	if len(*keys) != 2 || (*keys)[0] == "none" || (*keys)[0] != (*keys)[1] {
		t.Errorf("sent the keys %q, want one key twice", *keys)
	}
	if floor, err := client.DeleteOpstampFloor(b.ctx, anyUID); err != nil || floor != 7 {
		t.Errorf("the floor is %d, %v", floor, err)
	}
}

func TestTheKeyOfARecoveryBindsTheIncarnation(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	client := serve(t, store, rpc.ServerOptions{}).client(rpc.ClientOptions{})
	key := newKey(t)
	request := recoverRequest(t, anyUID.Incarnation)
	other, none := request, request
	other.Incarnation, none.Incarnation = metastore.Some(ulid.Make()), metastore.Optional[ulid.ULID]{}
	var told rpc.Repetition
	ctx := rpc.WithRepetition(rpc.WithIdempotencyKey(t.Context(), key), &told)
	if _, err := client.CreateIndex(ctx, request); err != nil || told.Replayed {
		t.Fatalf("recover: %v, %+v", err, told)
	}

	for name, reused := range map[string]metastore.CreateIndexRequest{"another incarnation": other, "none": none} {
		if _, err := client.CreateIndex(ctx, reused); !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyReused}) {
			t.Errorf("%s with the same key: %v, want a refusal", name, err)
		}
	}
	if index, err := client.CreateIndex(ctx, request); err != nil || !told.Replayed || told.ResourceGone || index.IndexUID != anyUID {
		t.Errorf("the repetition: %v, %+v", err, told)
	}
	if err := client.DeleteIndex(t.Context(), anyUID); err != nil {
		t.Fatalf("delete: %v", err)
	}
	if _, err := client.CreateIndex(ctx, request); err != nil || !told.Replayed || !told.ResourceGone {
		t.Errorf("the repetition after the deletion: %v, %+v", err, told)
	}
	if found := indexes(t, store); found != "" {
		t.Errorf("the repetition created %s", found)
	}
}

func TestAReadOnlyServerForbidsARecovery(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	uid := createIndex(t, store, "logs-a")
	client := serve(t, readonly.New(store), rpc.ServerOptions{}).client(rpc.ClientOptions{})
	if _, err := client.CreateIndex(t.Context(), recoverRequest(t, anyUID.Incarnation)); !errors.Is(err, metastore.ErrForbidden) {
		t.Errorf("create: %v, want Forbidden", err)
	}
	if err := client.RaiseDeleteOpstampFloor(t.Context(), uid, 5); !errors.Is(err, metastore.ErrForbidden) {
		t.Errorf("raise: %v, want Forbidden", err)
	}
	if floor, err := client.DeleteOpstampFloor(t.Context(), uid); err != nil || floor != 0 {
		t.Errorf("the floor is %d, %v", floor, err)
	}
}
