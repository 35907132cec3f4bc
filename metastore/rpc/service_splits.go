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
	return s.write(ctx, func(ctx context.Context) error {
		return s.store.PublishSplits(ctx, metastore.PublishSplitsRequest{
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
	return s.writePieces(ctx, func(ctx context.Context) error {
		return s.store.MarkSplitsForDeletion(ctx, indexUID, request.GetSplitIds())
	})
}

// DeleteSplits implements MetastoreService.
func (s *service) DeleteSplits(ctx context.Context, request *metastorepb.DeleteSplitsRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.writePieces(ctx, func(ctx context.Context) error {
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

// writePieces runs a mutation that answers nothing, and that the store may do in pieces: these stop when the caller
// goes away or the server stops. Each of them is finished as every write is.
func (s *service) writePieces(ctx context.Context, mutate func(context.Context) error) (*metastorepb.EmptyResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := s.streaming(ctx)
	defer cancel()
	err := mutate(metastore.WithPieces(ctx, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return s.reading(context.WithoutCancel(ctx))
	}))
	if err != nil {
		return nil, err
	}
	return &metastorepb.EmptyResponse{}, nil
}
