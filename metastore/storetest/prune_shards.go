package storetest

import (
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// pruneShardsCases are about pruning shards that are old, which no call can make.
func pruneShardsCases() []testCase {
	no := metastore.Optional[uint32]{}
	return []testCase{
		{"I-92 to I-95 pruning goes by age and by count, whatever the state of a shard", func(b *bundle) {
			// 50 s to spare on either side of each limit.
			const most, apart = 100, 100
			oldest := b.storeTimeNow() - most*apart
			uid := metastore.IndexUID{IndexID: b.indexID("a"), Incarnation: ulid.Make()}
			var shards []metastore.Shard
			for i := range int64(most) {
				shard := metastore.Shard{
					IndexUID: uid, SourceID: ingestSourceID, ShardID: fmt.Sprintf("%02d", i), IngesterID: "ingester-1", State: metastore.ShardClosed, Position: "~00000000000000000007",
					PublishToken: metastore.Some(planToken), DocMappingUID: someDocMappingUID, UpdateTimestamp: oldest + i*apart,
				}
				if i%2 == 0 {
					shard.State, shard.Position = metastore.ShardOpen, metastore.Beginning
				}
				shards = append(shards, shard)
			}
			b.createWithShards(uid, shards)
			b.wantShards(b.shards(uid), shards...)
			for _, c := range []struct {
				maxAge, maxCount metastore.Optional[uint32]
				left             int // the latest
			}{
				{no, no, 100},
				{metastore.Some[uint32](9650), no, 96},
				{no, metastore.Some[uint32](90), 90},
				{metastore.Some[uint32](7050), metastore.Some[uint32](80), 70}, // by age
				{metastore.Some[uint32](6050), metastore.Some[uint32](50), 50}, // by count
				{metastore.Some[uint32](1<<32 - 1), metastore.Some[uint32](1<<32 - 1), 50},
			} {
				b.prune(uid, c.maxAge, c.maxCount)
				b.wantShards(b.shards(uid), shards[most-c.left:]...)
			}
		}},
	}
}

// createWithShards creates an index that has shards of the ingest source as they are.
func (b *bundle) createWithShards(uid metastore.IndexUID, shards []metastore.Shard) {
	b.Helper()
	b.profile.CreateWithShards(b.T, b.store, &metastore.IndexMetadata{
		IndexUID: uid, Config: b.configOf(uid.IndexID), Checkpoint: metastore.IndexCheckpoint{ingestSourceID: {}}, CreateTimestamp: payloadCreated,
		Sources: []*indexconfig.SourceConfig{b.sourceOf(ingestSource)},
	}, shards)
}

// PeerDocument is the document that the peer's file-backed store keeps of an index that has shards of one source and no splits.
func PeerDocument(metadata *metastore.IndexMetadata, shards []metastore.Shard) string {
	documents := make([]string, len(shards))
	for i := range shards {
		documents[i] = string(shards[i].AppendJSON(nil))
	}
	return fmt.Sprintf(`{"version":"0.9","index":%s,"splits":[],"shards":{%q:[%s]},"delete_tasks":[]}`, metadata.AppendJSON(nil), shards[0].SourceID, strings.Join(documents, ","))
}
