package evidence_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/partition"
	"holdfast/reconcile/splitfile"
)

// realRow is a row that a real metastore held.
type realRow struct {
	set, index string
	row        metastore.SplitMetadata
}

// eachReal calls check with each split file that a real server wrote.
func eachReal(t *testing.T, check func(t *testing.T, r realRow, file *splitfile.File, config *indexconfig.IndexConfig)) {
	truths, err := filepath.Glob("../splitfile/testdata/*/*truth.json")
	require.NoError(t, err)
	require.NotEmpty(t, truths)
	for _, path := range truths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var document struct {
			Objects []string          `json:"objects"`
			Rows    []json.RawMessage `json:"rows"`
		}
		require.NoError(t, json.Unmarshal(text, &document))
		set, index := filepath.Base(filepath.Dir(path)), "web-access"
		if filepath.Base(path)[0] == 'a' {
			index = "audit"
		}
		text, err = os.ReadFile(filepath.Join("..", "testdata", set+"-"+index+".index-config.json"))
		require.NoError(t, err)
		config, err := indexconfig.ParseIndexConfig(text, ulid.Make)
		require.NoError(t, err)
		rows := map[string]metastore.SplitMetadata{}
		for _, text := range document.Rows {
			row, err := metastore.ParseSplitRow(text)
			require.NoError(t, err)
			split, err := row.Split()
			require.NoError(t, err)
			rows[split.Metadata.SplitID] = split.Metadata
		}
		for _, id := range document.Objects {
			local, err := splitfile.OpenLocalFile(filepath.Join(filepath.Dir(path), index, id+".split"))
			require.NoError(t, err)
			file, err := splitfile.Open(t.Context(), local, splitfile.Options{SplitID: id, Keep: true})
			require.NoError(t, err)
			check(t, realRow{set, index, rows[id]}, file, config)
			require.NoError(t, local.Close())
		}
	}
}

func TestTheRowOfARealSplitIsRecoveredFromItsContent(t *testing.T) {
	t.Parallel()
	eachReal(t, func(t *testing.T, r realRow, file *splitfile.File, config *indexconfig.IndexConfig) {
		e, err := evidence.Read(t.Context(), file, evidence.FieldsOf(config))
		require.NoError(t, err)
		var key partition.Key
		if config.DocMapping.PartitionKey != nil {
			key, err = partition.ParseKey(*config.DocMapping.PartitionKey)
			require.NoError(t, err)
		}
		id, exact, err := evidence.ReadPartition(t.Context(), file, key)
		require.NoError(t, err)
		require.True(t, exact)
		got := e.Row(r.row.SplitID, r.row.IndexUID, uint64(file.Layout.Size), 7, id)
		require.Equal(t, r.row.PartitionID, got.PartitionID)
		require.Equal(t, r.row.NumDocs, got.NumDocs)
		require.Equal(t, r.row.TimeRange, got.TimeRange)
		require.ElementsMatch(t, r.row.Tags, got.Tags)
		require.Equal(t, r.row.FooterStart, got.FooterStart)
		require.Equal(t, r.row.FooterEnd, got.FooterEnd)
		require.InDelta(t, r.row.CreateTimestamp, got.CreateTimestamp, 5)
		require.False(t, got.Maturity.Immature)
		require.Equal(t, "unknown", got.SourceID)
		require.Equal(t, "unknown", got.NodeID)
		require.Zero(t, got.DocMappingUID.Time())
		require.False(t, got.DocMappingUID.IsZero())
	})
}

func TestEvidenceSurvivesTheJournal(t *testing.T) {
	t.Parallel()
	eachReal(t, func(t *testing.T, _ realRow, file *splitfile.File, config *indexconfig.IndexConfig) {
		e, err := evidence.Read(t.Context(), file, evidence.FieldsOf(config))
		require.NoError(t, err)
		text, err := json.Marshal(e)
		require.NoError(t, err)
		var again evidence.Evidence
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, *e, again)
	})
}

func FuzzEvidenceInAJournal(f *testing.F) {
	f.Add([]byte(`{"schema":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","blocks":"AQID","origin":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e evidence.Evidence
		if json.Unmarshal(text, &e) == nil {
			_ = e.Object("x", 0)
			_ = e.Row("x", metastore.IndexUID{}, 1, 0, 0)
		}
	})
}
