package rpc

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"holdfast/metastore"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// Client is a metastore.Store on the other end of a gRPC connection: of a Holdfast server, or, but
// for create-only staging, indexes of a given incarnation and the delete opstamp floor, of a peer. It is safe for
// concurrent use.
//
// Calls that fail with a kind whose outcome is unknown are repeated if that has no second effect: reads,
// create-only staging, and all other writes if the server honours idempotency keys, of which each write
// gets one. A write whose outcome stays unknown fails with *UnknownOutcomeError. Without keys it is not
// repeated: after a lost answer it would fail or overwrite.
type Client struct {
	options    ClientOptions
	connection *grpc.ClientConn
	metastore  metastorepb.MetastoreServiceClient
	extension  extensionpb.ExtensionServiceClient
	recovery   extensionpb.RecoveryServiceClient

	// connections counts the connections that were opened or lost.
	connections connectionCounter
	// known is nil before a server was asked.
	known atomic.Pointer[knownCapabilities]
}

var _ metastore.Store = (*Client)(nil)

// Dial makes a client of the server at target, a gRPC target such as "127.0.0.1:7281" or
// "dns:///metastore:7281". It connects at the first call; it fails only if target or options cannot
// work.
func Dial(target string, options ClientOptions) (*Client, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{options: options}
	codec, err := newProtoCodec()
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if options.TLS != nil {
		transport = credentials.NewTLS(options.TLS)
	}
	dialOptions := append([]grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(codec),
			grpc.MaxCallRecvMsgSize(options.MaxMessageSize),
			grpc.MaxCallSendMsgSize(options.MaxMessageSize),
		),
		grpc.WithStatsHandler(&c.connections),
		grpc.WithChainUnaryInterceptor(c.sendableUnary, c.keyUnary, retryUnary(options), decodeUnary),
		grpc.WithChainStreamInterceptor(retryStream(options), decodeStream),
		// Retries of gRPC itself know the status code only, and it says too little.
		grpc.WithDisableRetry(),
	}, options.DialOptions...)
	if c.connection, err = grpc.NewClient(target, dialOptions...); err != nil {
		return nil, fmt.Errorf("dial metastore %q: %w", target, err)
	}
	c.metastore = metastorepb.NewMetastoreServiceClient(c.connection)
	c.extension = extensionpb.NewExtensionServiceClient(c.connection)
	c.recovery = extensionpb.NewRecoveryServiceClient(c.connection)
	return c, nil
}

// ClusterIdentity implements metastore.Store.
func (c *Client) ClusterIdentity(ctx context.Context) (string, error) {
	response, err := c.metastore.GetClusterIdentity(ctx, &metastorepb.GetClusterIdentityRequest{}, repeatable)
	if err != nil {
		return "", callError(ctx, "get cluster identity", err)
	}
	return response.GetUuid(), nil
}

// CheckConnectivity implements metastore.Store: it fails if no server answers, or if the server
// cannot reach its storage.
func (c *Client) CheckConnectivity(ctx context.Context) error {
	// Every server of the service answers this one, the peer's too, and it reads the storage.
	_, err := c.ClusterIdentity(ctx)
	return err
}

// Close implements metastore.Store. Calls under way fail.
func (c *Client) Close() error { return c.connection.Close() }
