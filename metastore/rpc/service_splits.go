package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// PublishSplits implements MetastoreService.
func (s *service) PublishSplits(ctx context.Context, request *metastorepb.PublishSplitsRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	delta, err := optionalDelta(request.IndexCheckpointDeltaJsonOpt)
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.PublishSplits(ctx, metastore.PublishSplitsRequest{
			IndexUID:         indexUID,
			StagedSplitIDs:   request.GetStagedSplitIds(),
			ReplacedSplitIDs: request.GetReplacedSplitIds(),
			Delta:            delta,
			PublishToken:     optionalString(request.PublishTokenOpt),
		})
	})
}

// optionalDelta reads the document of a checkpoint delta. An absent one gives nil.
func optionalDelta(document *string) (*metastore.CheckpointDelta, error) {
	if document == nil {
		return nil, nil
	}
	return metastore.ParseCheckpointDelta(bytesOf(*document))
}

// deltaDocument is the inverse of optionalDelta.
func deltaDocument(delta *metastore.CheckpointDelta) *string {
	if delta == nil {
		return nil
	}
	document := string(delta.AppendJSON(nil))
	return &document
}

// MarkSplitsForDeletion implements MetastoreService.
func (s *service) MarkSplitsForDeletion(ctx context.Context, request *metastorepb.MarkSplitsForDeletionRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.writePieces(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.MarkSplitsForDeletion(ctx, indexUID, request.GetSplitIds())
	})
}

// DeleteSplits implements MetastoreService.
func (s *service) DeleteSplits(ctx context.Context, request *metastorepb.DeleteSplitsRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.writePieces(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.DeleteSplits(ctx, indexUID, request.GetSplitIds())
	})
}
