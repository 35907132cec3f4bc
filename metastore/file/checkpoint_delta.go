package file

import "holdfast/metastore"

// progressOps returns the operations that make the progress of a checkpoint delta on a state with an index, or why
// the delta is refused. A nil delta makes none. Every call that publishes takes them before its own operations; the
// delta must have been validated.
func progressOps(state *indexState, delta *metastore.CheckpointDelta, token metastore.Optional[string]) ([]op, error) {
	if delta == nil {
		return nil, nil
	}
	inShards, err := delta.CheckSource(state.index, token)
	if err != nil || len(delta.Partitions) == 0 {
		return nil, err
	}
	if !inShards {
		if _, _, err := state.index.WithDelta(delta); err != nil {
			return nil, err
		}
		return []op{checkpointOp{sourceID: delta.SourceID, positions: delta.Positions()}}, nil
	}
	find := func(shardID string) *metastore.Shard { return state.shards.get(delta.SourceID, shardID) }
	if err := delta.CheckShards(state.index.IndexUID, token.Value, find); err != nil {
		return nil, err
	}
	progress := publishShardsOp{sourceID: delta.SourceID}
	for _, id := range delta.PartitionIDs() {
		progress.positions = append(progress.positions, shardPosition{shardID: id, position: delta.Partitions[id].To})
	}
	return []op{progress}, nil
}

// progressBytes is about what progressOps adds to an entry.
func progressBytes(delta *metastore.CheckpointDelta) int {
	bytes := 0
	if delta != nil {
		bytes = len(delta.SourceID)
		for id, partition := range delta.Partitions {
			bytes += len(id) + len(partition.To) + 40
		}
	}
	return bytes
}
