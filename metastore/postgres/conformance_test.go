package postgres

import (
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct {
		name     string
		prepared bool
	}{
		{"with unnamed statements", false},
		{"with prepared statements", true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			store, dsn := openStore(t, Options{PreparedStatements: mode.prepared})
			storetest.Run(t, profileOf(dsn), func(t *testing.T) metastore.Store { return store })
		})
	}
}

// profileOf describes a store on a database.
func profileOf(dsn string) storetest.Profile {
	return storetest.Profile{
		CreateTimestamp: storetest.StageTime, ParquetIDsAreGlobal: true,
		CreateWithShards: func(t *testing.T, store metastore.Store, metadata *metastore.IndexMetadata, shards []metastore.Shard) {
			request := metastore.CreateIndexRequest{Config: metadata.Config, Sources: metadata.Sources, Incarnation: metastore.Some(metadata.IndexUID.Incarnation)}
			if _, err := store.CreateIndex(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			conn := connect(t, dsn)
			for _, s := range shards {
				// With a fraction of a second, as the peer writes it.
				exec(t, conn, `INSERT INTO shards (index_uid, source_id, shard_id, leader_id, shard_state, publish_position_inclusive, publish_token, doc_mapping_uid, update_timestamp)
					VALUES ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9 + 0.25) AT TIME ZONE 'utc')`,
					s.IndexUID.String(), s.SourceID, s.ShardID, s.IngesterID, s.State.String(), string(s.Position), s.PublishToken.Value, s.DocMappingUID.String(), float64(s.UpdateTimestamp))
			}
		},
	}
}
