package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"holdfast/metastore"
)

// BenchmarkPublishOnOneIndex publishes one split in each call, all of one index. The last way is the one update that
// a program without a metastore would send.
func BenchmarkPublishOnOneIndex(b *testing.B) {
	const calls = 800
	splits := sizeFromEnvironment(b, "HOLDFAST_BENCH_PUBLISHES", 10_000)
	publishWith := func(name string, options Options) *contender {
		store, uid := benchStore(b, options)
		ids := fill(b, store, uid, splits)
		return &contender{name: name, work: func(call int) error {
			return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[call : call+1]})
		}}
	}
	other, uid := benchStore(b, Options{})
	ids := fill(b, other, uid, splits)
	pool := pgxPool(b, other.options.DSN)
	compare(b, 1, calls,
		publishWith("store", Options{}),
		publishWith("prepared", Options{PreparedStatements: true}),
		&contender{name: "pgx", work: func(call int) error {
			_, err := pool.Exec(context.Background(), `UPDATE splits SET split_state = 'Published', update_timestamp = now(), publish_timestamp = now()
				WHERE index_uid = $1 AND split_id = $2 AND split_state = 'Staged'`, uid.String(), ids[call])
			return err
		}},
	)
}

// BenchmarkPublishWithProgressOnOneIndex publishes one split in each call, with the progress of a partition or a shard that
// no other call moves, all of one index. Beside the calls that share transactions are such that do not, as if each client
// had a server of its own; and publishes without progress.
func BenchmarkPublishWithProgressOnOneIndex(b *testing.B) {
	const calls = 200
	splits := sizeFromEnvironment(b, "HOLDFAST_BENCH_PUBLISHES", 20_000)
	store, dsn := openStore(b, Options{})
	metadata, err := store.CreateIndex(b.Context(), createRequest(b, "logs", voidSource))
	if err != nil {
		b.Fatal(err)
	}
	uid, sharded := metadata.IndexUID, createIndexWithSource(b, store, "sharded")
	ids, shardedIDs := fill(b, store, uid, splits), fill(b, store, sharded, splits)
	const numShards = 1000
	exec(b, connect(b, dsn), `INSERT INTO shards (index_uid, source_id, shard_id, leader_id, publish_token, doc_mapping_uid)
		SELECT $1, 'source', i::text, 'ingester-1', 'token', '00000000000000000000000000' FROM generate_series(0, $2 - 1) AS i`, sharded.String(), numShards)
	var next, nextSharded atomic.Int64
	progress := func(store *Store) error {
		call := next.Add(1)
		position := metastore.Position(fmt.Sprintf("%020d", call))
		return store.PublishSplits(context.Background(), progressOf(uid, fmt.Sprint(call%512), position, position+"1", ids[call]))
	}
	servers := make(chan *Store, benchClients)
	for range benchClients {
		servers <- reopenStore(b, Options{DSN: dsn, MaxConns: 1})
	}
	compare(b, 1, calls,
		&contender{name: "together", work: func(int) error { return progress(store) }},
		&contender{name: "apart", work: func(int) error {
			server := <-servers
			defer func() { servers <- server }()
			return progress(server)
		}},
		&contender{name: "shards", work: func(int) error {
			call := nextSharded.Add(1)
			position := metastore.Position(fmt.Sprintf("%020d", call))
			request := progressOf(sharded, fmt.Sprint(call%numShards), position, position+"1", shardedIDs[call])
			return store.PublishSplits(context.Background(), request)
		}},
		&contender{name: "without", work: func(int) error {
			call := next.Add(1)
			return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[call : call+1]})
		}},
	)
}
