package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// ListStaleSplits implements MetastoreService. The answer is one message with one JSON array. One that would be larger
// than a message may be is refused as soon as that is known.
func (s *service) ListStaleSplits(ctx context.Context, request *metastorepb.ListStaleSplitsRequest) (*metastorepb.ListSplitsResponse, error) {
	indexUID, err := requiredIndexUID("index_uid", request.GetIndexUid())
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	array, rows := []byte{'['}, 0
	limit := s.options.MaxMessageSize - listMessageOverhead
	query := metastore.StaleSplitsQuery{IndexUID: indexUID, DeleteOpstamp: request.GetDeleteOpstamp(), Limit: request.GetNumSplits()}
	err = s.store.ListStaleSplits(ctx, query, func(row *metastore.SplitRow) error {
		if rows > 0 {
			array = append(array, ',')
		}
		array = row.AppendJSON(array)
		if len(array)+len("]") > limit {
			return metastore.InvalidArgument("num_splits is %d, but more than %d splits take more than the limit of %d bytes on one message: ask for fewer",
				query.Limit, rows, s.options.MaxMessageSize)
		}
		rows++
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &metastorepb.ListSplitsResponse{SplitsSerializedJson: string(append(array, ']'))}, nil
}
