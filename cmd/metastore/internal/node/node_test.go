package node_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"holdfast/cmd/metastore/internal/node"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/rpc"
)

const patience = 2 * time.Minute

// slowStore holds calls of ClusterIdentity until they are released.
type slowStore struct {
	metastore.Store
	entered, release, closed chan struct{}
	unreachable              error
}

func newSlowStore(t *testing.T) *slowStore {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: "mem://"})
	require.NoError(t, err)
	return &slowStore{Store: store, entered: make(chan struct{}, 1), release: make(chan struct{}), closed: make(chan struct{})}
}

func (s *slowStore) ClusterIdentity(ctx context.Context) (string, error) {
	s.entered <- struct{}{}
	select {
	case <-s.release:
		return s.Store.ClusterIdentity(ctx)
	case <-ctx.Done():
		return "", metastore.Timeout(ctx.Err(), "waiting")
	}
}

func (s *slowStore) CheckConnectivity(context.Context) error { return s.unreachable }

func (s *slowStore) Close() error {
	close(s.closed)
	return s.Store.Close()
}

// running is a node that runs.
type running struct {
	grpc, http string
	signals    chan os.Signal
	done       chan error
	logs       *logs
}

type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func start(t *testing.T, store metastore.Store, drainTimeout time.Duration) *running {
	t.Helper()
	r := &running{signals: make(chan os.Signal, 2), done: make(chan error, 1), logs: &logs{}}
	serving := make(chan struct{})
	options := node.Options{
		Open:         func(context.Context) (metastore.Store, error) { return store, nil },
		StoreName:    "test",
		Listen:       "127.0.0.1:0",
		HTTP:         "127.0.0.1:0",
		DrainTimeout: drainTimeout,
		Logger:       slog.New(slog.NewTextHandler(r.logs, nil)),
		Signals:      r.signals,
		Serving: func(grpc, http net.Addr) {
			r.grpc, r.http = grpc.String(), http.String()
			close(serving)
		},
	}
	go func() { r.done <- node.Run(context.Background(), options) }()
	select {
	case <-serving:
	case err := <-r.done:
		t.Fatalf("the node ended: %v", err)
	case <-time.After(patience):
		t.Fatal("the node does not serve")
	}
	return r
}

func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		t.Fatal("the node does not stop")
		return nil
	}
}

func (r *running) ready(t *testing.T) (status int, reason string) {
	t.Helper()
	response, err := http.Get("http://" + r.http + "/readyz")
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(body))
}

// call asks for the cluster identity and returns where its failure will be.
func (r *running) call(t *testing.T) <-chan error {
	t.Helper()
	client, err := rpc.Dial(r.grpc, rpc.ClientOptions{RetryAttempts: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	done := make(chan error, 1)
	go func() {
		_, err := client.ClusterIdentity(context.Background())
		done <- err
	}()
	return done
}

func TestAGracefulStopTurnsNotReadyFirstAndFinishesCalls(t *testing.T) {
	t.Parallel()
	store := newSlowStore(t)
	r := start(t, store, patience)
	status, _ := r.ready(t)
	require.Equal(t, http.StatusOK, status)
	health := watchHealth(t, r.grpc)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, waitForHealth(t, health, healthpb.HealthCheckResponse_SERVING))

	called := r.call(t)
	<-store.entered
	r.signals <- syscall.SIGTERM
	waitForHealth(t, health, healthpb.HealthCheckResponse_NOT_SERVING)
	status, reason := r.ready(t)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "stopping: finishing the calls under way", reason)
	select {
	case <-store.closed:
		t.Fatal("the store was closed while a call was under way")
	case err := <-called:
		t.Fatalf("the call ended before its work was done: %v", err)
	default:
	}

	close(store.release)
	require.NoError(t, <-called)
	require.NoError(t, r.wait(t))
	<-store.closed
}

// watchHealth streams the health of a server.
func watchHealth(t *testing.T, address string) grpc.ServerStreamingClient[healthpb.HealthCheckResponse] {
	t.Helper()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, connection.Close())
	})
	stream, err := healthpb.NewHealthClient(connection).Watch(ctx, &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	return stream
}

// waitForHealth reads the stream until it says what is wanted. A stream that the stopping server
// ends says that it does not serve, too.
func waitForHealth(t *testing.T, stream grpc.ServerStreamingClient[healthpb.HealthCheckResponse], want healthpb.HealthCheckResponse_ServingStatus) healthpb.HealthCheckResponse_ServingStatus {
	t.Helper()
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		if answer.GetStatus() == want {
			return want
		}
	}
}

func TestASecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	store := newSlowStore(t)
	r := start(t, store, patience)
	called := r.call(t)
	<-store.entered
	r.signals <- syscall.SIGTERM
	r.signals <- syscall.SIGINT
	require.ErrorIs(t, r.wait(t), node.ErrStoppedAtOnce)
	select {
	case <-store.closed:
		t.Fatal("the store was closed")
	default:
	}
	close(store.release) // the process would be gone by now
	<-called
}

func TestCallsThatOutlastTheDrainTimeoutAreCancelled(t *testing.T) {
	t.Parallel()
	store := newSlowStore(t)
	r := start(t, store, time.Millisecond)
	called := r.call(t)
	<-store.entered
	r.signals <- syscall.SIGTERM
	require.NoError(t, r.wait(t))
	require.Error(t, <-called)
	<-store.closed
	require.Contains(t, r.logs.String(), "they were cancelled")
}

func TestANodeWhoseStoreCannotBeReachedIsNotReady(t *testing.T) {
	t.Parallel()
	store := newSlowStore(t)
	store.unreachable = errors.New("dial tcp: password hunter22 refused")
	r := start(t, store, patience)
	status, reason := r.ready(t)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "the store cannot be reached", reason, "probers learn no details")
	r.signals <- syscall.SIGTERM
	require.NoError(t, r.wait(t))
}

func TestANodeThatIsToldToStopWhileTheStoreIsOpenedStops(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 2)
	options := node.Options{
		Open: func(ctx context.Context) (metastore.Store, error) {
			signals <- syscall.SIGTERM
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), Signals: signals,
	}
	require.NoError(t, node.Run(t.Context(), options))
}

func TestAStoreThatCannotBeOpenedEndsTheNode(t *testing.T) {
	t.Parallel()
	options := node.Options{
		Open:      func(context.Context) (metastore.Store, error) { return nil, errors.New("no such bucket") },
		StoreName: "s3://bucket", Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
	}
	require.EqualError(t, node.Run(t.Context(), options), "open store s3://bucket: no such bucket")
}
