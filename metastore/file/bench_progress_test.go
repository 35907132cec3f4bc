package file

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// BenchmarkProgressFromClients has 16 clients make calls about progress on one index in a local directory, each client on a
// partition or on shards of its own.
func BenchmarkProgressFromClients(b *testing.B) {
	s := openOn(b, localBucket(b, filepath.Join(b.TempDir(), "store")))
	uid := createIndex(b, s, "logs")
	for _, text := range []string{`{"version":"0.9","source_id":"void","source_type":"void","params":{}}`, `{"version":"0.9","source_id":"shards","source_type":"ingest"}`} {
		source, err := indexconfig.ParseSourceConfig([]byte(text))
		if err != nil {
			b.Fatal(err)
		}
		if err := s.AddSource(b.Context(), uid, source); err != nil {
			b.Fatal(err)
		}
	}
	run := func(name string, call func(client int) error) {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(16 / runtime.GOMAXPROCS(0))
			var clients atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				client := int(clients.Add(1))
				for pb.Next() {
					if err := call(client); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
	var round atomic.Int64 // each run of a benchmark goes on behind the one before
	publish := func(source string, token metastore.Optional[string]) func(client int) error {
		return func(client int) error {
			position := metastore.Position(fmt.Sprintf("%020d", round.Add(1)))
			delta := &metastore.CheckpointDelta{SourceID: source, Partitions: map[string]metastore.PartitionDelta{fmt.Sprint(client): {From: position, To: position + "+"}}}
			return s.PublishSplits(b.Context(), metastore.PublishSplitsRequest{IndexUID: uid, Delta: delta, PublishToken: token})
		}
	}
	open := func(ids ...string) error {
		var subrequests []metastore.OpenShardSubrequest
		for _, id := range ids {
			subrequests = append(subrequests, metastore.OpenShardSubrequest{IndexUID: uid, SourceID: "shards", ShardID: id, PublishToken: metastore.Some("t")})
		}
		_, err := s.OpenShards(b.Context(), subrequests)
		return err
	}
	ten := func(client int) []string { return numbered(fmt.Sprintf("shard-%02d-", client), 10) }
	for client := range 1 + max(16, runtime.GOMAXPROCS(0)) {
		if err := open(append(ten(client), fmt.Sprint(client))...); err != nil {
			b.Fatal(err)
		}
	}
	run("publish progress of a partition", publish("void", metastore.Optional[string]{}))
	run("publish progress of a shard", publish("shards", metastore.Some("t")))
	run("open a new shard", func(int) error { return open(fmt.Sprint("new-", round.Add(1))) })
	run("open an existing shard", func(client int) error { return open(fmt.Sprint(client)) })
	run("acquire ten shards", func(client int) error {
		_, err := s.AcquireShards(b.Context(), metastore.AcquireShardsRequest{IndexUID: uid, SourceID: "shards", ShardIDs: ten(client), PublishToken: fmt.Sprintf("u%019d", round.Add(1))})
		return err
	})
}
