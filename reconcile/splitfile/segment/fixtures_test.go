package segment_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
)

// peer is an index that a real server wrote, and the rows that its metastore held.
type peer struct {
	dir       string
	timeField string
	tagFields []string
	rows      map[string]metastore.SplitMetadata
}

var peers = map[string]peer{
	"legacy/web-access":  {timeField: "at", tagFields: []string{"tenant"}},
	"main/web-access":    {timeField: "at", tagFields: []string{"tenant"}},
	"main/audit":         {},
	"trailer/web-access": {timeField: "at", tagFields: []string{"tenant"}},
}

// eachPeer calls check with each index.
func eachPeer(t *testing.T, check func(t *testing.T, p peer)) {
	for name, p := range peers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.dir = filepath.Join("..", "testdata", filepath.FromSlash(name))
			p.rows = map[string]metastore.SplitMetadata{}
			truths, err := filepath.Glob(p.dir + ".*truth.json")
			require.NoError(t, err)
			require.NotEmpty(t, truths)
			for _, path := range truths {
				p.readRows(t, path)
			}
			check(t, p)
		})
	}
}

func (p *peer) readRows(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var document struct {
		Rows []json.RawMessage `json:"rows"`
	}
	require.NoError(t, json.Unmarshal(text, &document))
	for _, text := range document.Rows {
		row, err := metastore.ParseSplitRow(text)
		require.NoError(t, err)
		split, err := row.Split()
		require.NoError(t, err)
		p.rows[split.Metadata.SplitID] = split.Metadata
	}
}

// each calls check with each split file.
func (p *peer) each(t *testing.T, check func(s *segment.Segment, row metastore.SplitMetadata)) {
	paths, err := filepath.Glob(filepath.Join(p.dir, "*.split"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		id, _ := splitfile.SplitID(filepath.ToSlash(path))
		s := openPath(t, path)
		require.Contains(t, p.rows, id)
		check(s, p.rows[id])
	}
}

func openPath(t *testing.T, path string) *segment.Segment {
	t.Helper()
	local, err := splitfile.OpenLocalFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	id, _ := splitfile.SplitID(filepath.ToSlash(path))
	file, err := splitfile.Open(t.Context(), local, splitfile.Options{SplitID: id})
	require.NoError(t, err)
	s, err := segment.Open(t.Context(), file, segment.Limits{})
	require.NoError(t, err)
	return s
}

func TestTheDocumentCountOfARealSplitIsThatOfItsRow(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, p peer) {
		p.each(t, func(s *segment.Segment, row metastore.SplitMetadata) {
			require.Equal(t, row.NumDocs, s.Meta.NumDocs)
		})
	})
}

func TestTheTimeRangeOfARealSplitIsThatOfItsRow(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, p peer) {
		p.each(t, func(s *segment.Segment, row metastore.SplitMetadata) {
			times, plausible, err := s.Times(t.Context(), "at")
			require.NoError(t, err)
			require.True(t, plausible)
			if p.timeField != "" {
				require.True(t, times.Found)
				require.Equal(t, row.TimeRange, metastore.Some(times.Range()))
			}
		})
	})
}

func TestTheTagsOfARealSplitAreThoseOfItsRow(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, p peer) {
		p.each(t, func(s *segment.Segment, row metastore.SplitMetadata) {
			terms, err := s.Terms(t.Context())
			require.NoError(t, err)
			tags := []string{}
			for _, field := range p.tagFields {
				found, err := terms.Tags(t.Context(), field)
				require.NoError(t, err)
				tags = append(tags, found...)
			}
			slices.Sort(tags)
			require.Equal(t, strings.Join(row.Tags, " "), strings.Join(tags, " "))
		})
	})
}

func TestTheTermsOfARealSplitTellWhetherItWasMerged(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, p peer) {
		p.each(t, func(s *segment.Segment, row metastore.SplitMetadata) {
			terms, err := s.Terms(t.Context())
			require.NoError(t, err)
			origin, err := terms.Origin(t.Context())
			require.NoError(t, err)
			want := segment.Indexed
			if row.NumMergeOps > 0 || s.Meta.Opstamp > 0 {
				want = segment.Merged
			}
			require.Equal(t, want, origin, "%s", row.SplitID)
		})
	})
}

func TestTheStoreOfARealSplitHoldsItsDocuments(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, p peer) {
		p.each(t, func(s *segment.Segment, row metastore.SplitMetadata) {
			store, err := s.Store(t.Context())
			require.NoError(t, err)
			require.Equal(t, segment.Zstd, store.Compression)
			area, docs := uint32(0), 0
			err = store.ReadBlocks(t.Context(), 0, len(store.Blocks), func(block int, checksum uint32, documents segment.Documents) error {
				area = segment.JoinChecksums(area, checksum, int64(store.Blocks[block].Size))
				docs += documents.Len()
				for i := range documents.Len() {
					values, err := segment.DecodeDocument(documents.At(i), store.Version)
					require.NoError(t, err)
					require.NotEmpty(t, values)
				}
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, int(row.NumDocs), docs)
			require.Equal(t, store.AreaChecksum, area)
		})
	})
}
