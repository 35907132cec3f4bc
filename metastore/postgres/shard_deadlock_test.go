package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// shardCall is a call that locks shards, and most of them the index row.
type shardCall string

const (
	callOpen        shardCall = "open"
	callAcquire     shardCall = "acquire"
	callPublish     shardCall = "publish"
	callDelete      shardCall = "delete"
	callPrune       shardCall = "prune"
	callSource      shardCall = "delete source"
	callDeleteIndex shardCall = "delete index"
)

// As TestCallsOnTheSameSplitsNeverDeadlock, with the calls on few shards of one hot index.
func TestCallsOnTheSameShardsNeverDeadlock(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]shardCall{
		{callOpen, callOpen},
		{callOpen, callAcquire},
		{callOpen, callPublish},
		{callOpen, callDelete},
		{callOpen, callPrune},
		{callOpen, callSource},
		{callOpen, callDeleteIndex},
		{callAcquire, callAcquire},
		{callAcquire, callPublish},
		{callAcquire, callDelete},
		{callAcquire, callSource},
		{callAcquire, callDeleteIndex},
		{callPublish, callPublish},
		{callPublish, callDelete},
		{callPublish, callPrune},
		{callPublish, callSource},
		{callPublish, callDeleteIndex},
		{callDelete, callDelete},
		{callDelete, callPrune},
		{callDelete, callDeleteIndex},
		{callPrune, callPrune},
		{callPrune, callSource},
	} {
		t.Run(fmt.Sprintf("%s and %s", pair[0], pair[1]), func(t *testing.T) {
			dsn := ready.Database(t)
			withoutDurability(t, dsn)
			runShardStorm(t, dsn, pair)
			if n := deadlocks(t, dsn); n != 0 {
				t.Errorf("PostgreSQL counted %d deadlocks", n)
			}
		})
	}
}

// shardStorm is an index whose shards many clients change.
type shardStorm struct {
	t      *testing.T
	store  *Store
	ids    []string
	uid    atomic.Pointer[metastore.IndexUID]
	source *indexconfig.SourceConfig
}

func runShardStorm(t *testing.T, dsn string, pair [2]shardCall) {
	s := &shardStorm{t: t, store: reopenStore(t, Options{DSN: dsn, MaxConns: stormClients}), ids: numberedIDs("shard-", 16)}
	uid := createIndexWithSource(t, s.store, "storm")
	s.uid.Store(&uid)
	metadata, err := s.store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexUID: metastore.Some(uid)})
	if err != nil {
		t.Fatal(err)
	}
	s.source = metadata.Sources[0]
	calls, atMost := stormLimits()
	var left atomic.Int64
	left.Store(calls)
	end := time.Now().Add(atMost)
	var group sync.WaitGroup
	for client := range stormClients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			for left.Add(-1) >= 0 && time.Now().Before(end) {
				call := pair[client%2]
				if random.IntN(4) == 0 {
					call = callOpen // soon there would be no shards
				}
				if err := s.call(call, random); err != nil {
					t.Errorf("%s: %v", call, err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := s.store.Close(); err != nil {
		t.Error(err)
	}
}

// call makes one call and returns an error that the other calls do not explain.
func (s *shardStorm) call(call shardCall, random *rand.Rand) error {
	ctx := context.Background()
	uid := *s.uid.Load()
	token := fmt.Sprintf("/%d", random.IntN(3)) // any may acquire
	var ids []string
	for _, i := range random.Perm(len(s.ids))[:1+random.IntN(len(s.ids)-1)] {
		ids = append(ids, s.ids[i])
	}
	var err error
	switch call {
	case callOpen:
		subrequests := make([]metastore.OpenShardSubrequest, len(ids))
		for i, id := range ids {
			subrequests[i] = openShard(uid, id)
			subrequests[i].PublishToken = metastore.Some(token)
		}
		_, err = s.store.OpenShards(ctx, subrequests)
	case callAcquire:
		_, err = s.store.AcquireShards(ctx, metastore.AcquireShardsRequest{IndexUID: uid, SourceID: "source", ShardIDs: ids, PublishToken: token})
	case callPublish:
		delta := &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{}}
		for _, id := range ids[:min(2, len(ids))] {
			delta.Partitions[id] = metastore.PartitionDelta{From: metastore.Beginning, To: "1"}
		}
		err = s.store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, Delta: delta, PublishToken: metastore.Some(token)})
	case callDelete:
		_, err = s.store.DeleteShards(ctx, metastore.DeleteShardsRequest{IndexUID: uid, SourceID: "source", ShardIDs: ids, Force: true})
	case callPrune:
		err = s.store.PruneShards(ctx, metastore.PruneShardsRequest{IndexUID: uid, SourceID: "source", MaxCount: metastore.Some(uint32(len(ids)))})
	case callSource:
		if err = s.store.DeleteSource(ctx, uid, "source"); err == nil {
			err = s.store.AddSource(ctx, uid, s.source)
		}
	case callDeleteIndex:
		if err = s.store.DeleteIndex(ctx, uid); err == nil {
			again := createIndexWithSource(s.t, s.store, "storm")
			s.uid.Store(&again)
		}
	}
	for _, expected := range []error{
		metastore.ErrNotFound, metastore.ErrAlreadyExists, metastore.ErrInvalidArgument, &metastore.Error{Kind: metastore.KindInvalidPublishToken},
	} {
		if errors.Is(err, expected) {
			return nil
		}
	}
	return err
}
