package rpc

import (
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/proto/commonpb"
	"holdfast/proto/ingestpb"
)

// requiredShardID reads a field that must be present. A message that is present but empty is the empty id.
func requiredShardID(field string, message *ingestpb.ShardId) (string, error) {
	if message == nil {
		return "", metastore.InvalidArgument("%s is missing", field)
	}
	if !utf8.Valid(message.GetShardId()) {
		return "", metastore.InvalidArgument("%s.shard_id is not valid UTF-8", field)
	}
	return string(message.GetShardId()), nil
}

func readShardIDs(field string, messages []*ingestpb.ShardId) ([]string, error) {
	ids := make([]string, len(messages))
	for i, message := range messages {
		var err error
		if ids[i], err = requiredShardID(element(field, i), message); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// requiredDocMappingUID reads a field that must be present. A message that is present but empty is the nil ULID.
func requiredDocMappingUID(field string, message *commonpb.DocMappingUid) (ulid.ULID, error) {
	if message == nil {
		return ulid.ULID{}, metastore.InvalidArgument("%s is missing", field)
	}
	return readULID(field+".doc_mapping_uid", message.GetDocMappingUid())
}

// shardIDMessage always writes the id, also when it is empty, as the peer does.
func shardIDMessage(id string) *ingestpb.ShardId { return &ingestpb.ShardId{ShardId: []byte(id)} }

func shardIDMessages(ids []string) []*ingestpb.ShardId {
	messages := make([]*ingestpb.ShardId, len(ids))
	for i, id := range ids {
		messages[i] = shardIDMessage(id)
	}
	return messages
}

func docMappingUIDMessage(uid ulid.ULID) *commonpb.DocMappingUid {
	return &commonpb.DocMappingUid{DocMappingUid: uid.Bytes()}
}

// shardMessage sets every field that the peer's clients cannot do without: they crash where a message is absent.
func shardMessage(shard *metastore.Shard) *ingestpb.Shard {
	return &ingestpb.Shard{
		IndexUid:                 indexUIDMessage(shard.IndexUID),
		SourceId:                 shard.SourceID,
		ShardId:                  shardIDMessage(shard.ShardID),
		IngesterId:               shard.IngesterID,
		ShardState:               ingestpb.ShardState(shard.State),
		PublishPositionInclusive: &ingestpb.Position{Position: []byte(shard.Position)},
		PublishToken:             optionalText(shard.PublishToken),
		DocMappingUid:            docMappingUIDMessage(shard.DocMappingUID),
		UpdateTimestamp:          shard.UpdateTimestamp,
	}
}

func shardMessages(shards []metastore.Shard) []*ingestpb.Shard {
	messages := make([]*ingestpb.Shard, len(shards))
	for i := range shards {
		messages[i] = shardMessage(&shards[i])
	}
	return messages
}

// readShard reads a shard in an answer.
func readShard(field string, message *ingestpb.Shard) (shard metastore.Shard, err error) {
	if message == nil {
		return shard, metastore.InvalidArgument("%s is missing", field)
	}
	if shard.IndexUID, err = requiredIndexUID(field+".index_uid", message.IndexUid); err != nil {
		return shard, err
	}
	if shard.ShardID, err = requiredShardID(field+".shard_id", message.ShardId); err != nil {
		return shard, err
	}
	if shard.DocMappingUID, err = requiredDocMappingUID(field+".doc_mapping_uid", message.DocMappingUid); err != nil {
		return shard, err
	}
	shard.SourceID = message.GetSourceId()
	shard.IngesterID = message.GetIngesterId()
	shard.State = readShardState(message.GetShardState())
	shard.Position = metastore.Position(message.GetPublishPositionInclusive().GetPosition())
	shard.PublishToken = optionalString(message.PublishToken)
	shard.UpdateTimestamp = message.GetUpdateTimestamp()
	return shard, nil
}

func readShards(field string, messages []*ingestpb.Shard) ([]metastore.Shard, error) {
	shards := make([]metastore.Shard, len(messages))
	for i, message := range messages {
		var err error
		if shards[i], err = readShard(element(field, i), message); err != nil {
			return nil, err
		}
	}
	return shards, nil
}

// readShardState takes numbers outside the enum for unspecified, as the peer does.
func readShardState(state ingestpb.ShardState) metastore.ShardState {
	if _, known := ingestpb.ShardState_name[int32(state)]; !known {
		return metastore.ShardUnspecified
	}
	return metastore.ShardState(state)
}
