package rpc

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/proto/metastorepb"
)

// mutation is what a handler does with the store of one mutating call.
type mutation func(ctx context.Context, store metastore.Store) error

// mutate runs a mutation. With an idempotency key it is executed once: then the store that it is given
// answers a repetition. The resource names what the request is about, as far as it says so.
func (s *service) mutate(ctx context.Context, request proto.Message, resource string, run mutation) error {
	key := keyFromContext(ctx)
	ctx, cancel, err := s.writing(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	return s.executeOnce(ctx, key, request, resource, run)
}

func (s *service) executeOnce(ctx context.Context, key idempotency.Key, request proto.Message, resource string, run mutation) error {
	if key == (idempotency.Key{}) {
		return run(ctx, s.store)
	}
	return s.keyed.execute(ctx, key, request, resource, run)
}

// write is mutate for a call that answers nothing.
func (s *service) write(ctx context.Context, request proto.Message, resource string, run mutation) (*metastorepb.EmptyResponse, error) {
	if err := s.mutate(ctx, request, resource, run); err != nil {
		return nil, err
	}
	return &metastorepb.EmptyResponse{}, nil
}

// writePieces is write for what the store may do in pieces: these stop when the caller goes away or the server
// stops. Each of them is finished as every write is.
func (s *service) writePieces(ctx context.Context, request proto.Message, resource string, run mutation) (*metastorepb.EmptyResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key := keyFromContext(ctx)
	ctx, cancel := s.streaming(ctx)
	defer cancel()
	ctx = metastore.WithPieces(ctx, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return s.reading(context.WithoutCancel(ctx))
	})
	if err := s.executeOnce(ctx, key, request, resource, run); err != nil {
		return nil, err
	}
	return &metastorepb.EmptyResponse{}, nil
}

func indexResource(uid metastore.IndexUID) string { return "index/" + uid.String() }

func sourceResource(uid metastore.IndexUID, sourceID string) string {
	return "source/" + uid.String() + "/" + sourceID
}

func shardsResource(uid metastore.IndexUID, sourceID string) string {
	return "shards/" + uid.String() + "/" + sourceID
}

func openShardsResource(subrequests []metastore.OpenShardSubrequest) string {
	targets := make([]string, len(subrequests))
	for i, r := range subrequests {
		targets[i] = shardsResource(r.IndexUID, r.SourceID)
	}
	slices.Sort(targets)
	if targets = slices.Compact(targets); len(targets) == 1 {
		return targets[0]
	}
	return idempotency.MultiResource(targets)
}

func templatesResource(templateIDs []string) string {
	targets := slices.Sorted(slices.Values(templateIDs))
	return idempotency.MultiResource(slices.Compact(targets))
}
