package postgres

import (
	"fmt"

	"holdfast/metastore"
)

// shard reads the columns of table shards behind a first column that says what was asked for: shard_id, leader_id,
// shard_state, publish_position_inclusive, publish_token, doc_mapping_uid, update_timestamp.
func (c columns) shard(indexUID metastore.IndexUID, sourceID string) (metastore.Shard, error) {
	shard := metastore.Shard{
		IndexUID:        indexUID,
		SourceID:        sourceID,
		ShardID:         c.text(1),
		IngesterID:      c.text(2),
		Position:        metastore.Position(c.text(4)),
		UpdateTimestamp: c.seconds(7),
	}
	if c[5] != nil {
		shard.PublishToken = metastore.Some(c.text(5))
	}
	var err error
	if shard.State, err = metastore.ParseShardState(c.text(3)); err != nil {
		return shard, fmt.Errorf("column shard_state of %s: %w", metastore.QueueID(indexUID, sourceID, shard.ShardID), err)
	}
	if shard.DocMappingUID, err = metastore.ParseULID(c.text(6)); err != nil {
		return shard, fmt.Errorf("column doc_mapping_uid of %s: %w", metastore.QueueID(indexUID, sourceID, shard.ShardID), err)
	}
	return shard, nil
}
