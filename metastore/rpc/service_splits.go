package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// PublishSplits implements MetastoreService. Checkpoint deltas are not served yet.
func (s *service) PublishSplits(ctx context.Context, request *metastorepb.PublishSplitsRequest) (*metastorepb.EmptyResponse, error) {
	if request.IndexCheckpointDeltaJsonOpt != nil {
		return nil, unimplemented("PublishSplits: index_checkpoint_delta_json_opt: checkpoint deltas are not served yet; nothing was published")
	}
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, func(ctx context.Context) error {
		return s.store.PublishSplits(ctx, metastore.PublishSplitsRequest{
			IndexUID:         indexUID,
			StagedSplitIDs:   request.GetStagedSplitIds(),
			ReplacedSplitIDs: request.GetReplacedSplitIds(),
		})
	})
}

// MarkSplitsForDeletion implements MetastoreService.
func (s *service) MarkSplitsForDeletion(ctx context.Context, request *metastorepb.MarkSplitsForDeletionRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, func(ctx context.Context) error {
		return s.store.MarkSplitsForDeletion(ctx, indexUID, request.GetSplitIds())
	})
}

// DeleteSplits implements MetastoreService.
func (s *service) DeleteSplits(ctx context.Context, request *metastorepb.DeleteSplitsRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, func(ctx context.Context) error {
		return s.store.DeleteSplits(ctx, indexUID, request.GetSplitIds())
	})
}

// write runs a mutation that answers nothing.
func (s *service) write(ctx context.Context, mutate func(context.Context) error) (*metastorepb.EmptyResponse, error) {
	ctx, cancel, err := s.writing(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if err := mutate(ctx); err != nil {
		return nil, err
	}
	return &metastorepb.EmptyResponse{}, nil
}
