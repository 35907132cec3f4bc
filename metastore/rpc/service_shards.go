package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// OpenShards implements MetastoreService.
func (s *service) OpenShards(ctx context.Context, request *metastorepb.OpenShardsRequest) (*metastorepb.OpenShardsResponse, error) {
	subrequests := make([]metastore.OpenShardSubrequest, len(request.GetSubrequests()))
	for i, message := range request.GetSubrequests() {
		var err error
		if subrequests[i], err = readOpenShard(element("subrequests", i), message); err != nil {
			return nil, err
		}
	}
	var shards []metastore.Shard
	err := s.mutate(ctx, request, openShardsResource(subrequests), func(ctx context.Context, store metastore.Store) (err error) {
		shards, err = store.OpenShards(ctx, subrequests)
		return err
	})
	if err != nil {
		return nil, err
	}
	response := &metastorepb.OpenShardsResponse{}
	for i := range shards {
		if shards[i].State == metastore.ShardUnspecified {
			continue // the call is a repetition, and the shard is gone
		}
		response.Subresponses = append(response.Subresponses, &metastorepb.OpenShardSubresponse{
			SubrequestId: request.GetSubrequests()[i].GetSubrequestId(),
			OpenShard:    shardMessage(&shards[i]),
		})
	}
	return response, nil
}

func readOpenShard(field string, message *metastorepb.OpenShardSubrequest) (subrequest metastore.OpenShardSubrequest, err error) {
	if subrequest.IndexUID, err = requiredIndexUID(field+".index_uid", message.GetIndexUid()); err != nil {
		return subrequest, err
	}
	if subrequest.ShardID, err = requiredShardID(field+".shard_id", message.GetShardId()); err != nil {
		return subrequest, err
	}
	if subrequest.DocMappingUID, err = requiredDocMappingUID(field+".doc_mapping_uid", message.GetDocMappingUid()); err != nil {
		return subrequest, err
	}
	subrequest.SourceID = message.GetSourceId()
	subrequest.IngesterID = message.GetIngesterId()
	subrequest.PublishToken = optionalString(message.PublishToken)
	return subrequest, nil
}

// AcquireShards implements MetastoreService.
func (s *service) AcquireShards(ctx context.Context, request *metastorepb.AcquireShardsRequest) (*metastorepb.AcquireShardsResponse, error) {
	acquire := metastore.AcquireShardsRequest{SourceID: request.GetSourceId(), PublishToken: request.GetPublishToken()}
	var err error
	if acquire.IndexUID, err = requiredIndexUID("index_uid", request.GetIndexUid()); err != nil {
		return nil, err
	}
	if acquire.ShardIDs, err = readShardIDs("shard_ids", request.GetShardIds()); err != nil {
		return nil, err
	}
	var shards []metastore.Shard
	err = s.mutate(ctx, request, shardsResource(acquire.IndexUID, acquire.SourceID), func(ctx context.Context, store metastore.Store) (err error) {
		shards, err = store.AcquireShards(ctx, acquire)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &metastorepb.AcquireShardsResponse{AcquiredShards: shardMessages(shards)}, nil
}

// DeleteShards implements MetastoreService.
func (s *service) DeleteShards(ctx context.Context, request *metastorepb.DeleteShardsRequest) (*metastorepb.DeleteShardsResponse, error) {
	deletion := metastore.DeleteShardsRequest{SourceID: request.GetSourceId(), Force: request.GetForce()}
	var err error
	if deletion.IndexUID, err = requiredIndexUID("index_uid", request.GetIndexUid()); err != nil {
		return nil, err
	}
	if deletion.ShardIDs, err = readShardIDs("shard_ids", request.GetShardIds()); err != nil {
		return nil, err
	}
	var result metastore.DeleteShardsResult
	err = s.mutate(ctx, request, shardsResource(deletion.IndexUID, deletion.SourceID), func(ctx context.Context, store metastore.Store) (err error) {
		result, err = store.DeleteShards(ctx, deletion)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &metastorepb.DeleteShardsResponse{
		IndexUid:  indexUIDMessage(deletion.IndexUID),
		SourceId:  deletion.SourceID,
		Successes: shardIDMessages(result.Deleted),
		Failures:  shardIDMessages(result.Refused),
	}, nil
}

// PruneShards implements MetastoreService. The interval is a hint for whoever calls, and is ignored.
func (s *service) PruneShards(ctx context.Context, request *metastorepb.PruneShardsRequest) (*metastorepb.EmptyResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	return s.write(ctx, request, shardsResource(indexUID, request.GetSourceId()), func(ctx context.Context, store metastore.Store) error {
		return store.PruneShards(ctx, metastore.PruneShardsRequest{
			IndexUID: indexUID,
			SourceID: request.GetSourceId(),
			MaxAge:   optionalValue(request.MaxAgeSecs),
			MaxCount: optionalValue(request.MaxCount),
		})
	})
}

// ListShards implements MetastoreService.
func (s *service) ListShards(ctx context.Context, request *metastorepb.ListShardsRequest) (*metastorepb.ListShardsResponse, error) {
	subrequests := make([]metastore.ListShardsSubrequest, len(request.GetSubrequests()))
	for i, message := range request.GetSubrequests() {
		indexUID, err := requiredIndexUID(elementField("subrequests", i, "index_uid"), message.GetIndexUid())
		if err != nil {
			return nil, err
		}
		subrequests[i] = metastore.ListShardsSubrequest{
			IndexUID: indexUID,
			SourceID: message.GetSourceId(),
			State:    readShardState(message.GetShardState()),
		}
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	lists, err := s.store.ListShards(ctx, subrequests)
	if err != nil {
		return nil, err
	}
	response := &metastorepb.ListShardsResponse{Subresponses: make([]*metastorepb.ListShardsSubresponse, len(lists))}
	for i, shards := range lists {
		response.Subresponses[i] = &metastorepb.ListShardsSubresponse{
			IndexUid: indexUIDMessage(subrequests[i].IndexUID),
			SourceId: subrequests[i].SourceID,
			Shards:   shardMessages(shards),
		}
	}
	return response, s.fitMessage(response, "ask for the shards of fewer sources at once")
}
