package file

import (
	"holdfast/metastore"
)

// newShards returns open shards of source "source", the first with a token.
func newShards(uid metastore.IndexUID, ids ...string) []*metastore.Shard {
	shards := make([]*metastore.Shard, len(ids))
	for i, id := range ids {
		shards[i] = &metastore.Shard{IndexUID: uid, SourceID: "source", ShardID: id, IngesterID: "node-1", State: metastore.ShardOpen, UpdateTimestamp: 1796036479}
		if i == 0 {
			shards[i].PublishToken = metastore.Some("token")
		}
	}
	return shards
}
