package rpc

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// service implements the RPCs of MetastoreService over a store. RPCs that it does not override
// answer Unimplemented with their name.
//
// Every handler reads its request in the peer's order: the required fields, then the JSON, and only
// then the store.
type service struct {
	metastorepb.UnimplementedMetastoreServiceServer
	store    metastore.Store
	options  ServerOptions
	lifetime context.Context
	// encoder compresses lists of index metadata; its EncodeAll may be called concurrently.
	encoder *zstd.Encoder
	// background counts the goroutines that may outlive their handler for a moment.
	background *sync.WaitGroup
	keyed      *keyedCalls
}

func newService(s *Server, keyed *keyedCalls) (*service, error) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, fmt.Errorf("set up zstd: %w", err)
	}
	return &service{store: s.store, options: s.options, lifetime: s.lifetime, encoder: encoder, background: &s.background, keyed: keyed}, nil
}

// reading returns the context of a call that changes nothing. It ends with the caller.
func (s *service) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := s.streaming(ctx)
	ctx, cancelTimeout := context.WithTimeout(ctx, s.options.RequestTimeout)
	return ctx, func() { cancelTimeout(); cancel() }
}

// streaming returns the context of a call that takes as long as its caller wants.
func (s *service) streaming(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.lifetime, cancel)
	return ctx, func() { stop(); cancel() }
}

// writing returns the context of a call that changes something, which does not end with the caller:
// a write that was begun is finished, so that nobody finds it half done because a client lost
// patience. A call whose caller is gone already is not begun.
func (s *service) writing(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := s.reading(context.WithoutCancel(ctx))
	return ctx, cancel, nil
}

// fitMessage refuses an answer that the transport would refuse with an error that clients retry.
func (s *service) fitMessage(response proto.Message, advice string) error {
	if size := proto.Size(response); size > s.options.MaxMessageSize {
		return metastore.InvalidArgument("the answer takes %d bytes, more than the limit of %d on one message: %s", size, s.options.MaxMessageSize, advice)
	}
	return nil
}

// GetClusterIdentity implements MetastoreService.
func (s *service) GetClusterIdentity(ctx context.Context, _ *metastorepb.GetClusterIdentityRequest) (*metastorepb.GetClusterIdentityResponse, error) {
	// The first call draws the identity, so this is a write.
	ctx, cancel, err := s.writing(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	identity, err := s.store.ClusterIdentity(ctx)
	if err != nil {
		return nil, err
	}
	return &metastorepb.GetClusterIdentityResponse{Uuid: identity}, nil
}

// bytesOf views text as bytes, which must not be changed. Lists of splits are long; the readers of
// documents copy what they keep.
func bytesOf(text string) []byte {
	return unsafe.Slice(unsafe.StringData(text), len(text))
}
