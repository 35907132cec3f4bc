package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// StageParquetSplits implements metastore.Store. A request that does not fit into one message is refused with
// InvalidArgument before anything is sent, because a request is all or nothing.
func (c *Client) StageParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splits []metastore.ParquetSplitMetadata) error {
	const operation = "stage Parquet splits"
	documents := make([]string, len(splits))
	for i := range splits {
		documents[i] = splits[i].Document()
	}
	metrics := &metastorepb.StageMetricsSplitsRequest{IndexUid: indexUIDMessage(indexUID), SplitsMetadataJson: documents}
	if size := proto.Size(metrics); size > c.options.MaxMessageSize {
		return metastore.InvalidArgument("%s: %d splits take %d bytes, more than the limit of %d on one message; stage them in several calls",
			operation, len(splits), size, c.options.MaxMessageSize)
	}
	var err error
	if kind == metastore.SketchSplits {
		_, err = c.metastore.StageSketchSplits(ctx, &metastorepb.StageSketchSplitsRequest{IndexUid: metrics.IndexUid, SplitsMetadataJson: documents})
	} else {
		_, err = c.metastore.StageMetricsSplits(ctx, metrics)
	}
	if err != nil {
		return callError(ctx, operation, err)
	}
	return nil
}

// PublishParquetSplits implements metastore.Store.
func (c *Client) PublishParquetSplits(ctx context.Context, kind metastore.ParquetKind, request metastore.PublishSplitsRequest) error {
	uid, delta, token := indexUIDMessage(request.IndexUID), deltaDocument(request.Delta), optionalText(request.PublishToken)
	var err error
	if kind == metastore.SketchSplits {
		_, err = c.metastore.PublishSketchSplits(ctx, &metastorepb.PublishSketchSplitsRequest{
			IndexUid: uid, StagedSplitIds: request.StagedSplitIDs, ReplacedSplitIds: request.ReplacedSplitIDs,
			IndexCheckpointDeltaJsonOpt: delta, PublishTokenOpt: token,
		})
	} else {
		_, err = c.metastore.PublishMetricsSplits(ctx, &metastorepb.PublishMetricsSplitsRequest{
			IndexUid: uid, StagedSplitIds: request.StagedSplitIDs, ReplacedSplitIds: request.ReplacedSplitIDs,
			IndexCheckpointDeltaJsonOpt: delta, PublishTokenOpt: token,
		})
	}
	if err != nil {
		return callError(ctx, "publish Parquet splits", err)
	}
	return nil
}

// ListParquetSplits implements metastore.Store. All splits come in one message, so a listing of many needs a limit, and
// goes on with After.
func (c *Client) ListParquetSplits(ctx context.Context, kind metastore.ParquetKind, query *metastore.ListParquetSplitsQuery, visit func(*metastore.ParquetSplitRow) error) error {
	const operation = "list Parquet splits"
	documents, err := c.listParquetSplits(ctx, kind, query)
	if err != nil {
		return callError(ctx, operation, err)
	}
	for _, document := range documents {
		row, err := metastore.ParseParquetSplitRow(bytesOf(document))
		if err != nil {
			return metastore.Internal(err, operation)
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) listParquetSplits(ctx context.Context, kind metastore.ParquetKind, query *metastore.ListParquetSplitsQuery) ([]string, error) {
	uid, document := indexUIDMessage(query.IndexUID), string(query.AppendJSON(nil))
	if kind == metastore.SketchSplits {
		response, err := c.metastore.ListSketchSplits(ctx, &metastorepb.ListSketchSplitsRequest{IndexUid: uid, QueryJson: document}, repeatable)
		return response.GetSplitsSerializedJson(), err
	}
	response, err := c.metastore.ListMetricsSplits(ctx, &metastorepb.ListMetricsSplitsRequest{IndexUid: uid, QueryJson: document}, repeatable)
	return response.GetSplitsSerializedJson(), err
}

// MarkParquetSplitsForDeletion implements metastore.Store.
func (c *Client) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	uid := indexUIDMessage(indexUID)
	var err error
	if kind == metastore.SketchSplits {
		_, err = c.metastore.MarkSketchSplitsForDeletion(ctx, &metastorepb.MarkSketchSplitsForDeletionRequest{IndexUid: uid, SplitIds: splitIDs})
	} else {
		_, err = c.metastore.MarkMetricsSplitsForDeletion(ctx, &metastorepb.MarkMetricsSplitsForDeletionRequest{IndexUid: uid, SplitIds: splitIDs})
	}
	if err != nil {
		return callError(ctx, "mark Parquet splits for deletion", err)
	}
	return nil
}

// DeleteParquetSplits implements metastore.Store.
func (c *Client) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	uid := indexUIDMessage(indexUID)
	var err error
	if kind == metastore.SketchSplits {
		_, err = c.metastore.DeleteSketchSplits(ctx, &metastorepb.DeleteSketchSplitsRequest{IndexUid: uid, SplitIds: splitIDs})
	} else {
		_, err = c.metastore.DeleteMetricsSplits(ctx, &metastorepb.DeleteMetricsSplitsRequest{IndexUid: uid, SplitIds: splitIDs})
	}
	if err != nil {
		return callError(ctx, "delete Parquet splits", err)
	}
	return nil
}
