package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/extensionpb"
	"holdfast/proto/metastorepb"
)

// recoveryService implements RecoveryService over the store of the metastore service.
type recoveryService struct {
	extensionpb.UnimplementedRecoveryServiceServer
	metastore *service
}

// RecoverIndex implements RecoveryService.
func (r *recoveryService) RecoverIndex(ctx context.Context, request *extensionpb.RecoverIndexRequest) (*extensionpb.RecoverIndexResponse, error) {
	incarnation, err := readULID("incarnation_id", request.GetIncarnationId())
	if err == nil && incarnation.IsZero() {
		err = metastore.InvalidArgument("incarnation_id is missing or nil; CreateIndex creates an index with a fresh one")
	}
	if err != nil {
		return nil, err
	}
	create, err := parseCreateIndex(&metastorepb.CreateIndexRequest{
		IndexConfigJson: request.GetIndexConfigJson(), SourceConfigsJson: request.GetSourceConfigsJson(),
	}, newULIDs(ctx))
	if err != nil {
		return nil, err
	}
	create.Incarnation = metastore.Some(incarnation)
	index, err := r.metastore.createIndex(ctx, request, create)
	if err != nil {
		return nil, err
	}
	return &extensionpb.RecoverIndexResponse{IndexMetadataJson: string(index.AppendJSON(nil))}, nil
}

// GetDeleteOpstampFloor implements RecoveryService.
func (r *recoveryService) GetDeleteOpstampFloor(ctx context.Context, request *extensionpb.GetDeleteOpstampFloorRequest) (*extensionpb.GetDeleteOpstampFloorResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	ctx, cancel := r.metastore.reading(ctx)
	defer cancel()
	floor, err := r.metastore.store.DeleteOpstampFloor(ctx, indexUID)
	if err != nil {
		return nil, err
	}
	return &extensionpb.GetDeleteOpstampFloorResponse{DeleteOpstampFloor: floor}, nil
}

// RaiseDeleteOpstampFloor implements RecoveryService.
func (r *recoveryService) RaiseDeleteOpstampFloor(ctx context.Context, request *extensionpb.RaiseDeleteOpstampFloorRequest) (*extensionpb.RaiseDeleteOpstampFloorResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	_, err = r.metastore.write(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.RaiseDeleteOpstampFloor(ctx, indexUID, request.GetDeleteOpstampFloor())
	})
	if err != nil {
		return nil, err
	}
	return &extensionpb.RaiseDeleteOpstampFloorResponse{}, nil
}
