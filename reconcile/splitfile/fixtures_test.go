package splitfile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// truth is what a real metastore held at one instant about the split files of an index. The files
// below testdata were written by a real server.
type truth struct {
	set, index string
	// afterDeletes is whether a delete task was applied: the metastore then raised the opstamp of the
	// splits in which there was nothing to delete, without writing their files anew.
	afterDeletes bool
	objects      []string
	rows         map[string]metastore.SplitMetadata
	// columnCreateTimestamp is what a store answers instead of the split's own create_timestamp.
	columnCreateTimestamp map[string]int64
}

// readTruths reads the truths of a set: main, trailer or legacy.
func readTruths(t *testing.T, set string) []truth {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", set, "*truth.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var truths []truth
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var document struct {
			Objects []string                     `json:"objects"`
			Rows    []map[string]json.RawMessage `json:"rows"`
		}
		require.NoError(t, json.Unmarshal(text, &document))
		index, _, _ := strings.Cut(filepath.Base(path), ".")
		one := truth{set: set, index: index, afterDeletes: strings.Contains(path, "after-deletes"), objects: document.Objects, rows: map[string]metastore.SplitMetadata{}, columnCreateTimestamp: map[string]int64{}}
		for _, row := range document.Rows {
			// What is no part of the split's metadata: the state, and the columns of a database. Among
			// them is a create_timestamp that a listing shows instead of the split's own.
			var column int64
			if text, ok := row["column_create_timestamp"]; ok {
				require.NoError(t, json.Unmarshal(text, &column))
			}
			for key := range row {
				if strings.HasPrefix(key, "column_") || slices.Contains([]string{"split_state", "update_timestamp", "publish_timestamp"}, key) {
					delete(row, key)
				}
			}
			text, err := json.Marshal(row)
			require.NoError(t, err)
			m, err := metastore.ParseSplitMetadata(text)
			require.NoError(t, err)
			one.rows[m.SplitID] = m
			one.columnCreateTimestamp[m.SplitID] = column
		}
		truths = append(truths, one)
	}
	return truths
}

func (tr *truth) path(id string) string {
	return filepath.Join("testdata", tr.set, tr.index, id+".split")
}

// openFixture opens a file from the file system.
func openFixture(t *testing.T, path string, options splitfile.Options) (*splitfile.File, *splitfiletest.Recorder) {
	t.Helper()
	local, err := splitfile.OpenLocalFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	id, ok := splitfile.SplitID(filepath.ToSlash(path))
	require.True(t, ok)
	options.SplitID = id
	recorder := &splitfiletest.Recorder{Reader: local}
	f, err := splitfile.Open(t.Context(), recorder, options)
	require.NoError(t, err)
	return f, recorder
}

func TestARealFileGivesTheRowThatTheMetastoreHeld(t *testing.T) {
	t.Parallel()
	for set, trailer := range map[string]bool{"main": false, "trailer": true} {
		for _, tr := range readTruths(t, set) {
			for _, id := range tr.objects {
				t.Run(fmt.Sprintf("%s/%s/after deletes %t/%s", set, tr.index, tr.afterDeletes, id), func(t *testing.T) {
					t.Parallel()
					f, _ := openFixture(t, tr.path(id), splitfile.Options{})
					require.Empty(t, f.Warnings)
					require.False(t, f.IsLegacy())
					require.Equal(t, trailer, f.Layout.Trailer)
					got, parents, err := f.Metadata()
					require.NoError(t, err)
					want, ok := tr.rows[id]
					require.True(t, ok, "the metastore has no row of it")
					if tr.afterDeletes {
						require.LessOrEqual(t, got.DeleteOpstamp, want.DeleteOpstamp, "the file holds a lower bound")
						got.DeleteOpstamp = want.DeleteOpstamp
					}
					require.Equal(t, want.Document(), got.Document())
					if want.NumMergeOps == 0 && len(parents) > 0 {
						require.Len(t, parents, 1, "only a delete rewrite has parents without a merge")
					}
				})
			}
		}
	}
}

// TestRealParentsExplainTheirChild checks the recovered parents, which the metastore does not hold.
func TestRealParentsExplainTheirChild(t *testing.T) {
	t.Parallel()
	merges, rewrites := 0, 0
	for _, set := range []string{"main", "trailer"} {
		paths, err := filepath.Glob(filepath.Join("testdata", set, "*", "*.split"))
		require.NoError(t, err)
		metadata := map[string]metastore.SplitMetadata{}
		parents := map[string][]string{}
		for _, path := range paths {
			f, _ := openFixture(t, path, splitfile.Options{})
			m, ids, err := f.Metadata()
			require.NoError(t, err)
			metadata[m.SplitID], parents[m.SplitID] = m, ids
		}
		for child, ids := range parents {
			var docs, size, merged uint64
			for _, id := range ids {
				parent, ok := metadata[id]
				require.True(t, ok, "parent %s of %s", id, child)
				require.Equal(t, parent.IndexUID, metadata[child].IndexUID)
				require.Equal(t, parent.PartitionID, metadata[child].PartitionID)
				docs, size, merged = docs+parent.NumDocs, size+parent.UncompressedDocsSize, max(merged, parent.NumMergeOps)
			}
			switch len(ids) {
			case 0:
				require.Zero(t, metadata[child].NumMergeOps)
			case 1:
				rewrites++
				require.Equal(t, merged, metadata[child].NumMergeOps)
				require.LessOrEqual(t, metadata[child].NumDocs, docs)
				require.Greater(t, metadata[child].DeleteOpstamp, metadata[ids[0]].DeleteOpstamp)
			default:
				merges++
				require.Equal(t, merged+1, metadata[child].NumMergeOps)
				require.Equal(t, docs, metadata[child].NumDocs)
				require.Equal(t, size, metadata[child].UncompressedDocsSize)
			}
		}
	}
	require.Positive(t, merges)
	require.Positive(t, rewrites)
}

func TestARealLegacyFileGivesItsFooterAndNoRow(t *testing.T) {
	t.Parallel()
	for _, tr := range readTruths(t, "legacy") {
		for _, id := range tr.objects {
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				f, _ := openFixture(t, tr.path(id), splitfile.Options{})
				require.True(t, f.IsLegacy())
				require.Empty(t, f.Warnings)
				_, parents, err := f.Metadata()
				require.ErrorIs(t, err, splitfile.ErrLegacy)
				require.Nil(t, parents)
				legacy, err := f.Legacy()
				require.NoError(t, err)
				row := tr.rows[id]
				require.Equal(t, []uint64{row.FooterStart, row.FooterEnd}, []uint64{legacy.FooterStart, legacy.FooterEnd})
				require.NotEmpty(t, legacy.Entries)

				text, err := f.ReadEntry(t.Context(), splitfile.MetaJSONName, 1<<20)
				require.NoError(t, err)
				var meta struct {
					Segments []struct {
						MaxDoc uint64 `json:"max_doc"`
					} `json:"segments"`
				}
				require.NoError(t, json.Unmarshal(text, &meta))
				require.Len(t, meta.Segments, 1)
				require.Equal(t, row.NumDocs, meta.Segments[0].MaxDoc)
			})
		}
	}
}

// TestARealFileTakesAtMostTwoReads opens every file with tails of several sizes.
func TestARealFileTakesAtMostTwoReads(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/*/*.split")
	require.NoError(t, err)
	require.Len(t, paths, 61)
	for _, path := range paths {
		info, err := os.Stat(path)
		require.NoError(t, err)
		size := metastore.Some(info.Size())
		whole, _ := openFixture(t, path, splitfile.Options{Size: size})
		require.Equal(t, 1, whole.Reads, "the tail holds all of %s", path)
		for _, tail := range []int64{1, 64, 512, 2 << 10, 8 << 10} {
			f, recorder := openFixture(t, path, splitfile.Options{Size: size, TailSize: tail})
			require.LessOrEqual(t, f.Reads, 2, "%s with a tail of %d bytes", path, tail)
			require.Len(t, recorder.Ranges(), f.Reads)
			require.Equal(t, whole.Layout, f.Layout)
			require.Equal(t, whole.Entries, f.Entries)
			want, wantParents, wantErr := whole.Metadata()
			got, parents, err := f.Metadata()
			require.Equal(t, wantErr, err)
			require.Equal(t, want, got)
			require.Equal(t, wantParents, parents)
		}
	}
}
