package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// stageParquet stages splits of one kind, named by their number, in the index of the fixture.
func stageParquet(t *testing.T, s *server, kind metastore.ParquetKind, from, to int) (uid metastore.IndexUID, ids []string) {
	t.Helper()
	client := s.client(t, rpc.ClientOptions{})
	index, err := client.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("web-access")})
	require.NoError(t, err)
	var splits []metastore.ParquetSplitMetadata
	for i := from; i < to; i++ {
		id := fmt.Sprintf("%s-%04d", strings.ToLower(kind.String()), i)
		ids = append(ids, id)
		splits = append(splits, metastore.ParquetSplitMetadata{
			Kind: kind, SplitID: id, IndexUID: index.IndexUID.String(), TimeStart: 1_780_000_000, TimeEnd: 1_780_000_900, NumRows: 12345, SizeBytes: 3 << 20,
			MetricNames: []string{"cpu.usage", "cpu.idle"}, CreatedSeconds: 1_780_000_950, ParquetFile: id + ".parquet", NumMergeOps: 1,
		})
	}
	require.NoError(t, client.StageParquetSplits(t.Context(), kind, index.IndexUID, splits))
	return index.IndexUID, ids
}

func TestSplitListOfParquetSplitsWritesWhatItsGoldenFilesHold(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-time.Minute)
	s := withWebAccess(t)
	uid, ids := stageParquet(t, s, metastore.MetricsSplits, 0, 3)
	stageParquet(t, s, metastore.SketchSplits, 0, 1)
	client := s.client(t, rpc.ClientOptions{})
	require.NoError(t, client.PublishParquetSplits(t.Context(), metastore.MetricsSplits, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[:2]}))
	n := &normalizer{server: s.grpc, start: start, incarnation: uid.Incarnation.String()}
	for name, args := range map[string][]string{
		"metrics":   {"--kind", "metrics"},
		"sketches":  {"--kind", "Sketches"},
		"json":      {"--kind", "metrics", "--format", "json"},
		"published": {"--kind", "metrics", "--state", "published"},
		"limit":     {"--kind", "metrics", "--limit", "1"},
		"none":      {"--kind", "metrics", "--limit", "0"},
		"ordinary":  nil,
	} {
		args = append([]string{"split", "list", "--index", "web-access"}, args...)
		r := s.run(t, args...)
		checkGolden(t, filepath.Join("testdata", "golden", "parquet-list", name+".txt"),
			n.clean(fmt.Sprintf("$ metastore %s\n%sexit status %d\n", strings.Join(args, " "), r.stdout+r.stderr, r.status)))
	}
	r := s.run(t, "split", "list", "--index", "nowhere", "--kind", "metrics")
	require.Equal(t, exitFailure, r.status)
	require.Regexp(t, regexp.MustCompile(`look up index "nowhere": index .*nowhere.* not found`), r.stderr)
}

func TestSplitListReadsParquetSplitsPageByPage(t *testing.T) {
	t.Parallel()
	s := withWebAccess(t)
	const total = 2 * parquetPage
	_, ids := stageParquet(t, s, metastore.MetricsSplits, 0, total)
	for _, limit := range []int{total, total - 1, parquetPage + 1, parquetPage, total + 5} {
		var rows []struct {
			Metadata struct {
				SplitID string `json:"split_id"`
			} `json:"metadata"`
		}
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, "split", "list", "--index", "web-access", "--kind", "metrics", "--limit", fmt.Sprint(limit), "--format", "json")), &rows))
		var got []string
		for _, row := range rows {
			got = append(got, row.Metadata.SplitID)
		}
		require.Equal(t, ids[:min(limit, total)], got)
	}
}
