package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// CreateIndex implements MetastoreService.
func (s *service) CreateIndex(ctx context.Context, request *metastorepb.CreateIndexRequest) (*metastorepb.CreateIndexResponse, error) {
	create, err := parseCreateIndex(request, newULIDs(ctx))
	if err != nil {
		return nil, err
	}
	index, err := s.createIndex(ctx, request, create)
	if err != nil {
		return nil, err
	}
	return &metastorepb.CreateIndexResponse{
		IndexUid:          indexUIDMessage(index.IndexUID),
		IndexMetadataJson: string(index.AppendJSON(nil)),
	}, nil
}

// createIndex creates an index for the RPC that the request is of.
func (s *service) createIndex(ctx context.Context, request proto.Message, create metastore.CreateIndexRequest) (index *metastore.IndexMetadata, err error) {
	err = s.mutate(ctx, request, "index/"+create.Config.IndexID, func(ctx context.Context, store metastore.Store) (err error) {
		index, err = store.CreateIndex(ctx, create)
		return err
	})
	return index, err
}

// UpdateIndex implements MetastoreService.
func (s *service) UpdateIndex(ctx context.Context, request *metastorepb.UpdateIndexRequest) (*metastorepb.IndexMetadataResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	update, err := parseUpdateIndex(request, newULIDs(ctx))
	if err != nil {
		return nil, err
	}
	var index *metastore.IndexMetadata
	err = s.mutate(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) (err error) {
		index, err = store.UpdateIndex(ctx, indexUID, update)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.metadataResponse(index)
}

// IndexMetadata implements MetastoreService.
func (s *service) IndexMetadata(ctx context.Context, request *metastorepb.IndexMetadataRequest) (*metastorepb.IndexMetadataResponse, error) {
	indexUID, err := optionalIndexUID("index_uid", request.IndexUid)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	index, err := s.store.IndexMetadata(ctx, metastore.IndexLookup{IndexID: optionalString(request.IndexId), IndexUID: indexUID})
	if err != nil {
		return nil, err
	}
	return s.metadataResponse(index)
}

func (s *service) metadataResponse(index *metastore.IndexMetadata) (*metastorepb.IndexMetadataResponse, error) {
	response := &metastorepb.IndexMetadataResponse{IndexMetadataSerializedJson: string(index.AppendJSON(nil))}
	return response, s.fitMessage(response, "the server must be set up with a higher limit")
}

// IndexesMetadata implements MetastoreService.
func (s *service) IndexesMetadata(ctx context.Context, request *metastorepb.IndexesMetadataRequest) (*metastorepb.IndexesMetadataResponse, error) {
	lookups := make([]metastore.IndexLookup, len(request.GetSubrequests()))
	for i, subrequest := range request.GetSubrequests() {
		indexUID, err := optionalIndexUID(elementField("subrequests", i, "index_uid"), subrequest.IndexUid)
		if err != nil {
			return nil, err
		}
		lookups[i] = metastore.IndexLookup{IndexID: optionalString(subrequest.IndexId), IndexUID: indexUID}
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	indexes, failures, err := s.store.IndexesMetadata(ctx, lookups)
	if err != nil {
		return nil, err
	}
	response := &metastorepb.IndexesMetadataResponse{IndexesMetadataJsonZstd: metadataFrame(s.encoder, indexes), Failures: failureMessages(failures)}
	return response, s.fitMessage(response, "ask for fewer indexes at once")
}

func failureMessages(failures []metastore.IndexLookupFailure) []*metastorepb.IndexMetadataFailure {
	messages := make([]*metastorepb.IndexMetadataFailure, len(failures))
	for i, failure := range failures {
		message := &metastorepb.IndexMetadataFailure{
			Reason: metastorepb.IndexMetadataFailureReason_INDEX_METADATA_FAILURE_REASON_INTERNAL,
		}
		if failure.NotFound {
			message.Reason = metastorepb.IndexMetadataFailureReason_INDEX_METADATA_FAILURE_REASON_NOT_FOUND
		}
		if failure.Lookup.IndexID.Set {
			message.IndexId = &failures[i].Lookup.IndexID.Value
		}
		if failure.Lookup.IndexUID.Set {
			message.IndexUid = indexUIDMessage(failure.Lookup.IndexUID.Value)
		}
		messages[i] = message
	}
	return messages
}

// ListIndexesMetadata implements MetastoreService. The deprecated plain list stays unset: clients
// that see it read nothing else.
func (s *service) ListIndexesMetadata(ctx context.Context, request *metastorepb.ListIndexesMetadataRequest) (*metastorepb.ListIndexesMetadataResponse, error) {
	patterns, err := parsePatterns(request.GetIndexIdPatterns())
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	indexes, err := s.store.ListIndexesMetadata(ctx, patterns)
	if err != nil {
		return nil, err
	}
	response := &metastorepb.ListIndexesMetadataResponse{IndexesMetadataJsonZstd: metadataFrame(s.encoder, indexes)}
	return response, s.fitMessage(response, "use narrower patterns")
}

// ListIndexStats implements MetastoreService.
func (s *service) ListIndexStats(ctx context.Context, request *metastorepb.ListIndexStatsRequest) (*metastorepb.ListIndexStatsResponse, error) {
	patterns, err := parsePatterns(request.GetIndexIdPatterns())
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	stats, err := s.store.ListIndexStats(ctx, patterns)
	if err != nil {
		return nil, err
	}
	response := &metastorepb.ListIndexStatsResponse{IndexStats: make([]*metastorepb.IndexStats, len(stats))}
	for i, index := range stats {
		response.IndexStats[i] = &metastorepb.IndexStats{
			IndexUid:          indexUIDMessage(index.IndexUID),
			Staged:            splitStatsMessage(index.Staged),
			Published:         splitStatsMessage(index.Published),
			MarkedForDeletion: splitStatsMessage(index.MarkedForDeletion),
		}
	}
	return response, s.fitMessage(response, "use narrower patterns")
}

func splitStatsMessage(stats metastore.SplitStats) *metastorepb.SplitStats {
	return &metastorepb.SplitStats{NumSplits: stats.NumSplits, TotalSizeBytes: stats.TotalSizeBytes}
}

func parsePatterns(patterns []string) (*indexconfig.IndexIDPatterns, error) {
	parsed, err := indexconfig.ParseIndexIDPatterns(patterns)
	if err != nil {
		return nil, metastore.InvalidArgument("index_id_patterns: %s", err)
	}
	return parsed, nil
}

// DeleteIndex implements MetastoreService.
func (s *service) DeleteIndex(ctx context.Context, request *metastorepb.DeleteIndexRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) error {
		return store.DeleteIndex(ctx, indexUID)
	})
}
