package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// StageSplits implements MetastoreService and the extension create_only. In the peer's mode the
// answer is empty, byte for byte.
func (s *service) StageSplits(ctx context.Context, request *metastorepb.StageSplitsRequest) (*metastorepb.StageSplitsResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	list, err := stagedList(request)
	if err != nil {
		return nil, err
	}
	splits, err := metastore.ParseSplitMetadataList(bytesOf(list))
	if err != nil {
		return nil, err
	}
	stage := metastore.StageSplitsRequest{IndexUID: indexUID, Splits: splits, CreateOnly: request.GetCreateOnly()}
	var result metastore.StageSplitsResult
	err = s.mutate(ctx, request, indexResource(indexUID), func(ctx context.Context, store metastore.Store) (err error) {
		result, err = store.StageSplits(ctx, stage)
		return err
	})
	if err != nil {
		return nil, err
	}
	response := &metastorepb.StageSplitsResponse{}
	if request.GetCreateOnly() {
		response.CreateOnlyApplied = true
		response.StagedSplitIds = result.Staged
		response.SkippedSplits = skippedMessages(result.Skipped)
	}
	return response, nil
}

// stagedList is the list of splits of a request. Create-only requests carry it in a field that
// servers without the extension do not see, so that these find nothing to parse and write nothing;
// in the field of the peer it is understood too, for clients of the peer's own proposal.
func stagedList(request *metastorepb.StageSplitsRequest) (string, error) {
	const extended, plain = "create_only_split_metadata_list_serialized_json", "split_metadata_list_serialized_json"
	list := request.GetCreateOnlySplitMetadataListSerializedJson()
	switch {
	case list == "":
		return request.GetSplitMetadataListSerializedJson(), nil
	case !request.GetCreateOnly():
		return "", metastore.InvalidArgument("%s is set without create_only", extended)
	case request.GetSplitMetadataListSerializedJson() != "":
		return "", metastore.InvalidArgument("%s and %s are both set", extended, plain)
	}
	return list, nil
}

func skippedMessages(skipped []metastore.SkippedSplit) []*metastorepb.SkippedSplit {
	messages := make([]*metastorepb.SkippedSplit, len(skipped))
	values := make([]metastorepb.SkippedSplit, len(skipped))
	for i, split := range skipped {
		values[i].SplitId = split.SplitID
		values[i].SplitState = split.State.String()
		messages[i] = &values[i]
	}
	return messages
}
