package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // peers may send gzip
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"holdfast/metastore"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// Server serves a store over gRPC: the peer's MetastoreService, ExtensionService, health and
// reflection. Make one with NewServer, run Serve, call MarkServing when the process is ready, and
// stop it with Drain. The server does not close the store.
type Server struct {
	store   metastore.Store
	options ServerOptions
	grpc    *grpc.Server
	health  *health.Server

	// lifetime ends when calls must not go on: when a drain ran out of time.
	lifetime context.Context
	abort    context.CancelFunc
	// draining ends when a drain begins; calls that only wait for news end with it.
	draining   context.Context
	startDrain context.CancelFunc

	markServing sync.Once
	background  sync.WaitGroup
}

// NewServer makes a server of the store. It fails if the options cannot work.
func NewServer(store metastore.Store, options ServerOptions) (*Server, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{store: store, options: options, health: health.NewServer()}
	s.lifetime, s.abort = context.WithCancel(context.Background())
	s.draining, s.startDrain = context.WithCancel(s.lifetime)
	s.health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)

	chain := newInterceptors(options.Logger, options.MaxConcurrentRequests, s.draining)
	keyed, err := newKeyedCalls(store, options)
	if err != nil {
		return nil, err
	}
	unary := []grpc.UnaryServerInterceptor{chain.unary, keyed.withKey}
	stream := []grpc.StreamServerInterceptor{chain.stream}
	var metrics *grpcprom.ServerMetrics
	if options.Registerer != nil {
		metrics = grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram())
		if err := options.Registerer.Register(metrics); err != nil {
			return nil, fmt.Errorf("register the gRPC metrics: %w", err)
		}
		unary = append([]grpc.UnaryServerInterceptor{metrics.UnaryServerInterceptor()}, unary...)
		stream = append([]grpc.StreamServerInterceptor{metrics.StreamServerInterceptor()}, stream...)
	}
	codec, err := newProtoCodec()
	if err != nil {
		return nil, err
	}
	grpcOptions := []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec),
		grpc.MaxRecvMsgSize(options.MaxMessageSize),
		grpc.MaxSendMsgSize(options.MaxMessageSize),
		// One connection can reach the limit on concurrent requests, so that overload is answered and
		// not queued in the client, but it cannot hold messages without bound.
		grpc.MaxConcurrentStreams(uint32(min(options.MaxConcurrentRequests, 1<<20) + 64)),
		// Peers ping every second when told to, also without a call. The minimum is lower because
		// pings arrive with jitter.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 500 * time.Millisecond, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(unary...),
		grpc.ChainStreamInterceptor(stream...),
	}
	if options.TLS != nil {
		grpcOptions = append(grpcOptions, grpc.Creds(credentials.NewTLS(options.TLS)))
	}
	s.grpc = grpc.NewServer(grpcOptions...)
	metastoreService, err := newService(s, keyed)
	if err != nil {
		return nil, err
	}
	metastorepb.RegisterMetastoreServiceServer(s.grpc, metastoreService)
	extensionpb.RegisterRecoveryServiceServer(s.grpc, &recoveryService{metastore: metastoreService})
	extensionpb.RegisterExtensionServiceServer(s.grpc, &extensionService{version: options.Version, keyLifetime: keyed.advertisedLifetime(), keyScope: keyed.scope()})
	healthpb.RegisterHealthServer(s.grpc, s.health)
	if options.Register != nil {
		options.Register(s.grpc)
	}
	reflection.RegisterV1(s.grpc)
	if metrics != nil {
		metrics.InitializeMetrics(s.grpc)
	}
	return s, nil
}

// Serve accepts connections until Drain is called, and returns nil then. It closes the listener.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.grpc.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC on %s: %w", listener.Addr(), err)
	}
	return nil
}

// MarkServing turns the health service on. From now on it follows the connectivity of the store: it
// answers SERVING after the first check that succeeds. Only the first call has an effect.
func (s *Server) MarkServing() {
	s.markServing.Do(func() { s.background.Go(s.watchConnectivity) })
}

// watchConnectivity keeps the health service in step with the store until a drain begins.
func (s *Server) watchConnectivity() {
	ticker := time.NewTicker(s.options.ConnectivityInterval)
	defer ticker.Stop()
	healthy := false
	for {
		err := s.checkConnectivity()
		if s.draining.Err() != nil {
			return
		}
		if (err == nil) != healthy {
			healthy = err == nil
			if healthy {
				s.options.Logger.Info("the store is reachable, health turns SERVING")
				s.health.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
			} else {
				s.options.Logger.Warn("the store cannot be reached, health turns NOT_SERVING", "error", err)
				s.health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
			}
		}
		select {
		case <-ticker.C:
		case <-s.draining.Done():
			return
		}
	}
}

func (s *Server) checkConnectivity() error {
	ctx, cancel := context.WithTimeout(s.draining, s.options.ConnectivityInterval)
	defer cancel()
	return s.store.CheckConnectivity(ctx)
}

// Drain stops the server: health turns NOT_SERVING, no call is accepted any more, and calls under
// way are finished. If ctx ends first, connections are closed, the calls that still run are
// cancelled, and the error of ctx is returned. Either way no call runs when Drain returns.
func (s *Server) Drain(ctx context.Context) error {
	s.health.Shutdown()
	s.startDrain()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		s.grpc.GracefulStop()
	}()
	var err error
	select {
	case <-drained:
	case <-ctx.Done():
		err = fmt.Errorf("drain the gRPC server: %w", context.Cause(ctx))
		s.abort()
		s.grpc.Stop()
		<-drained
	}
	s.abort()
	s.background.Wait()
	return err
}
