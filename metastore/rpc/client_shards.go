package rpc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore"
	"holdfast/proto/ingestpb"
	"holdfast/proto/metastorepb"
)

// OpenShards implements metastore.Store.
func (c *Client) OpenShards(ctx context.Context, subrequests []metastore.OpenShardSubrequest) ([]metastore.Shard, error) {
	const operation = "open shards"
	request := &metastorepb.OpenShardsRequest{Subrequests: make([]*metastorepb.OpenShardSubrequest, len(subrequests))}
	for i := range subrequests {
		r := &subrequests[i]
		request.Subrequests[i] = &metastorepb.OpenShardSubrequest{
			SubrequestId:  uint32(i),
			IndexUid:      indexUIDMessage(r.IndexUID),
			SourceId:      r.SourceID,
			ShardId:       shardIDMessage(r.ShardID),
			IngesterId:    r.IngesterID,
			DocMappingUid: docMappingUIDMessage(r.DocMappingUID),
			PublishToken:  optionalText(r.PublishToken),
		}
	}
	response, err := c.metastore.OpenShards(ctx, request)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	shards := make([]metastore.Shard, len(subrequests))
	answered := make([]bool, len(subrequests))
	for i, subresponse := range response.GetSubresponses() {
		at := subresponse.GetSubrequestId()
		if int64(at) >= int64(len(subrequests)) {
			return nil, metastore.Internal(fmt.Errorf("subresponses[%d].subrequest_id is %d, which nobody asked for", i, at), operation)
		}
		if shards[at], err = readShard(elementField("subresponses", i, "open_shard"), subresponse.GetOpenShard()); err != nil {
			return nil, metastore.Internal(err, operation)
		}
		answered[at] = true
	}
	if at := slices.Index(answered, false); at >= 0 {
		return nil, metastore.Internal(fmt.Errorf("subrequests[%d] was not answered", at), operation)
	}
	return shards, nil
}

// AcquireShards implements metastore.Store.
func (c *Client) AcquireShards(ctx context.Context, request metastore.AcquireShardsRequest) ([]metastore.Shard, error) {
	const operation = "acquire shards"
	response, err := c.metastore.AcquireShards(ctx, &metastorepb.AcquireShardsRequest{
		IndexUid:     indexUIDMessage(request.IndexUID),
		SourceId:     request.SourceID,
		ShardIds:     shardIDMessages(request.ShardIDs),
		PublishToken: request.PublishToken,
	})
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	shards, err := readShards("acquired_shards", response.GetAcquiredShards())
	if err != nil {
		return nil, metastore.Internal(err, operation)
	}
	return sortedShards(shards), nil
}

// DeleteShards implements metastore.Store.
func (c *Client) DeleteShards(ctx context.Context, request metastore.DeleteShardsRequest) (metastore.DeleteShardsResult, error) {
	const operation = "delete shards"
	response, err := c.metastore.DeleteShards(ctx, &metastorepb.DeleteShardsRequest{
		IndexUid: indexUIDMessage(request.IndexUID),
		SourceId: request.SourceID,
		ShardIds: shardIDMessages(request.ShardIDs),
		Force:    request.Force,
	})
	if err != nil {
		return metastore.DeleteShardsResult{}, callError(ctx, operation, err)
	}
	refused, err := readShardIDs("failures", response.GetFailures())
	if err != nil {
		return metastore.DeleteShardsResult{}, metastore.Internal(err, operation)
	}
	stays := make(map[string]bool, len(refused))
	for _, id := range refused {
		stays[id] = true
	}
	return request.Result(func(id string) bool { return stays[id] }), nil
}

// PruneShards implements metastore.Store.
func (c *Client) PruneShards(ctx context.Context, request metastore.PruneShardsRequest) error {
	_, err := c.metastore.PruneShards(ctx, &metastorepb.PruneShardsRequest{
		IndexUid:   indexUIDMessage(request.IndexUID),
		SourceId:   request.SourceID,
		MaxAgeSecs: optionalPointer(request.MaxAge),
		MaxCount:   optionalPointer(request.MaxCount),
	})
	if err != nil {
		return callError(ctx, "prune shards", err)
	}
	return nil
}

// sourceKey names a source of an index.
type sourceKey struct {
	indexUID metastore.IndexUID
	sourceID string
}

// ListShards implements metastore.Store. A peer may answer in another order, and once for a source that is asked for
// twice.
func (c *Client) ListShards(ctx context.Context, subrequests []metastore.ListShardsSubrequest) ([][]metastore.Shard, error) {
	const operation = "list shards"
	request := &metastorepb.ListShardsRequest{Subrequests: make([]*metastorepb.ListShardsSubrequest, len(subrequests))}
	for i := range subrequests {
		r := &subrequests[i]
		request.Subrequests[i] = &metastorepb.ListShardsSubrequest{IndexUid: indexUIDMessage(r.IndexUID), SourceId: r.SourceID}
		if r.State != metastore.ShardUnspecified {
			request.Subrequests[i].ShardState = ingestpb.ShardState(r.State).Enum()
		}
	}
	response, err := c.metastore.ListShards(ctx, request, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	bySource := make(map[sourceKey][]metastore.Shard, len(subrequests))
	for i, subresponse := range response.GetSubresponses() {
		indexUID, err := requiredIndexUID(elementField("subresponses", i, "index_uid"), subresponse.GetIndexUid())
		if err != nil {
			return nil, metastore.Internal(err, operation)
		}
		shards, err := readShards(elementField("subresponses", i, "shards"), subresponse.GetShards())
		if err != nil {
			return nil, metastore.Internal(err, operation)
		}
		key := sourceKey{indexUID, subresponse.GetSourceId()}
		bySource[key] = append(bySource[key], shards...)
	}
	lists := make([][]metastore.Shard, len(subrequests))
	for i := range subrequests {
		r := &subrequests[i]
		for _, shard := range bySource[sourceKey{r.IndexUID, r.SourceID}] {
			if r.State == metastore.ShardUnspecified || r.State == shard.State {
				lists[i] = append(lists[i], shard)
			}
		}
		lists[i] = sortedShards(lists[i])
	}
	return lists, nil
}

// sortedShards sorts the shards of one source by id, and keeps each once.
func sortedShards(shards []metastore.Shard) []metastore.Shard {
	slices.SortFunc(shards, func(a, b metastore.Shard) int { return strings.Compare(a.ShardID, b.ShardID) })
	return slices.CompactFunc(shards, func(a, b metastore.Shard) bool { return a.ShardID == b.ShardID })
}
