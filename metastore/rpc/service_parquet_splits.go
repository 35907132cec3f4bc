package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

// The calls about metrics and sketch splits differ in the names of their messages only.

// parquetStage is a request that stages Parquet splits.
type parquetStage interface {
	proto.Message
	GetIndexUid() *commonpb.IndexUid
	GetSplitsMetadataJson() []string
}

func (s *service) stageParquetSplits(ctx context.Context, kind metastore.ParquetKind, request parquetStage) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	splits, err := metastore.ParseParquetSplitMetadataList(request.GetSplitsMetadataJson())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.StageParquetSplits(ctx, kind, indexUID, splits)
	})
}

// StageMetricsSplits implements MetastoreService.
func (s *service) StageMetricsSplits(ctx context.Context, request *metastorepb.StageMetricsSplitsRequest) (*metastorepb.EmptyResponse, error) {
	return s.stageParquetSplits(ctx, metastore.MetricsSplits, request)
}

// StageSketchSplits implements MetastoreService.
func (s *service) StageSketchSplits(ctx context.Context, request *metastorepb.StageSketchSplitsRequest) (*metastorepb.EmptyResponse, error) {
	return s.stageParquetSplits(ctx, metastore.SketchSplits, request)
}

// parquetPublish is a request that publishes Parquet splits.
type parquetPublish interface {
	proto.Message
	GetIndexUid() *commonpb.IndexUid
	GetStagedSplitIds() []string
	GetReplacedSplitIds() []string
}

func (s *service) publishParquetSplits(ctx context.Context, kind metastore.ParquetKind, request parquetPublish, deltaDocument, token *string) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	delta, err := optionalDelta(deltaDocument)
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.PublishParquetSplits(ctx, kind, metastore.PublishSplitsRequest{
			IndexUID:         indexUID,
			StagedSplitIDs:   request.GetStagedSplitIds(),
			ReplacedSplitIDs: request.GetReplacedSplitIds(),
			Delta:            delta,
			PublishToken:     optionalString(token),
		})
	})
}

// PublishMetricsSplits implements MetastoreService.
func (s *service) PublishMetricsSplits(ctx context.Context, request *metastorepb.PublishMetricsSplitsRequest) (*metastorepb.EmptyResponse, error) {
	return s.publishParquetSplits(ctx, metastore.MetricsSplits, request, request.IndexCheckpointDeltaJsonOpt, request.PublishTokenOpt)
}

// PublishSketchSplits implements MetastoreService.
func (s *service) PublishSketchSplits(ctx context.Context, request *metastorepb.PublishSketchSplitsRequest) (*metastorepb.EmptyResponse, error) {
	return s.publishParquetSplits(ctx, metastore.SketchSplits, request, request.IndexCheckpointDeltaJsonOpt, request.PublishTokenOpt)
}

// parquetList is a request that lists Parquet splits.
type parquetList interface {
	proto.Message
	GetIndexUid() *commonpb.IndexUid
	GetQueryJson() string
}

// listParquetSplits returns the documents of the listed splits. All must fit into one message.
func (s *service) listParquetSplits(ctx context.Context, kind metastore.ParquetKind, request parquetList) ([]string, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	query, err := metastore.ParseListParquetSplitsQuery(bytesOf(request.GetQueryJson()))
	if err != nil {
		return nil, err
	}
	if query.IndexUID != indexUID {
		return nil, metastore.InvalidArgument("query_json.index_uid is %q, and index_uid is %q; they must be equal", query.IndexUID, indexUID)
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	var documents []string
	left := s.options.MaxMessageSize
	err = s.store.ListParquetSplits(ctx, kind, query, func(row *metastore.ParquetSplitRow) error {
		document := string(row.AppendJSON(make([]byte, 0, len(row.Document)+parquetRowOverhead)))
		if left -= len(document) + listMessageOverhead; left < 0 {
			return metastore.InvalidArgument("the splits take more than the limit of %d bytes on one message: set limit, and go on with after_split_id", s.options.MaxMessageSize)
		}
		documents = append(documents, document)
		return nil
	})
	return documents, err
}

// parquetRowOverhead is about what a row adds to its document.
const parquetRowOverhead = 80

// ListMetricsSplits implements MetastoreService.
func (s *service) ListMetricsSplits(ctx context.Context, request *metastorepb.ListMetricsSplitsRequest) (*metastorepb.ListMetricsSplitsResponse, error) {
	documents, err := s.listParquetSplits(ctx, metastore.MetricsSplits, request)
	if err != nil {
		return nil, err
	}
	return &metastorepb.ListMetricsSplitsResponse{SplitsSerializedJson: documents}, nil
}

// ListSketchSplits implements MetastoreService.
func (s *service) ListSketchSplits(ctx context.Context, request *metastorepb.ListSketchSplitsRequest) (*metastorepb.ListSketchSplitsResponse, error) {
	documents, err := s.listParquetSplits(ctx, metastore.SketchSplits, request)
	if err != nil {
		return nil, err
	}
	return &metastorepb.ListSketchSplitsResponse{SplitsSerializedJson: documents}, nil
}

// parquetIDs is a request about Parquet splits by their ids.
type parquetIDs interface {
	proto.Message
	GetIndexUid() *commonpb.IndexUid
	GetSplitIds() []string
}

func (s *service) markParquetSplits(ctx context.Context, kind metastore.ParquetKind, request parquetIDs) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.writePieces(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.MarkParquetSplitsForDeletion(ctx, kind, indexUID, request.GetSplitIds())
	})
}

// MarkMetricsSplitsForDeletion implements MetastoreService.
func (s *service) MarkMetricsSplitsForDeletion(ctx context.Context, request *metastorepb.MarkMetricsSplitsForDeletionRequest) (*metastorepb.EmptyResponse, error) {
	return s.markParquetSplits(ctx, metastore.MetricsSplits, request)
}

// MarkSketchSplitsForDeletion implements MetastoreService.
func (s *service) MarkSketchSplitsForDeletion(ctx context.Context, request *metastorepb.MarkSketchSplitsForDeletionRequest) (*metastorepb.EmptyResponse, error) {
	return s.markParquetSplits(ctx, metastore.SketchSplits, request)
}

func (s *service) deleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, request parquetIDs) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.writePieces(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.DeleteParquetSplits(ctx, kind, indexUID, request.GetSplitIds())
	})
}

// DeleteMetricsSplits implements MetastoreService.
func (s *service) DeleteMetricsSplits(ctx context.Context, request *metastorepb.DeleteMetricsSplitsRequest) (*metastorepb.EmptyResponse, error) {
	return s.deleteParquetSplits(ctx, metastore.MetricsSplits, request)
}

// DeleteSketchSplits implements MetastoreService.
func (s *service) DeleteSketchSplits(ctx context.Context, request *metastorepb.DeleteSketchSplitsRequest) (*metastorepb.EmptyResponse, error) {
	return s.deleteParquetSplits(ctx, metastore.SketchSplits, request)
}
