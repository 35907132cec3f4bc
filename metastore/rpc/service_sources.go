package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

// AddSource implements MetastoreService.
func (s *service) AddSource(ctx context.Context, request *metastorepb.AddSourceRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, source, err := readSourceRequest(request.GetIndexUid(), request.GetSourceConfigJson())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, sourceResource(indexUID, source.SourceID), func(ctx context.Context, store metastore.Store) error {
		return store.AddSource(ctx, indexUID, source)
	})
}

// UpdateSource implements MetastoreService.
func (s *service) UpdateSource(ctx context.Context, request *metastorepb.UpdateSourceRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, source, err := readSourceRequest(request.GetIndexUid(), request.GetSourceConfigJson())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, sourceResource(indexUID, source.SourceID), func(ctx context.Context, store metastore.Store) error {
		return store.UpdateSource(ctx, indexUID, source)
	})
}

func readSourceRequest(uid *commonpb.IndexUid, config string) (metastore.IndexUID, *indexconfig.SourceConfig, error) {
	indexUID, err := requiredIndexUID("index_uid", uid)
	if err != nil {
		return metastore.IndexUID{}, nil, err
	}
	source, err := parseSourceConfig(config)
	return indexUID, source, err
}

// ToggleSource implements MetastoreService.
func (s *service) ToggleSource(ctx context.Context, request *metastorepb.ToggleSourceRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, sourceResource(indexUID, request.GetSourceId()), func(ctx context.Context, store metastore.Store) error {
		return store.ToggleSource(ctx, indexUID, request.GetSourceId(), request.GetEnable())
	})
}

// DeleteSource implements MetastoreService.
func (s *service) DeleteSource(ctx context.Context, request *metastorepb.DeleteSourceRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, sourceResource(indexUID, request.GetSourceId()), func(ctx context.Context, store metastore.Store) error {
		return store.DeleteSource(ctx, indexUID, request.GetSourceId())
	})
}

// ResetSourceCheckpoint implements MetastoreService.
func (s *service) ResetSourceCheckpoint(ctx context.Context, request *metastorepb.ResetSourceCheckpointRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, sourceResource(indexUID, request.GetSourceId()), func(ctx context.Context, store metastore.Store) error {
		return store.ResetSourceCheckpoint(ctx, indexUID, request.GetSourceId())
	})
}
