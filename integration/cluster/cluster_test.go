package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/integration/binary"
	"holdfast/integration/objectstore"
	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func createIndex(t *testing.T, p *process, id string) {
	t.Helper()
	config, err := indexconfig.ParseIndexConfig(fmt.Appendf(nil, `{"version":"0.9","index_id":%q,"index_uri":"file:///indexes/%s","doc_mapping":{"field_mappings":[]}}`, id, id), ulid.Make)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = p.client.CreateIndex(ctx, metastore.CreateIndexRequest{Config: config})
	require.NoError(t, err)
}

func indexIDs(t *testing.T, p *process) []string {
	t.Helper()
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	indexes, err := p.client.ListIndexesMetadata(ctx, patterns)
	require.NoError(t, err)
	var ids []string
	for _, index := range indexes {
		ids = append(ids, index.IndexUID.IndexID)
	}
	slices.Sort(ids)
	return ids
}

// place is a store that several servers open.
type place struct {
	url         string
	environment []string
}

func TestThreeProcessesOnOneStoreAreOneCluster(t *testing.T) {
	t.Parallel()
	metastoreBinary := binary.Build(t)
	for i, store := range []struct {
		name string
		make func(t *testing.T) place
	}{
		{"directory", func(t *testing.T) place { return place{url: filepath.Join(t.TempDir(), "data")} }},
		{"PostgreSQL database", func(t *testing.T) place {
			dsn := pgtest.Database(t)
			_, err := postgres.Migrate(t.Context(), dsn, postgres.MigrateOptions{})
			require.NoError(t, err)
			return place{url: dsn}
		}},
		{"bucket", func(t *testing.T) place {
			bucket := objectstore.S3(t)
			return place{bucket.URL, bucket.Environment}
		}},
	} {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			// Each member has an address of its own, from which no connection goes out: nobody takes the ports of one that was killed.
			address := func(member int) string { return fmt.Sprintf("127.71.%d.%d:0", 1+i, member) }
			testCluster(t, metastoreBinary, store.make(t), address)
		})
	}
}

// testCluster lets three servers of one store find each other, kills one, brings it back, and stops another. address is where
// a member listens, the first time.
func testCluster(t *testing.T, binary string, store place, address func(member int) string) {
	first := start(t, binary, store, "--listen", address(1), "--gossip", address(1))
	join := func(grpc, gossip string) *process {
		return start(t, binary, store, "--listen", grpc, "--gossip", gossip, "--peer-seeds", first.gossip)
	}
	second, third := join(address(2), address(2)), join(address(3), address(3))
	require.NotEqual(t, first.nodeID, second.nodeID)
	require.NotEqual(t, first.nodeID, third.nodeID)
	require.NotEqual(t, second.nodeID, third.nodeID)
	waitUntilAllSeeAll(t, first, second, third)

	// What one of them writes, the others serve.
	createIndex(t, second, "logs")
	require.Equal(t, []string{"logs"}, indexIDs(t, third))
	createIndex(t, third, "traces")
	require.Equal(t, []string{"logs", "traces"}, indexIDs(t, first))

	third.signal(t, syscall.SIGKILL)
	require.Error(t, third.wait(t))
	// The others go on at once, whatever they know of its death, and notice it.
	createIndex(t, first, "metrics")
	require.Equal(t, []string{"logs", "metrics", "traces"}, indexIDs(t, second))
	require.Eventually(t, func() bool {
		return !first.sees(t, third).GetLive() && !second.sees(t, third).GetLive()
	}, patience, 20*time.Millisecond, "the killed process is taken for dead")
	waitUntilAllSeeAll(t, first, second)

	third = restarted(t, third, join)
	waitUntilAllSeeAll(t, first, second, third)
	require.Equal(t, []string{"logs", "metrics", "traces"}, indexIDs(t, third))

	second.signal(t, syscall.SIGTERM)
	require.Eventually(t, func() bool { return !first.usable(t, second) && !third.usable(t, second) }, patience, 5*time.Millisecond)
	require.True(t, first.sees(t, second).GetLive(), "it said so itself, before anybody could take it for dead")
	require.NoError(t, second.wait(t))
	waitUntilAllSeeAll(t, first, third)
	createIndex(t, third, "audit")

	second = restarted(t, second, join)
	waitUntilAllSeeAll(t, first, second, third)
	require.Equal(t, []string{"audit", "logs", "metrics", "traces"}, indexIDs(t, second))
}

// restarted brings a process back at its addresses: the same node in a new generation.
func restarted(t *testing.T, p *process, join func(grpc, gossip string) *process) *process {
	t.Helper()
	again := join(p.grpc, p.gossip)
	require.Equal(t, p.nodeID, again.nodeID)
	require.Greater(t, again.generation, p.generation)
	return again
}
