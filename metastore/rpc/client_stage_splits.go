package rpc

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// StageSplits implements metastore.Store. A request that does not fit into one message is refused
// with InvalidArgument before anything is sent, because a request is all or nothing.
//
// Create-only staging fails with ErrCreateOnlyUnsupported, and changes no existing row, if the server
// or a proxy on the way does not know it. Its kind is InvalidArgument where nothing was written, and Internal where
// only the confirmation is missing.
func (c *Client) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	message := &metastorepb.StageSplitsRequest{IndexUid: indexUIDMessage(request.IndexUID)}
	if request.CreateOnly {
		// The list goes where a server without the extension does not look. It finds an empty list field,
		// which is no JSON, and writes nothing; a flag alone would be ignored and rows overwritten.
		message.CreateOnly = true
		message.CreateOnlySplitMetadataListSerializedJson = metadataList(request.Splits)
	} else {
		message.SplitMetadataListSerializedJson = metadataList(request.Splits)
	}
	if size := proto.Size(message); size > c.options.MaxMessageSize {
		return metastore.StageSplitsResult{}, metastore.InvalidArgument(
			"stage splits: %d splits take %d bytes, more than the limit of %d on one message; stage them in several calls",
			len(request.Splits), size, c.options.MaxMessageSize)
	}
	if request.CreateOnly {
		return c.stageCreateOnly(ctx, message)
	}
	if _, err := c.metastore.StageSplits(ctx, message); err != nil {
		return metastore.StageSplitsResult{}, callError(ctx, "stage splits", err)
	}
	return metastore.StageSplitsResult{Mutation: len(request.Splits) > 0}, nil
}

func (c *Client) stageCreateOnly(ctx context.Context, message *metastorepb.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	if err := c.requireCreateOnly(ctx); err != nil {
		return metastore.StageSplitsResult{}, err
	}
	response, err := c.metastore.StageSplits(ctx, message, repeatable)
	if err != nil {
		err = callError(ctx, "stage splits", err)
		if foundNoList(err) {
			c.known.Store(nil)
			return metastore.StageSplitsResult{}, createOnlyUnsupported("it did not see the list of splits, so nothing was written")
		}
		return metastore.StageSplitsResult{}, err
	}
	if !response.GetCreateOnlyApplied() {
		c.known.Store(nil)
		return metastore.StageSplitsResult{}, createOnlyUnconfirmed()
	}
	result := metastore.StageSplitsResult{
		Mutation: len(response.GetStagedSplitIds()) > 0,
		Staged:   response.GetStagedSplitIds(),
	}
	for _, skipped := range response.GetSkippedSplits() {
		state, err := metastore.ParseSplitState(skipped.GetSplitState())
		if err != nil {
			return metastore.StageSplitsResult{}, metastore.Internal(err, "stage splits: state of skipped split %q", skipped.GetSplitId())
		}
		result.Skipped = append(result.Skipped, metastore.SkippedSplit{SplitID: skipped.GetSplitId(), State: state})
	}
	return result, nil
}

// foundNoList reports whether a server complains about an empty list of splits, where a complete
// JSON array was sent: it, or a proxy, has dropped the field. Peers say where their parser stopped,
// and no other text than the empty one stops it at column 0.
func foundNoList(err error) bool {
	var sent *metastore.Error
	if !errors.As(err, &sent) || sent.Kind != metastore.KindJSONDeserializeError {
		return false
	}
	const atTheVeryStart = " at line 1 column 0"
	if message := sent.Message; len(message) > len(atTheVeryStart) && message[len(message)-len(atTheVeryStart):] == atTheVeryStart {
		return true
	}
	_, ours := metastore.ParseSplitMetadataList(nil)
	return ours != nil && ours.Error() == sent.Error()
}

// metadataList is the JSON array of the documents.
func metadataList(splits []metastore.SplitMetadata) string {
	list := []byte{'['}
	for i := range splits {
		document := splits[i].Document()
		if i == 0 {
			// Documents of one request are about equally long.
			list = append(make([]byte, 0, len(splits)*(len(document)+len(document)/16+1)+2), '[')
		} else {
			list = append(list, ',')
		}
		list = append(list, document...)
	}
	return string(append(list, ']'))
}
