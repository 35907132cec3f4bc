package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

// withShards opens three shards of two sources of the index of the fixture, one of them with a token.
func withShards(t *testing.T, s *server) {
	t.Helper()
	client, err := rpc.Dial(s.grpc, rpc.ClientOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	index, err := client.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("web-access")})
	require.NoError(t, err)
	for _, id := range []string{"ingest-a", "ingest-b", "ingest-c"} {
		source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"` + id + `","source_type":"ingest"}`))
		require.NoError(t, err)
		require.NoError(t, client.AddSource(t.Context(), index.IndexUID, source))
	}
	shard := metastore.OpenShardSubrequest{IndexUID: index.IndexUID, SourceID: "ingest-b", ShardID: "shard-2", IngesterID: "ingester-1"}
	others := [2]metastore.OpenShardSubrequest{shard, shard}
	others[0].ShardID = "shard-1"
	others[1].SourceID, others[1].PublishToken = "ingest-a", metastore.Some("01J00000000000000000000002-node-5")
	_, err = client.OpenShards(t.Context(), []metastore.OpenShardSubrequest{shard, others[0], others[1]})
	require.NoError(t, err)
	require.NoError(t, client.PublishSplits(t.Context(), metastore.PublishSplitsRequest{
		IndexUID: index.IndexUID, PublishToken: others[1].PublishToken,
		Delta: &metastore.CheckpointDelta{SourceID: "ingest-a", Partitions: map[string]metastore.PartitionDelta{"shard-2": {To: "~00000000000000000912"}}},
	}))
}

func TestShardListWritesWhatItsGoldenFilesHold(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-time.Minute)
	s := withWebAccess(t)
	uid := regexp.MustCompile(`web-access:\w{26}`).FindString(s.ok(t, "index", "describe", "web-access"))
	n := &normalizer{server: s.grpc, start: start, incarnation: strings.TrimPrefix(uid, "web-access:")}
	session := func(name string, args ...string) {
		t.Helper()
		r := s.run(t, args...)
		checkGolden(t, filepath.Join("testdata", "golden", "shard-list-"+name+".txt"),
			n.clean(fmt.Sprintf("$ metastore %s\n%sexit status %d\n", strings.Join(args, " "), r.stdout+r.stderr, r.status)))
	}
	session("none", "shard", "list", "--index", "web-access")
	withShards(t, s)
	session("all", "shard", "list", "--index", "web-access")
	session("json", "shard", "list", "--index", "web-access", "--format", "json")
	session("source", "shard", "list", "--index", "web-access", "--source", "ingest-b")
	session("empty-source", "shard", "list", "--index", "web-access", "--source", "ingest-c")
	session("unknown-source", "shard", "list", "--index", "web-access", "--source", "nope")
	session("unknown-index", "shard", "list", "--index", "nowhere")
	session("no-index", "shard", "list")
	for _, path := range []string{"shard", "shard list"} {
		r := execute(t, &system{}, append(strings.Fields(path), "--help")...)
		checkGolden(t, filepath.Join("testdata", "golden", "help", strings.ReplaceAll("metastore "+path, " ", "-")+".txt"), r.stdout)
	}
}
