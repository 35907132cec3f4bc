package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/partition"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// partitionOf returns the partition of a split whose documents were indexed as the given JSON.
func partitionOf(t *testing.T, key string, sources ...segment.Value) (uint64, bool) {
	t.Helper()
	settings := segmenttest.Settings{Compression: segment.Zstd, Fields: []segmenttest.Field{{Name: "_source", Type: "json_object"}}}
	var docs []segmenttest.Document
	for _, source := range sources {
		docs = append(docs, segmenttest.Document{Raw: segmenttest.EncodeDocument(2, segment.FieldValue{Field: 1, Value: source})})
	}
	data := segmenttest.Index(settings, docs...).File("some").Encode()
	file, err := splitfile.Open(t.Context(), splitfiletest.Memory(data), splitfile.Options{SplitID: "some"})
	require.NoError(t, err)
	k, err := partition.ParseKey(key)
	require.NoError(t, err)
	id, exact, err := evidence.ReadPartition(t.Context(), file, k)
	require.NoError(t, err)
	return id, exact
}

func TestThePartitionOfASplitIsThatOfItsDocuments(t *testing.T) {
	t.Parallel()
	doc := func(tenant segment.Value) segment.Value { return segment.Object{{Key: "tenant", Value: tenant}} }
	first, exact := partitionOf(t, "tenant", doc("a"), doc("a"))
	require.True(t, exact)
	require.NotZero(t, first)
	other, _ := partitionOf(t, "tenant", doc("b"))
	require.NotEqual(t, first, other)
	absent, exact := partitionOf(t, "elsewhere", doc("a"))
	require.True(t, exact)
	require.NotZero(t, absent)
	overflow, exact := partitionOf(t, "tenant", doc("a"), doc("b"))
	require.True(t, exact)
	require.Equal(t, partition.Overflow, overflow, "the split for all partitions beyond the most holds several")
	none, exact := partitionOf(t, "", doc("a"))
	require.True(t, exact)
	require.Zero(t, none)
}

func TestWithoutTheSourceThePartitionIsNotGuessed(t *testing.T) {
	t.Parallel()
	_, exact := partitionOf(t, "tenant", "no object")
	require.False(t, exact)
}

func TestTheTimeInASplitIDIsFoundInBothForms(t *testing.T) {
	t.Parallel()
	plain, prefixed := evidence.Made("01J8ZZ7Q2M4T6V8X0A1B2C3D4E"), evidence.Made("3D4E_01J8ZZ7Q2M4T6V8X0A1B2C")
	require.True(t, plain.Set)
	require.Equal(t, plain, prefixed)
	require.Equal(t, metastore.Optional[int64]{}, evidence.Made("test-split"))
}
