package segment_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
	"holdfast/reconcile/splitfile/segment/segmenttest"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// someDocs returns n different documents of some twenty bytes.
func someDocs(n int) []segmenttest.Document {
	docs := make([]segmenttest.Document, n)
	for i := range docs {
		docs[i] = segmenttest.Document{Raw: segmenttest.Text(fmt.Sprintf("document %d", i))}
	}
	return docs
}

// someSplit has blocks of two documents.
func someSplit(docs int) *segmenttest.Split {
	return segmenttest.Index(segmenttest.Settings{BlockSize: 40, Compression: segment.Zstd}, someDocs(docs)...)
}

// opened opens the segment of a file, of which the reads behind the footer are recorded.
func opened(t testing.TB, file *splitfiletest.File) (*segment.Segment, *splitfiletest.Recorder) {
	t.Helper()
	s, recorder, err := tryOpen(t, file, segment.Limits{})
	require.NoError(t, err)
	return s, recorder
}

func tryOpen(t testing.TB, file *splitfiletest.File, limits segment.Limits) (*segment.Segment, *splitfiletest.Recorder, error) {
	t.Helper()
	data := file.Encode()
	recorder := &splitfiletest.Recorder{Reader: splitfiletest.Memory(data)}
	f, err := splitfile.Open(t.Context(), recorder, splitfile.Options{SplitID: "some", Size: metastore.Some(int64(len(data)))})
	require.NoError(t, err)
	s, err := segment.Open(t.Context(), f, limits)
	return s, recorder, err
}

// replaced returns the file of a split in which one file of the segment is another one.
func replaced(split *segmenttest.Split, extension string, content []byte) *splitfiletest.File {
	file := split.File("some")
	for i := range file.Entries {
		if strings.HasSuffix(file.Entries[i].Name, extension) {
			file.Entries[i].Data = content
		}
	}
	return file
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	require.NoError(t, err)
	return data
}

// requireFault checks that an error is a FormatError about the field that names the file.
func requireFault(t testing.TB, err error, field string) {
	t.Helper()
	var format *splitfile.FormatError
	require.True(t, errors.As(err, &format), "error %v", err)
	require.Contains(t, format.Field, field, "error %v", err)
	require.Equal(t, "some", format.SplitID)
	require.Less(t, len(err.Error()), 1000)
	require.NotContains(t, err.Error(), "%!")
}

// readAll returns all documents of a store as text.
func readAll(t testing.TB, store *segment.Store) ([]string, error) {
	t.Helper()
	var docs []string
	err := store.ReadBlocks(t.Context(), 0, len(store.Blocks), func(_ int, _ uint32, d segment.Documents) error {
		for i := range d.Len() {
			docs = append(docs, string(d.At(i)))
		}
		return nil
	})
	return docs, err
}

func raw(docs []segmenttest.Document) []string {
	var texts []string
	for _, doc := range docs {
		texts = append(texts, string(doc.Raw))
	}
	return texts
}
