package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// CreateIndex implements metastore.Store. One with an incarnation fails with metastore.ErrRecoveryUnsupported, and creates
// nothing, if the server does not know how.
func (c *Client) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	const operation = "create index"
	if request.Incarnation.Set {
		return c.recoverIndex(ctx, request)
	}
	response, err := c.metastore.CreateIndex(ctx, createIndexMessage(request))
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	return parseMetadata(operation, response.GetIndexMetadataJson())
}

// UpdateIndex implements metastore.Store.
func (c *Client) UpdateIndex(ctx context.Context, indexUID metastore.IndexUID, update indexconfig.Update) (*metastore.IndexMetadata, error) {
	const operation = "update index"
	response, err := c.metastore.UpdateIndex(ctx, updateIndexMessage(indexUID, update))
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	return parseMetadata(operation, response.GetIndexMetadataSerializedJson())
}

// IndexMetadata implements metastore.Store.
func (c *Client) IndexMetadata(ctx context.Context, lookup metastore.IndexLookup) (*metastore.IndexMetadata, error) {
	const operation = "get index metadata"
	request := &metastorepb.IndexMetadataRequest{}
	if lookup.IndexID.Set {
		request.IndexId = &lookup.IndexID.Value
	}
	if lookup.IndexUID.Set {
		request.IndexUid = indexUIDMessage(lookup.IndexUID.Value)
	}
	response, err := c.metastore.IndexMetadata(ctx, request, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	return parseMetadata(operation, response.GetIndexMetadataSerializedJson())
}

// IndexesMetadata implements metastore.Store.
func (c *Client) IndexesMetadata(ctx context.Context, lookups []metastore.IndexLookup) ([]*metastore.IndexMetadata, []metastore.IndexLookupFailure, error) {
	const operation = "get metadata of indexes"
	request := &metastorepb.IndexesMetadataRequest{Subrequests: make([]*metastorepb.IndexMetadataSubrequest, len(lookups))}
	for i, lookup := range lookups {
		subrequest := &metastorepb.IndexMetadataSubrequest{}
		if lookup.IndexID.Set {
			subrequest.IndexId = &lookups[i].IndexID.Value
		}
		if lookup.IndexUID.Set {
			subrequest.IndexUid = indexUIDMessage(lookup.IndexUID.Value)
		}
		request.Subrequests[i] = subrequest
	}
	response, err := c.metastore.IndexesMetadata(ctx, request, repeatable)
	if err != nil {
		return nil, nil, callError(ctx, operation, err)
	}
	indexes, err := parseMetadataFrame(response.GetIndexesMetadataJsonZstd())
	if err != nil {
		return nil, nil, metastore.Internal(err, operation)
	}
	var failures []metastore.IndexLookupFailure
	for i, message := range response.GetFailures() {
		indexUID, err := optionalIndexUID(elementField("failures", i, "index_uid"), message.IndexUid)
		if err != nil {
			return nil, nil, metastore.Internal(err, operation)
		}
		failures = append(failures, metastore.IndexLookupFailure{
			Lookup:   metastore.IndexLookup{IndexID: optionalString(message.IndexId), IndexUID: indexUID},
			NotFound: message.GetReason() == metastorepb.IndexMetadataFailureReason_INDEX_METADATA_FAILURE_REASON_NOT_FOUND,
		})
	}
	return indexes, failures, nil
}

// ListIndexesMetadata implements metastore.Store.
func (c *Client) ListIndexesMetadata(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
	const operation = "list indexes"
	response, err := c.metastore.ListIndexesMetadata(ctx, &metastorepb.ListIndexesMetadataRequest{IndexIdPatterns: patternList(patterns)}, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	indexes, err := parseMetadataFrame(response.GetIndexesMetadataJsonZstd())
	if err != nil {
		return nil, metastore.Internal(err, operation)
	}
	return indexes, nil
}

// ListIndexStats implements metastore.Store.
func (c *Client) ListIndexStats(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]metastore.IndexStats, error) {
	const operation = "list index stats"
	response, err := c.metastore.ListIndexStats(ctx, &metastorepb.ListIndexStatsRequest{IndexIdPatterns: patternList(patterns)}, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	stats := make([]metastore.IndexStats, len(response.GetIndexStats()))
	for i, message := range response.GetIndexStats() {
		indexUID, err := requiredIndexUID(elementField("index_stats", i, "index_uid"), message.GetIndexUid())
		if err != nil {
			return nil, metastore.Internal(err, operation)
		}
		stats[i] = metastore.IndexStats{
			IndexUID:          indexUID,
			Staged:            readSplitStats(message.GetStaged()),
			Published:         readSplitStats(message.GetPublished()),
			MarkedForDeletion: readSplitStats(message.GetMarkedForDeletion()),
		}
	}
	return stats, nil
}

// DeleteIndex implements metastore.Store.
func (c *Client) DeleteIndex(ctx context.Context, indexUID metastore.IndexUID) error {
	_, err := c.metastore.DeleteIndex(ctx, &metastorepb.DeleteIndexRequest{IndexUid: indexUIDMessage(indexUID)})
	if err != nil {
		return callError(ctx, "delete index", err)
	}
	return nil
}

func parseMetadata(operation, document string) (*metastore.IndexMetadata, error) {
	index, err := metastore.ParseIndexMetadata(bytesOf(document))
	if err != nil {
		return nil, metastore.Internal(err, "%s: the server's answer", operation)
	}
	return index, nil
}

func readSplitStats(message *metastorepb.SplitStats) metastore.SplitStats {
	return metastore.SplitStats{NumSplits: message.GetNumSplits(), TotalSizeBytes: message.GetTotalSizeBytes()}
}

func patternList(patterns *indexconfig.IndexIDPatterns) []string {
	list := patterns.Positive()
	for _, pattern := range patterns.Negative() {
		list = append(list, "-"+pattern)
	}
	return list
}
