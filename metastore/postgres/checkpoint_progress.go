package postgres

import (
	"maps"
	"slices"

	"holdfast/metastore"
)

// progress is the part of a publishing transaction that makes the progress of checkpoint deltas: in the metadata of
// the index, or in shards. Any number of publishes of one index may share it; each sees the progress of those before
// it. A call that publishes uses it so within changeLocked:
//
//	lock:   the queries of progress.lock, then the call's own locking reads
//	decide: advance, err := progress.check(delta, token); then the call's own checks; then, if the call takes place,
//	        advance(); at last the queries of progress.write, then the call's own changes
type progress struct {
	index  lockedIndex
	wanted []shardKey // the shards to lock
	// shards holds those of them that exist, as the publishes before have left them.
	shards map[shardKey]*metastore.Shard

	indexChanged bool
	moved        map[shardKey]metastore.Position
}

type shardKey struct{ sourceID, shardID string }

// deltaOfPublish is what a publish says about its progress. The delta may be nil; it must have been validated.
type deltaOfPublish struct {
	delta *metastore.CheckpointDelta
	token metastore.Optional[string]
}

func newProgress(uid metastore.IndexUID, deltas ...deltaOfPublish) *progress {
	p := &progress{index: lockedIndex{uid: uid}}
	for _, d := range deltas {
		// Without a token a source that uses shards is refused before they are looked at.
		if d.delta == nil || !d.token.Set {
			continue
		}
		for id := range d.delta.Partitions {
			// What PostgreSQL cannot hold is no shard.
			if isStorable(id) && isStorable(d.delta.SourceID) {
				p.wanted = append(p.wanted, shardKey{d.delta.SourceID, id})
			}
		}
	}
	return p
}

// lock locks and reads the index row and then the shards. It begins anew.
func (p *progress) lock() []query {
	p.shards, p.moved, p.indexChanged = map[shardKey]*metastore.Shard{}, map[shardKey]metastore.Position{}, false
	queries := []query{p.index.lock()}
	if len(p.wanted) == 0 {
		return queries
	}
	return append(queries, query{
		sql:  lockShardsSQL,
		args: p.shardArguments(p.wanted),
		row: func(row columns) error {
			shard := &metastore.Shard{IndexUID: p.index.uid, SourceID: row.text(0), ShardID: row.text(1), Position: metastore.Position(row.text(2))}
			if row[3] != nil {
				shard.PublishToken = metastore.Some(row.text(3))
			}
			p.shards[shardKey{shard.SourceID, shard.ShardID}] = shard
			return nil
		},
	})
}

// check checks that a publish may take place as far as the index and its delta are concerned. The returned function
// makes its progress.
func (p *progress) check(d deltaOfPublish) (advance func(), err error) {
	index := p.index.metadata
	switch {
	case index == nil:
		return nil, metastore.NotFound(metastore.IndexEntity(p.index.uid.IndexID))
	case d.delta == nil:
		return func() {}, nil
	}
	inShards, err := d.delta.CheckSource(index, d.token)
	if err != nil {
		return nil, err
	}
	if !inShards {
		updated, changed, err := index.WithDelta(d.delta)
		return func() {
			p.index.metadata = updated
			p.indexChanged = p.indexChanged || changed
		}, err
	}
	find := func(shardID string) *metastore.Shard { return p.shards[shardKey{d.delta.SourceID, shardID}] }
	err = d.delta.CheckShards(p.index.uid, d.token.Value, find)
	return func() {
		for id, position := range d.delta.Positions() {
			find(id).Position = position
			p.moved[shardKey{d.delta.SourceID, id}] = position
		}
	}, err
}

// write writes the progress that was made, if any.
func (p *progress) write() []query {
	var queries []query
	if p.indexChanged {
		queries = append(queries, p.index.write())
	}
	if len(p.moved) > 0 {
		keys := slices.Collect(maps.Keys(p.moved))
		positions := textArrayOf(len(keys), func(i int) string { return string(p.moved[keys[i]]) })
		queries = append(queries, query{sql: publishShardsSQL, args: append(p.shardArguments(keys), positions)})
	}
	return queries
}

func (p *progress) shardArguments(keys []shardKey) [][]byte {
	return [][]byte{
		textArgument(p.index.uid.String()),
		textArrayOf(len(keys), func(i int) string { return keys[i].sourceID }),
		textArrayOf(len(keys), func(i int) string { return keys[i].shardID }),
	}
}
