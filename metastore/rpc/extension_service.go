package rpc

import (
	"context"
	"time"

	"holdfast/metastore/idempotency"
	"holdfast/proto/extensionpb"
)

// The extension create_only, version 1: fields 3 and 1001 of StageSplitsRequest, and the answer in
// StageSplitsResponse.
const (
	capabilityCreateOnly        = "create_only"
	capabilityCreateOnlyVersion = 1
)

// The extension idempotency, version 1: the metadata idempotency-key of mutating calls.
const (
	capabilityIdempotency        = "idempotency"
	capabilityIdempotencyVersion = 1
)

// The extension recover_index, version 1: RecoveryService.RecoverIndex.
const (
	capabilityRecoverIndex        = "recover_index"
	capabilityRecoverIndexVersion = 1
)

// The extension delete_opstamp_floor, version 1: the RPCs of RecoveryService that read and raise the floor.
const (
	capabilityOpstampFloor        = "delete_opstamp_floor"
	capabilityOpstampFloorVersion = 1
)

// extensionService tells clients what this server offers beyond the peer's contract.
type extensionService struct {
	extensionpb.UnimplementedExtensionServiceServer
	version string
	// keyLifetime is 0 if idempotency keys are not honoured.
	keyLifetime time.Duration
	keyScope    idempotency.Scope
}

// GetCapabilities implements ExtensionService.
func (e *extensionService) GetCapabilities(context.Context, *extensionpb.GetCapabilitiesRequest) (*extensionpb.GetCapabilitiesResponse, error) {
	response := &extensionpb.GetCapabilitiesResponse{
		ServerVersion: e.version,
		Capabilities: []*extensionpb.Capability{
			{Name: capabilityCreateOnly, Version: capabilityCreateOnlyVersion},
			{Name: capabilityRecoverIndex, Version: capabilityRecoverIndexVersion},
			{Name: capabilityOpstampFloor, Version: capabilityOpstampFloorVersion},
		},
	}
	if e.keyLifetime > 0 {
		response.Capabilities = append(response.Capabilities, &extensionpb.Capability{Name: capabilityIdempotency, Version: capabilityIdempotencyVersion})
		response.IdempotencyKeyLifetimeSeconds = uint64(e.keyLifetime / time.Second)
		response.IdempotencyKeyRpcs = keyedRPCs
		response.IdempotencyKeyScope = string(e.keyScope)
	}
	return response, nil
}
