package rpc

import (
	"context"

	"holdfast/proto/extensionpb"
)

// The extension create_only, version 1: fields 3 and 1001 of StageSplitsRequest, and the answer in
// StageSplitsResponse.
const (
	capabilityCreateOnly        = "create_only"
	capabilityCreateOnlyVersion = 1
)

// extensionService tells clients what this server offers beyond the peer's contract.
type extensionService struct {
	extensionpb.UnimplementedExtensionServiceServer
	version string
}

// GetCapabilities implements ExtensionService.
func (e *extensionService) GetCapabilities(context.Context, *extensionpb.GetCapabilitiesRequest) (*extensionpb.GetCapabilitiesResponse, error) {
	return &extensionpb.GetCapabilitiesResponse{
		ServerVersion: e.version,
		Capabilities: []*extensionpb.Capability{
			{Name: capabilityCreateOnly, Version: capabilityCreateOnlyVersion},
		},
	}, nil
}
