package cluster

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

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
	return ids
}

// TestThreeProcessesOnOneStoreAreOneCluster lets three servers of one directory find each other, kills
// one, brings it back, and stops another.
func TestThreeProcessesOnOneStoreAreOneCluster(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	store := filepath.Join(t.TempDir(), "data")
	first := start(t, binary, "--store", store, "--listen", "127.0.0.1:0", "--gossip", "127.0.0.1:0")
	join := func(grpc, gossip string) *process {
		return start(t, binary, "--store", store, "--listen", grpc, "--gossip", gossip, "--peer-seeds", first.gossip)
	}
	second, third := join("127.0.0.1:0", "127.0.0.1:0"), join("127.0.0.1:0", "127.0.0.1:0")
	waitUntilAllSeeAll(t, first, second, third)

	// What one of them writes, the others serve.
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"logs","index_uri":"file:///indexes/logs","doc_mapping":{"field_mappings":[]}}`), ulid.Make)
	require.NoError(t, err)
	_, err = second.client.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: config})
	require.NoError(t, err)
	require.Equal(t, []string{"logs"}, indexIDs(t, third))

	third.signal(t, syscall.SIGKILL)
	require.Error(t, third.wait(t))
	require.Eventually(t, func() bool {
		return !first.sees(t, third).GetLive() && !second.sees(t, third).GetLive()
	}, patience, 20*time.Millisecond, "the killed process is taken for dead")
	waitUntilAllSeeAll(t, first, second)

	// It comes back at its addresses: the same node in a new generation.
	again := join(third.grpc, third.gossip)
	require.Equal(t, third.nodeID, again.nodeID)
	require.Greater(t, again.generation, third.generation)
	waitUntilAllSeeAll(t, first, second, again)
	require.Equal(t, []string{"logs"}, indexIDs(t, again))

	second.signal(t, syscall.SIGTERM)
	require.Eventually(t, func() bool { return !first.usable(t, second) && !again.usable(t, second) }, patience, 5*time.Millisecond)
	require.True(t, first.sees(t, second).GetLive(), "it said so itself, before anybody could take it for dead")
	require.NoError(t, second.wait(t))
	waitUntilAllSeeAll(t, first, again)
}
