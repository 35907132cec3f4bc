package splitfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

const someSplitID = "01J8ZZ7Q2M4T6V8X0A1B2C3D4E"

// someMetadata is a row with a value in every field.
func someMetadata() metastore.SplitMetadata {
	return metastore.SplitMetadata{
		SplitID:              someSplitID,
		IndexUID:             metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{1, 2, 3}},
		PartitionID:          1<<64 - 1,
		SourceID:             "source",
		NodeID:               "node-1",
		NumDocs:              120,
		UncompressedDocsSize: 20546,
		TimeRange:            metastore.Some(metastore.TimeRange{Start: -5, End: 1787411402}),
		CreateTimestamp:      1796036177,
		Maturity:             metastore.Maturity{Immature: true, PeriodMillis: 90000},
		Tags:                 []string{"tenant!", "tenant:42"},
		DeleteOpstamp:        3,
		NumMergeOps:          2,
		DocMappingUID:        ulid.ULID{9, 8, 7},
	}
}

func someFile() *splitfiletest.File {
	m := someMetadata()
	return splitfiletest.New(&m, []string{"P1", "P2"})
}

// open opens a file in memory under the name of someSplitID, its size known.
func open(t *testing.T, file []byte) (*splitfile.File, error) {
	t.Helper()
	return openAs(t, file, someSplitID)
}

func openAs(t *testing.T, file []byte, id string) (*splitfile.File, error) {
	t.Helper()
	return splitfile.Open(t.Context(), splitfiletest.Memory(file), splitfile.Options{
		SplitID: id, Size: metastore.Some(int64(len(file))),
	})
}

// recoverAs opens a file and returns what Metadata answers, or the error of whichever failed.
func recoverAs(t *testing.T, file []byte, id string) (metastore.SplitMetadata, []string, error) {
	t.Helper()
	f, err := openAs(t, file, id)
	if err != nil {
		return metastore.SplitMetadata{}, nil, err
	}
	return f.Metadata()
}

// requireFault checks that an error is a FormatError about the field, and returns it.
func requireFault(t *testing.T, err error, field string) *splitfile.FormatError {
	t.Helper()
	var format *splitfile.FormatError
	require.True(t, errors.As(err, &format), "error %v", err)
	require.Equal(t, field, format.Field, "error %v", err)
	require.NotEmpty(t, format.SplitID)
	require.Contains(t, err.Error(), field)
	require.False(t, strings.Contains(err.Error(), "%!"), "error %v", err)
	return format
}
