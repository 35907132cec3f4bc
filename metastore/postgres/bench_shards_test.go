package postgres

import (
	"context"
	"fmt"
	"testing"

	"holdfast/metastore"
)

// BenchmarkOpenShards opens one new shard a call, by 16 clients, beside calls that open one that exists.
func BenchmarkOpenShards(b *testing.B) {
	store, _ := openStore(b, Options{})
	uid := createIndexWithSource(b, store, "logs")
	open := func(id string) error {
		_, err := store.OpenShards(context.Background(), []metastore.OpenShardSubrequest{openShard(uid, id)})
		return err
	}
	compare(b, 1, 200,
		&contender{name: "new", work: func(call int) error { return open(fmt.Sprint("new-", call)) }},
		&contender{name: "existing", work: func(call int) error { return open(fmt.Sprint("old-", call%16)) }})
}

// BenchmarkAcquireShards acquires ten shards a call, each with a token newer than the one before, beside calls that repeat
// the token.
func BenchmarkAcquireShards(b *testing.B) {
	store, _ := openStore(b, Options{})
	uid := createIndexWithSource(b, store, "logs")
	var subrequests []metastore.OpenShardSubrequest
	ids := numberedIDs("shard-", 10*benchClients)
	for _, id := range ids {
		subrequests = append(subrequests, openShard(uid, id))
	}
	if _, err := store.OpenShards(context.Background(), subrequests); err != nil {
		b.Fatal(err)
	}
	acquire := func(call int, token string) error {
		from := call % benchClients * 10
		_, err := store.AcquireShards(context.Background(), metastore.AcquireShardsRequest{IndexUID: uid, SourceID: "source", ShardIDs: ids[from : from+10], PublishToken: token})
		return err
	}
	compare(b, 10, 200,
		&contender{name: "newer", work: func(call int) error { return acquire(call, fmt.Sprintf("%09d", call)) }},
		&contender{name: "same", work: func(call int) error { return acquire(call, "/") }})
}

// BenchmarkListShards lists the shards of 1,000 sources in one call, ten each, beside one source a call.
func BenchmarkListShards(b *testing.B) {
	store, dsn := openStore(b, Options{})
	uid := createIndexWithSource(b, store, "logs")
	conn := connect(b, dsn)
	exec(b, conn, `INSERT INTO shards (index_uid, source_id, shard_id, leader_id, doc_mapping_uid)
		SELECT $1, 'source-' || i % 1000, i::text, 'ingester-1', '00000000000000000000000000' FROM generate_series(1, 10000) AS i`, uid.String())
	exec(b, conn, "VACUUM ANALYZE shards")
	var subrequests []metastore.ListShardsSubrequest
	for i := range 1000 {
		subrequests = append(subrequests, metastore.ListShardsSubrequest{IndexUID: uid, SourceID: fmt.Sprint("source-", i)})
	}
	list := func(subrequests []metastore.ListShardsSubrequest) error {
		lists, err := store.ListShards(context.Background(), subrequests)
		if err == nil && len(lists[0]) != 10 {
			err = fmt.Errorf("%d shards, want 10", len(lists[0]))
		}
		return err
	}
	compare(b, 1, 64,
		&contender{name: "thousand", work: func(int) error { return list(subrequests) }},
		&contender{name: "one", work: func(call int) error { return list(subrequests[call%1000 : call%1000+1]) }})
}
