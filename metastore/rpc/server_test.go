package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// gate is a store whose deleteIndex waits until the test lets it go.
type gate struct {
	scripted
	entered chan struct{}
	release chan struct{}
	left    chan error
}

func newGate() *gate {
	g := &gate{entered: make(chan struct{}, 10), release: make(chan struct{}), left: make(chan error, 10)}
	g.deleteIndex = func(ctx context.Context, _ metastore.IndexUID) error {
		g.entered <- struct{}{}
		select {
		case <-g.release:
		case <-ctx.Done():
		}
		g.left <- ctx.Err()
		return ctx.Err()
	}
	return g
}

func deleteIndex(ctx context.Context, b *bundle) error {
	_, err := b.metastore.DeleteIndex(ctx, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})
	return err
}

// await receives a value or ends the test.
func await[T any](b *bundle, from <-chan T, what string) T {
	b.Helper()
	select {
	case value := <-from:
		return value
	case <-b.ctx.Done():
		b.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

func TestOverloadIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := serve(t, g, rpc.ServerOptions{MaxConcurrentRequests: 2})
	results := make(chan error, 2)
	for range 2 {
		go func() { results <- deleteIndex(b.ctx, b) }()
		await(b, g.entered, "a call to reach the store")
	}

	got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})
	if got.Code() != codes.ResourceExhausted || got.detail() != `"TooManyRequests"` {
		t.Errorf("code %s, detail %s, want ResourceExhausted with \"TooManyRequests\"", got.Code(), got.detail())
	}
	if _, err := healthpb.NewHealthClient(b.raw).Check(b.ctx, &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("health must answer under load: %v", err)
	}

	close(g.release)
	for range 2 {
		if err := await(b, results, "an admitted call"); err != nil {
			t.Errorf("an admitted call failed: %v", err)
		}
	}
	if err := deleteIndex(b.ctx, b); err != nil {
		t.Errorf("a call after the load failed: %v", err)
	}
}

func TestAPanicBecomesInternalAndIsLoggedWithItsStack(t *testing.T) {
	t.Parallel()
	log := newRecordedLog()
	b := serve(t, &scripted{
		deleteIndex: func(context.Context, metastore.IndexUID) error { panic("secret of the handler") },
		listSplits: func(context.Context, *metastore.ListSplitsQuery, func(*metastore.SplitRow) error) error {
			panic("secret of the handler")
		},
	}, rpc.ServerOptions{Logger: slog.New(log)})

	got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})
	if got.Code() != codes.Internal || !strings.HasPrefix(got.detail(), `{"Internal":`) || strings.Contains(got.detail(), "secret") {
		t.Errorf("code %s, detail %s, want Internal without the text of the panic", got.Code(), got.detail())
	}
	line := log.next(b, "a handler panicked")
	if line["panic"].String() != "secret of the handler" || !strings.Contains(line["stack"].String(), "TestAPanicBecomesInternal") {
		t.Errorf("log %v, want the panic and its stack", line)
	}

	if _, err := b.messages(); status.Code(err) != codes.Internal {
		t.Errorf("a panic in a stream gave %v, want Internal", err)
	}
}

func TestAWriteIsFinishedAlthoughTheClientWentAway(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := serve(t, g, rpc.ServerOptions{})
	ctx, cancel := context.WithCancel(b.ctx)
	result := make(chan error, 1)
	go func() { result <- deleteIndex(ctx, b) }()
	await(b, g.entered, "the write to begin")

	cancel()
	if err := await(b, result, "the call to end"); status.Code(err) != codes.Canceled {
		t.Errorf("the client saw %v, want Canceled", err)
	}
	close(g.release)

	if err := await(b, g.left, "the write to end"); err != nil {
		t.Errorf("the write saw %v, its context must not end with the client", err)
	}
}

func TestAWriteThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := serve(t, g, rpc.ServerOptions{RequestTimeout: time.Millisecond})

	got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})

	if got.Code() != codes.DeadlineExceeded || !strings.HasPrefix(got.detail(), `{"Timeout":`) {
		t.Errorf("code %s, detail %s, want Timeout", got.Code(), got.detail())
	}
}

func TestAReadEndsWithItsClient(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan error, 1)
	b := serve(t, &scripted{indexMetadata: func(ctx context.Context, _ metastore.IndexLookup) (*metastore.IndexMetadata, error) {
		close(entered)
		<-ctx.Done()
		left <- ctx.Err()
		return nil, ctx.Err()
	}}, rpc.ServerOptions{})
	ctx, cancel := context.WithCancel(b.ctx)
	go func() { <-entered; cancel() }()

	_, err := b.client(rpc.ClientOptions{}).IndexMetadata(ctx, metastore.IndexLookup{})

	if !errors.Is(err, context.Canceled) {
		t.Errorf("the client saw %v, want an error that is context.Canceled", err)
	}
	if err := await(b, left, "the read to end"); !errors.Is(err, context.Canceled) {
		t.Errorf("the read saw %v, want its context cancelled", err)
	}
}

func TestADrainFinishesCallsUnderWayAndTakesNoOthers(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := serve(t, g, rpc.ServerOptions{})
	result := make(chan error, 1)
	go func() { result <- deleteIndex(b.ctx, b) }()
	await(b, g.entered, "the call to begin")
	watch, err := healthpb.NewHealthClient(b.raw).Watch(b.ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatalf("watch: %v", err)
	}

	drained := make(chan error, 1)
	go func() { drained <- b.server.Drain(b.ctx) }()
	for err = nil; err == nil; { // a watch must not keep the server from stopping
		_, err = watch.Recv()
	}
	if err := deleteIndex(b.ctx, b); status.Code(err) != codes.Unavailable {
		t.Errorf("a call during the drain gave %v, want Unavailable", err)
	}
	close(g.release)

	if err := await(b, result, "the call under way"); err != nil {
		t.Errorf("the call under way failed: %v", err)
	}
	if err := await(b, drained, "the drain"); err != nil {
		t.Errorf("drain: %v", err)
	}
}

func TestADrainThatRunsOutOfTimeCancelsWhatStillRuns(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := serve(t, g, rpc.ServerOptions{})
	go func() { _ = deleteIndex(b.ctx, b) }()
	await(b, g.entered, "the call to begin")
	ctx, cancel := context.WithTimeout(b.ctx, time.Millisecond)
	defer cancel()

	err := b.server.Drain(ctx)

	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("drain returned %v, want that its context ended", err)
	}
	select {
	case err := <-g.left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the call saw %v, want its context cancelled", err)
		}
	default:
		t.Error("drain returned while the call still ran")
	}
}

func TestHealthFollowsTheStoreFromMarkServingOn(t *testing.T) {
	t.Parallel()
	checks := make(chan error)
	b := serve(t, &scripted{connectivity: func(ctx context.Context) error {
		select {
		case err := <-checks:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, rpc.ServerOptions{ConnectivityInterval: 10 * time.Millisecond})
	client := healthpb.NewHealthClient(b.raw)
	until := func(want healthpb.HealthCheckResponse_ServingStatus, feed error) {
		t.Helper()
		for {
			response, err := client.Check(b.ctx, &healthpb.HealthCheckRequest{})
			if err != nil {
				t.Fatalf("check: %v", err)
			}
			if response.GetStatus() == want {
				return
			}
			select {
			case checks <- feed:
			case <-b.ctx.Done():
				t.Fatalf("health stays %s, want %s", response.GetStatus(), want)
			}
		}
	}

	if response, err := client.Check(b.ctx, &healthpb.HealthCheckRequest{}); err != nil || response.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("before MarkServing: %v, %v, want NOT_SERVING", response, err)
	}
	b.server.MarkServing()
	until(healthpb.HealthCheckResponse_SERVING, nil)
	until(healthpb.HealthCheckResponse_NOT_SERVING, errors.New("gone"))
	until(healthpb.HealthCheckResponse_SERVING, nil)

	_, err := client.Check(b.ctx, &healthpb.HealthCheckRequest{Service: "quickwit.metastore.MetastoreService"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("health of the service by name gave %v, want NotFound", err)
	}
}

func TestReflectionIsOfferedInVersionOneOnly(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{})
	stream, err := reflectionpb.NewServerReflectionClient(b.raw).ServerReflectionInfo(b.ctx)
	if err != nil {
		t.Fatalf("open stream: %v", err)
	}
	err = stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	response, err := stream.Recv()
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	var names []string
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	want := "grpc.health.v1.Health grpc.reflection.v1.ServerReflection holdfast.v1.ExtensionService holdfast.v1.RecoveryService quickwit.metastore.MetastoreService"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("services %s, want %s", got, want)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func capabilityNames(response *extensionpb.GetCapabilitiesResponse) (names []string) {
	for _, capability := range response.GetCapabilities() {
		names = append(names, fmt.Sprintf("%s/%d", capability.GetName(), capability.GetVersion()))
	}
	return names
}

func TestCapabilitiesNameWhatAServerOffers(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{Version: "v1.2.3"})

	response, err := extensionpb.NewExtensionServiceClient(b.raw).GetCapabilities(b.ctx, &extensionpb.GetCapabilitiesRequest{})
	if err != nil {
		t.Fatalf("get capabilities: %v", err)
	}
	if response.GetServerVersion() != "v1.2.3" || response.GetIdempotencyKeyLifetimeSeconds() != 0 ||
		fmt.Sprint(capabilityNames(response)) != "[create_only/1 recover_index/1 delete_opstamp_floor/1]" {
		t.Errorf("capabilities %v, want v1.2.3 with create_only/1, recover_index/1, delete_opstamp_floor/1 and no idempotency", response)
	}
}

func TestEveryCallIsLoggedWithItsRequestID(t *testing.T) {
	t.Parallel()
	log := newRecordedLog()
	b := serve(t, &scripted{deleteIndex: func(ctx context.Context, uid metastore.IndexUID) error {
		if rpc.RequestID(ctx) != "from-the-client" {
			return errors.New("the handler does not see the request id")
		}
		return metastore.NotFound(metastore.IndexEntity(uid.IndexID))
	}}, rpc.ServerOptions{Logger: slog.New(log)})
	ctx := metadata.AppendToOutgoingContext(b.ctx, "x-request-id", "from-the-client")

	err := deleteIndex(ctx, b)

	line := log.next(b, "call")
	for key, want := range map[string]string{
		"method": "/quickwit.metastore.MetastoreService/DeleteIndex", "code": "NotFound", "kind": "NotFound",
		"request_id": "from-the-client", "peer": "bufconn", "error": `index "logs-a" not found`, "level": "INFO",
	} {
		if line[key].String() != want {
			t.Errorf("%s is %q, want %q (the call: %v)", key, line[key], want, err)
		}
	}
	if line["duration"].Kind() != slog.KindDuration {
		t.Errorf("duration is a %s, want a duration", line["duration"].Kind())
	}
}

func TestARequestIDThatWouldGarbleTheLogIsReplaced(t *testing.T) {
	t.Parallel()
	log := newRecordedLog()
	b := serve(t, &scripted{deleteIndex: func(context.Context, metastore.IndexUID) error { return nil }}, rpc.ServerOptions{Logger: slog.New(log)})
	for _, id := range []string{"", "a b", strings.Repeat("x", 129)} {
		if err := deleteIndex(metadata.AppendToOutgoingContext(b.ctx, "x-request-id", id), b); err != nil {
			t.Fatalf("delete index: %v", err)
		}
		if got := log.next(b, "call")["request_id"].String(); len(got) != 36 {
			t.Errorf("request id %q became %q, want a fresh one", id, got)
		}
	}
}

func TestCallsAreCountedInMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := serve(t, &scripted{deleteIndex: func(context.Context, metastore.IndexUID) error { return nil }}, rpc.ServerOptions{Registerer: registry})
	if err := deleteIndex(b.ctx, b); err != nil {
		t.Fatalf("delete index: %v", err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatalf("gather: %v", err)
	}
	handled := 0.0
	for _, family := range families {
		if family.GetName() != "grpc_server_handled_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["grpc_method"] == "DeleteIndex" && labels["grpc_code"] == "OK" {
				handled = metric.GetCounter().GetValue()
			}
		}
	}
	if handled != 1 {
		t.Errorf("grpc_server_handled_total of DeleteIndex is %v, want 1", handled)
	}
}

func TestCompressedMessagesAreAcceptedAndAnsweredAlike(t *testing.T) {
	t.Parallel()
	received := make(chan int, 2)
	b := serve(t, &scripted{publishSplits: func(_ context.Context, request metastore.PublishSplitsRequest) error {
		received <- len(request.StagedSplitIDs)
		return nil
	}}, rpc.ServerOptions{})
	request := &metastorepb.PublishSplitsRequest{IndexUid: uidMessage(anyUID), StagedSplitIds: strings.Split(strings.Repeat("split ", 10_000), " ")}
	for _, encoding := range []string{gzip.Name, "zstd"} {
		for range 3 { // coders are used again
			if _, err := b.metastore.PublishSplits(b.ctx, request, grpc.UseCompressor(encoding)); err != nil {
				t.Fatalf("publish with %s: %v", encoding, err)
			}
			if got := await(b, received, "the request"); got != len(request.StagedSplitIds) {
				t.Errorf("%s: %d ids arrived, want %d", encoding, got, len(request.StagedSplitIds))
			}
		}
	}
}

func TestAMessageThatUnpacksBeyondTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize})
	request := &metastorepb.PublishSplitsRequest{IndexUid: uidMessage(anyUID), StagedSplitIds: []string{strings.Repeat("x", 5<<20)}}
	for _, encoding := range []string{gzip.Name, "zstd"} {
		_, err := b.metastore.PublishSplits(b.ctx, request, grpc.UseCompressor(encoding))
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%s: %v, want ResourceExhausted", encoding, err)
		}
	}
}

func TestMessagesOfTwentyMiBAreAccepted(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{publishSplits: func(context.Context, metastore.PublishSplitsRequest) error { return nil }}, rpc.ServerOptions{})
	request := &metastorepb.PublishSplitsRequest{IndexUid: uidMessage(anyUID), StagedSplitIds: []string{strings.Repeat("x", 20<<20-64)}}
	if _, err := b.metastore.PublishSplits(b.ctx, request); err != nil {
		t.Errorf("publish: %v", err)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]rpc.ServerOptions{
		"MaxMessageSize":        {MaxMessageSize: rpc.MinMaxMessageSize - 1},
		"MaxConcurrentRequests": {MaxConcurrentRequests: -1},
		"RequestTimeout":        {RequestTimeout: -1},
		"StallTimeout":          {StallTimeout: -1},
		"ConnectivityInterval":  {ConnectivityInterval: -1},
	} {
		if _, err := rpc.NewServer(&scripted{}, options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("new server: %v, want an error about %s", err, want)
		}
	}
	for want, options := range map[string]rpc.ClientOptions{
		"MaxMessageSize": {MaxMessageSize: 1},
		"CallTimeout":    {CallTimeout: -1},
		"RetryAttempts":  {RetryAttempts: -1},
		"RetryDelay":     {RetryDelay: -1},
	} {
		if _, err := rpc.Dial("localhost:1", options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("dial: %v, want an error about %s", err, want)
		}
	}
}
