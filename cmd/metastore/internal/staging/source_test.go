package staging_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/staging"
	"holdfast/metastore"
)

// document is the metadata of the n-th split of an index.
func document(n int, indexID, more string) string {
	return fmt.Sprintf(`{%s"version":"0.9","split_id":"split-%d","index_uid":"%s:01M8P1J1J1GT6BJNXDVR91X815","partition_id":0,"source_id":"s",`+
		`"node_id":"n","num_docs":1,"uncompressed_docs_size_in_bytes":1,"time_range":null,"create_timestamp":1,"maturity":{"type":"mature"},`+
		`"tags":[],"footer_offsets":{"start":1,"end":2},"delete_opstamp":0,"num_merge_ops":0,"doc_mapping_uid":"00000000000000000000000000"}`, more, n, indexID)
}

func lines(count int) string {
	var b strings.Builder
	for n := range count {
		b.WriteString(document(n, "web", "") + "\n")
	}
	return b.String()
}

func TestSplitsComeInBatchesThatSayWhereTheyAre(t *testing.T) {
	t.Parallel()
	source := staging.NewSource(strings.NewReader(lines(5)), "input", "web", 2)
	var got []string
	for {
		batch, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got = append(got, fmt.Sprint(batch.First, batch.Last, batch.IDs()))
	}
	require.Equal(t, []string{"1 2 [split-0 split-1]", "3 4 [split-2 split-3]", "5 5 [split-4]"}, got)
	require.Empty(t, source.Notes())
}

func TestABatchIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	var input strings.Builder
	for n := range 12 {
		input.WriteString(document(n, "web", `"extra":"`+strings.Repeat("x", 900_000)+`",`))
	}
	source := staging.NewSource(strings.NewReader(input.String()), "input", "web", 1000)
	first, err := source.Next()
	require.NoError(t, err)
	second, err := source.Next()
	require.NoError(t, err)
	require.Len(t, first.Splits, 9)
	require.Equal(t, 10, second.First)
	require.Len(t, second.Splits, 3)
}

func TestAWrongSplitIsNamedByItsPlaceInTheInput(t *testing.T) {
	t.Parallel()
	input := lines(2) + strings.Replace(document(2, "web", ""), `"num_docs":1`, `"num_docs":-1`, 1)
	_, err := staging.NewSource(strings.NewReader(input), "input", "web", 10).Next()
	require.ErrorContains(t, err, "input: split 3")
	require.ErrorContains(t, err, "num_docs")
}

func TestCheckRefusesWhatAServerWouldRefuse(t *testing.T) {
	t.Parallel()
	uid := metastore.IndexUID{IndexID: "web"}
	count, err := staging.NewSource(strings.NewReader(lines(5)), "input", "web", 2).Check(uid, true)
	require.NoError(t, err)
	require.Equal(t, 5, count)

	tooLong := strings.Replace(document(2, "web", ""), "split-2", strings.Repeat("x", metastore.MaxSplitIDLength+1), 1)
	_, err = staging.NewSource(strings.NewReader(lines(2)+tooLong), "input", "web", 2).Check(uid, true)
	require.ErrorContains(t, err, "splits 3 to 3")
	require.ErrorContains(t, err, "split_id")
}

func TestNotesTellWhatStagingDoesNotKeep(t *testing.T) {
	t.Parallel()
	input := document(0, "other", `"split_state":"Published","update_timestamp":1,"publish_timestamp":2,`) + document(1, "web", `"split_state":"Staged",`)
	source := staging.NewSource(strings.NewReader(input), "input", "web", 10)
	_, err := source.Next()
	require.NoError(t, err)
	notes := strings.Join(source.Notes(), "\n")
	require.Contains(t, notes, "1 of 2 splits are not Staged")
	require.Contains(t, notes, `1 of 2 splits belong to another index in the input, such as "other"`)
}
