package rpc

import (
	"context"
	"errors"

	"holdfast/metastore"
	"holdfast/proto/extensionpb"
)

// RequireRecoverIndex fails with metastore.ErrRecoveryUnsupported unless the server creates indexes with an incarnation that is given.
func (c *Client) RequireRecoverIndex(ctx context.Context) error {
	return c.requireRecovery(ctx, "create an index with a given incarnation", capabilityRecoverIndex, capabilityRecoverIndexVersion)
}

func (c *Client) requireRecovery(ctx context.Context, operation, capability string, version uint32) error {
	capabilities, err := c.offered(ctx)
	if err != nil {
		return err
	}
	if !capabilities.Has(capability, version) {
		return metastore.Unsupported(metastore.ErrRecoveryUnsupported, "%s: it does not offer the capability %s/%d; nothing was sent", operation, capability, version)
	}
	return nil
}

// recoveryError is callError for RecoveryService. A server without it, which may have taken the place of the one that was
// asked for its capabilities, has done nothing; but another one may have executed an earlier attempt.
func (c *Client) recoveryError(ctx context.Context, operation string, err error) error {
	var sent *rpcError
	if isUnimplemented(err) && !(errors.As(err, &sent) && sent.repeated) {
		c.known.Store(nil)
		return metastore.Unsupported(metastore.ErrRecoveryUnsupported, "%s: it does not implement the call", operation)
	}
	return callError(ctx, operation, err)
}

// recoverIndex creates an index with the incarnation of the request.
func (c *Client) recoverIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	const operation = "create index with its incarnation"
	if err := c.RequireRecoverIndex(ctx); err != nil {
		return nil, err
	}
	documents := createIndexMessage(request)
	response, err := c.recovery.RecoverIndex(ctx, &extensionpb.RecoverIndexRequest{
		IndexConfigJson: documents.GetIndexConfigJson(), SourceConfigsJson: documents.GetSourceConfigsJson(),
		IncarnationId: request.Incarnation.Value.Bytes(),
	})
	if err != nil {
		return nil, c.recoveryError(ctx, operation, err)
	}
	return parseMetadata(operation, response.GetIndexMetadataJson())
}

// DeleteOpstampFloor implements metastore.Store. It fails with metastore.ErrRecoveryUnsupported if the server does not know it.
func (c *Client) DeleteOpstampFloor(ctx context.Context, indexUID metastore.IndexUID) (uint64, error) {
	const operation = "read the delete opstamp floor"
	if err := c.requireOpstampFloor(ctx, operation); err != nil {
		return 0, err
	}
	response, err := c.recovery.GetDeleteOpstampFloor(ctx, &extensionpb.GetDeleteOpstampFloorRequest{IndexUid: indexUIDMessage(indexUID)}, repeatable)
	if err != nil {
		return 0, c.recoveryError(ctx, operation, err)
	}
	return response.GetDeleteOpstampFloor(), nil
}

// RaiseDeleteOpstampFloor implements metastore.Store. It fails with metastore.ErrRecoveryUnsupported if the server does not know it.
func (c *Client) RaiseDeleteOpstampFloor(ctx context.Context, indexUID metastore.IndexUID, floor uint64) error {
	const operation = "raise the delete opstamp floor"
	if err := c.requireOpstampFloor(ctx, operation); err != nil {
		return err
	}
	_, err := c.recovery.RaiseDeleteOpstampFloor(ctx, &extensionpb.RaiseDeleteOpstampFloorRequest{IndexUid: indexUIDMessage(indexUID), DeleteOpstampFloor: floor})
	if err != nil {
		return c.recoveryError(ctx, operation, err)
	}
	return nil
}

func (c *Client) requireOpstampFloor(ctx context.Context, operation string) error {
	return c.requireRecovery(ctx, operation, capabilityOpstampFloor, capabilityOpstampFloorVersion)
}
