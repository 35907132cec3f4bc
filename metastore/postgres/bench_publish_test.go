package postgres

import (
	"context"
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
