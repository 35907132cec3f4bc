package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// AddSource implements metastore.Store.
func (c *Client) AddSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	_, err := c.metastore.AddSource(ctx, &metastorepb.AddSourceRequest{
		IndexUid:         indexUIDMessage(indexUID),
		SourceConfigJson: string(source.AppendJSON(nil)),
	})
	if err != nil {
		return callError(ctx, "add source", err)
	}
	return nil
}

// UpdateSource implements metastore.Store.
func (c *Client) UpdateSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	_, err := c.metastore.UpdateSource(ctx, &metastorepb.UpdateSourceRequest{
		IndexUid:         indexUIDMessage(indexUID),
		SourceConfigJson: string(source.AppendJSON(nil)),
	})
	if err != nil {
		return callError(ctx, "update source", err)
	}
	return nil
}

// ToggleSource implements metastore.Store.
func (c *Client) ToggleSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string, enabled bool) error {
	_, err := c.metastore.ToggleSource(ctx, &metastorepb.ToggleSourceRequest{
		IndexUid: indexUIDMessage(indexUID),
		SourceId: sourceID,
		Enable:   enabled,
	})
	if err != nil {
		return callError(ctx, "toggle source", err)
	}
	return nil
}

// DeleteSource implements metastore.Store.
func (c *Client) DeleteSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	_, err := c.metastore.DeleteSource(ctx, &metastorepb.DeleteSourceRequest{IndexUid: indexUIDMessage(indexUID), SourceId: sourceID})
	if err != nil {
		return callError(ctx, "delete source", err)
	}
	return nil
}

// ResetSourceCheckpoint implements metastore.Store.
func (c *Client) ResetSourceCheckpoint(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	_, err := c.metastore.ResetSourceCheckpoint(ctx, &metastorepb.ResetSourceCheckpointRequest{
		IndexUid: indexUIDMessage(indexUID),
		SourceId: sourceID,
	})
	if err != nil {
		return callError(ctx, "reset source checkpoint", err)
	}
	return nil
}
