package rpc

import (
	"context"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"holdfast/metastore"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// interceptors is what surrounds every handler, from the outside: request id and access log,
// translation of errors, the limit on concurrent requests, recovery from panics.
type interceptors struct {
	logger *slog.Logger
	// slots holds one element for each call to the store that runs.
	slots chan struct{}
	// draining ends the streams that only wait for news, such as health watches.
	draining context.Context

	recoverUnary  grpc.UnaryServerInterceptor
	recoverStream grpc.StreamServerInterceptor
}

func newInterceptors(logger *slog.Logger, maxConcurrent int, draining context.Context) *interceptors {
	i := &interceptors{logger: logger, slots: make(chan struct{}, maxConcurrent), draining: draining}
	i.recoverUnary = recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(i.recovered))
	i.recoverStream = recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(i.recovered))
	return i
}

func (i *interceptors) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (response any, err error) {
	err = i.call(ctx, info.FullMethod, func(md metadata.MD) error { return grpc.SetTrailer(ctx, md) }, func(ctx context.Context) error {
		var err error
		response, err = i.recoverUnary(ctx, request, info, handler)
		return err
	})
	return response, err
}

func (i *interceptors) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	setTrailer := func(md metadata.MD) error { stream.SetTrailer(md); return nil }
	return i.call(stream.Context(), info.FullMethod, setTrailer, func(ctx context.Context) error {
		if !isMetastoreMethod(info.FullMethod) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(i.draining, cancel)()
		}
		return i.recoverStream(server, &contextStream{ServerStream: stream, ctx: ctx}, info, handler)
	})
}

// contextStream is a stream whose handler sees another context.
type contextStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *contextStream) Context() context.Context { return s.ctx }

// isMetastoreMethod reports whether a method is one of those that the store answers.
func isMetastoreMethod(method string) bool {
	return strings.HasPrefix(method, "/"+metastorepb.MetastoreService_ServiceDesc.ServiceName+"/") ||
		strings.HasPrefix(method, "/"+extensionpb.RecoveryService_ServiceDesc.ServiceName+"/")
}

// call runs one call of either shape and returns its error as a status.
func (i *interceptors) call(ctx context.Context, method string, setTrailer func(metadata.MD) error, run func(context.Context) error) error {
	start := time.Now()
	ctx, id := withRequestID(ctx)
	err := i.limited(ctx, method, run)
	if err == nil {
		i.log(ctx, slog.LevelInfo, method, start, "code", codes.OK.String())
		return nil
	}
	failed := failureOf(ctx, err)
	trailer := metadata.Pairs(requestIDHeader, id)
	if failed.detail != nil {
		trailer.Set(errorDetailKey, string(failed.detail))
	}
	// A client that went away is told nothing, which is no fault of the server.
	if trailerErr := setTrailer(trailer); trailerErr != nil && ctx.Err() == nil {
		i.logger.ErrorContext(ctx, "an error detail could not be attached", "method", method, "request_id", id, "error", trailerErr)
	}
	i.log(ctx, failureLevel(failed.status.Code()), method, start,
		"code", failed.status.Code().String(), "kind", string(failed.kind), "error", cut(err.Error(), 4096))
	return failed.status.Err()
}

// limited runs a call to the store if there is room for it. Health checks and
// reflection have no limit: they must answer under load.
func (i *interceptors) limited(ctx context.Context, method string, run func(context.Context) error) error {
	if !isMetastoreMethod(method) {
		return run(ctx)
	}
	select {
	case i.slots <- struct{}{}:
		defer func() { <-i.slots }()
		return run(ctx)
	default:
		return metastore.ErrTooManyRequests
	}
}

// recovered turns a panic into an error. The text of the panic stays in the log.
func (i *interceptors) recovered(ctx context.Context, panicked any) error {
	id := RequestID(ctx)
	i.logger.ErrorContext(ctx, "a handler panicked", "request_id", id, "panic", panicked, "stack", string(debug.Stack()))
	return metastore.Internal(nil, "the server hit a bug; its log has the stack under request id %s", id)
}

func (i *interceptors) log(ctx context.Context, level slog.Level, method string, start time.Time, attributes ...any) {
	if strings.HasPrefix(method, "/grpc.") && level == slog.LevelInfo {
		level = slog.LevelDebug // probes and reflection would drown the rest
	}
	if !i.logger.Enabled(ctx, level) {
		return
	}
	attributes = append(attributes, "method", method, "duration", time.Since(start), "request_id", RequestID(ctx))
	if caller, ok := peer.FromContext(ctx); ok {
		attributes = append(attributes, "peer", caller.Addr.String())
	}
	i.logger.Log(ctx, level, "call", attributes...)
}

// failureLevel is Error for what the operator of the server should look at.
func failureLevel(code codes.Code) slog.Level {
	switch code {
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return slog.LevelError
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.PermissionDenied:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
