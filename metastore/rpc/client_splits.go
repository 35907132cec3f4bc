package rpc

import (
	"context"
	"errors"
	"io"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// PublishSplits implements metastore.Store.
func (c *Client) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	_, err := c.metastore.PublishSplits(ctx, &metastorepb.PublishSplitsRequest{
		IndexUid:                    indexUIDMessage(request.IndexUID),
		StagedSplitIds:              request.StagedSplitIDs,
		ReplacedSplitIds:            request.ReplacedSplitIDs,
		IndexCheckpointDeltaJsonOpt: deltaDocument(request.Delta),
		PublishTokenOpt:             optionalText(request.PublishToken),
	})
	if err != nil {
		return callError(ctx, "publish splits", err)
	}
	return nil
}

// MarkSplitsForDeletion implements metastore.Store.
func (c *Client) MarkSplitsForDeletion(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	_, err := c.metastore.MarkSplitsForDeletion(ctx, &metastorepb.MarkSplitsForDeletionRequest{
		IndexUid: indexUIDMessage(indexUID),
		SplitIds: splitIDs,
	})
	if err != nil {
		return callError(ctx, "mark splits for deletion", err)
	}
	return nil
}

// DeleteSplits implements metastore.Store.
func (c *Client) DeleteSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	_, err := c.metastore.DeleteSplits(ctx, &metastorepb.DeleteSplitsRequest{
		IndexUid: indexUIDMessage(indexUID),
		SplitIds: splitIDs,
	})
	if err != nil {
		return callError(ctx, "delete splits", err)
	}
	return nil
}

// ListSplits implements metastore.Store. Rows are visited while they arrive; a visit that takes long
// holds the server back, which gives up after a time.
func (c *Client) ListSplits(ctx context.Context, query *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
	const operation = "list splits"
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.metastore.ListSplits(streamCtx, &metastorepb.ListSplitsRequest{QueryJson: string(query.AppendJSON(nil))}, repeatable)
	if err != nil {
		return callError(ctx, operation, err)
	}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return callError(ctx, operation, err)
		}
		if err := visitRows(operation, message.GetSplitsSerializedJson(), visit); err != nil {
			return err
		}
	}
}

// visitRows visits the splits of an array. It returns an error of visit unchanged.
func visitRows(operation, array string, visit func(*metastore.SplitRow) error) error {
	var visitErr error
	err := forEachElement(bytesOf(array), func(element []byte) error {
		row, err := metastore.ParseSplitRow(element)
		if err != nil {
			return err
		}
		visitErr = visit(&row)
		return visitErr
	})
	if visitErr != nil {
		return visitErr
	}
	if err != nil {
		return metastore.Internal(err, "%s", operation)
	}
	return nil
}
