package splitfile_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

func openSparse(t *testing.T, file *splitfiletest.File, options splitfile.Options) (*splitfile.File, *splitfiletest.Recorder, error) {
	t.Helper()
	return openSized(t, file.Sparse(), options)
}

func openSized(t *testing.T, sparse *splitfiletest.Sparse, options splitfile.Options) (*splitfile.File, *splitfiletest.Recorder, error) {
	t.Helper()
	recorder := &splitfiletest.Recorder{Reader: splitfile.ReaderAt{Reader: sparse, Size: sparse.Size()}}
	options.SplitID = someSplitID
	f, err := splitfile.Open(t.Context(), recorder, options)
	return f, recorder, err
}

func TestALargeHotcacheIsNeverRead(t *testing.T) {
	t.Parallel()
	for _, hotcache := range []uint32{60 << 10, 200 << 10, 30 << 20, 1<<32 - 1} {
		for _, trailer := range []bool{false, true} {
			for _, tail := range []int64{0, 64, 4 << 10} {
				t.Run(fmt.Sprintf("hotcache %d, trailer %t, tail %d", hotcache, trailer, tail), func(t *testing.T) {
					t.Parallel()
					file := someFile()
					file.HotcacheSize, file.Trailer = hotcache, trailer
					f, _, err := openSparse(t, file, splitfile.Options{Size: metastore.Some(file.Sparse().Size()), TailSize: tail})
					require.NoError(t, err)
					m, _, err := f.Metadata()
					require.NoError(t, err)
					require.Equal(t, uint64(file.Sparse().Size()), m.FooterEnd)
					require.Equal(t, int64(hotcache), f.Layout.Hotcache.Len())
					require.LessOrEqual(t, f.Reads, 2)
					require.LessOrEqual(t, f.BytesRead, int64(100<<10))
				})
			}
		}
	}
}

func TestAFileOfUnknownSizeTakesOneReadIfItIsSmallAndOneMoreIfNot(t *testing.T) {
	t.Parallel()
	f, recorder, err := openSparse(t, someFile(), splitfile.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, f.Reads)
	require.Equal(t, []splitfile.Span{{Start: 0, End: 64 << 10}}, recorder.Ranges())

	file := someFile()
	file.Entries[0].Data = make([]byte, 200<<10)
	f, recorder, err = openSparse(t, file, splitfile.Options{})
	require.NoError(t, err)
	require.Equal(t, 2, f.Reads)
	size := file.Sparse().Size()
	require.Equal(t, []splitfile.Span{{Start: 0, End: 64 << 10}, {Start: size - 64<<10, End: size}}, recorder.Ranges())
}

func TestARecoveryEntryElsewhereInTheBodyTakesOneReadMore(t *testing.T) {
	t.Parallel()
	file := someFile()
	last := len(file.Entries) - 1
	file.Entries[0].Data = make([]byte, 300<<10)
	file.Entries[0], file.Entries[last] = file.Entries[last], file.Entries[0]
	f, _, err := openSparse(t, file, splitfile.Options{Size: metastore.Some(file.Sparse().Size())})
	require.NoError(t, err)
	_, _, err = f.Metadata()
	require.NoError(t, err)
	require.Equal(t, 2, f.Reads)

	file.HotcacheSize = 1 << 20
	f, _, err = openSparse(t, file, splitfile.Options{Size: metastore.Some(file.Sparse().Size())})
	require.NoError(t, err)
	require.Equal(t, 3, f.Reads)
}

func TestLongBundleMetadataAndALongRecoveryEntryAreReadToTheirStarts(t *testing.T) {
	t.Parallel()
	for _, trailer := range []bool{false, true} {
		m := someMetadata()
		m.Tags = nil
		for i := range 5000 {
			m.Tags = append(m.Tags, fmt.Sprintf("tag:%06d", i))
		}
		file := splitfiletest.New(&m, nil)
		for i := range 3000 {
			file.Entries = append(file.Entries, splitfiletest.Entry{Name: fmt.Sprintf("%032d.idx", i)})
		}
		file.HotcacheSize, file.Trailer = 1<<20, trailer
		f, _, err := openSparse(t, file, splitfile.Options{Size: metastore.Some(file.Sparse().Size())})
		require.NoError(t, err)
		got, _, err := f.Metadata()
		require.NoError(t, err)
		require.Equal(t, m.Tags, got.Tags)
		require.LessOrEqual(t, f.Reads, 4)
	}
}

// TestAnEmptyEntryIsReadWithoutARequest is because a range request cannot ask for nothing.
func TestAnEmptyEntryIsReadWithoutARequest(t *testing.T) {
	t.Parallel()
	f, recorder, err := openSparse(t, someFile(), splitfile.Options{})
	require.NoError(t, err)
	before := len(recorder.Ranges())
	data, err := f.ReadEntry(t.Context(), "1c6b10b9adea4939b9646cb5fa4c97e4.fieldnorm", 0)
	require.NoError(t, err)
	require.Empty(t, data)
	require.Len(t, recorder.Ranges(), before)
	for _, span := range recorder.Ranges() {
		require.Positive(t, span.Len())
	}
}

func TestAnEntryIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	f, err := open(t, someFile().Encode())
	require.NoError(t, err)
	data, err := f.ReadEntry(t.Context(), "1c6b10b9adea4939b9646cb5fa4c97e4.store", 9)
	require.NoError(t, err)
	require.Equal(t, "documents", string(data))
	_, err = f.ReadEntry(t.Context(), "1c6b10b9adea4939b9646cb5fa4c97e4.store", 8)
	requireFault(t, err, `files["1c6b10b9adea4939b9646cb5fa4c97e4.store"]`)
	_, err = f.ReadEntry(t.Context(), "absent", 8)
	requireFault(t, err, `files["absent"]`)
	for _, span := range []splitfile.Span{{Start: -1, End: 1}, {Start: 2, End: 1}, {Start: 0, End: 1 << 40}} {
		_, err = f.ReadRange(t.Context(), span.Start, span.End)
		require.ErrorContains(t, err, "is no range")
	}
}

func TestAnEmptyRecoveryEntryIsMalformedAndTakesNoRequest(t *testing.T) {
	t.Parallel()
	file := someFile()
	file.Entries[len(file.Entries)-1].Data = nil
	f, recorder, err := openSparse(t, file, splitfile.Options{TailSize: 64, Size: metastore.Some(file.Sparse().Size())})
	require.NoError(t, err)
	require.False(t, f.IsLegacy(), "it has the entry")
	_, _, err = f.Metadata()
	requireFault(t, err, "recovery entry length")
	for _, span := range recorder.Ranges() {
		require.Positive(t, span.Len())
	}
}

func TestSharedExperienceSparesSecondReadsAndBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hotcache uint32
		reads    int
		bytes    int64
	}{
		{hotcache: 2 << 10, reads: 1, bytes: 4 << 10},
		{hotcache: 30 << 10, reads: 1, bytes: 32 << 10},
		{hotcache: 100 << 10, reads: 1, bytes: 128 << 10},
		{hotcache: 400 << 10, reads: 1, bytes: 512 << 10},
		{hotcache: 40 << 20, reads: 2, bytes: 8 << 10},
	} {
		t.Run(fmt.Sprint(c.hotcache), func(t *testing.T) {
			t.Parallel()
			file := someFile()
			file.Entries[0].Data = make([]byte, 2<<20)
			file.HotcacheSize = c.hotcache
			sparse := file.Sparse()
			options := splitfile.Options{Adaptive: &splitfile.Adaptive{}, Size: metastore.Some(sparse.Size())}
			var f *splitfile.File
			for range 40 {
				var err error
				f, _, err = openSized(t, sparse, options)
				require.NoError(t, err)
			}
			require.Equal(t, c.reads, f.Reads)
			require.Equal(t, c.bytes, f.BytesRead)
		})
	}
}

func TestExperienceFollowsTheFiles(t *testing.T) {
	t.Parallel()
	options := splitfile.Options{Adaptive: &splitfile.Adaptive{}}
	opened := func(hotcache uint32, times int) *splitfile.File {
		file := someFile()
		file.Entries[0].Data = make([]byte, 2<<20)
		file.HotcacheSize = hotcache
		sparse := file.Sparse()
		options.Size = metastore.Some(sparse.Size())
		var f *splitfile.File
		for range times {
			var err error
			f, _, err = openSized(t, sparse, options)
			require.NoError(t, err)
		}
		return f
	}
	require.Equal(t, 1, opened(1<<10, 2000).Reads)
	require.Equal(t, 2, opened(100<<10, 1).Reads)
	require.Equal(t, 1, opened(100<<10, 3000).Reads)
}

func TestAReadStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := splitfile.Open(ctx, splitfiletest.Memory(someFile().Encode()), splitfile.Options{SplitID: someSplitID})
	require.ErrorIs(t, err, context.Canceled)
	var read *splitfile.ReadError
	require.ErrorAs(t, err, &read)
}

func TestASplitIDIsRequired(t *testing.T) {
	t.Parallel()
	_, err := splitfile.Open(t.Context(), splitfiletest.Memory(someFile().Encode()), splitfile.Options{})
	require.ErrorContains(t, err, "split id is missing")
}

func TestTheSplitIDIsTheNameOfTheObject(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"01J8.split": "01J8", "a/b/01J8.split": "01J8", "3D4E_01J8.split": "3D4E_01J8", "x.split.split": "x.split",
		".split": "", "a/.split": "", "01J8": "", "01J8.split/": "", "01J8.parquet": "", "01J8.split.temp": "", ".tmpAbC": "", "metastore.json": "", "": "",
	} {
		id, ok := splitfile.SplitID(key)
		require.Equal(t, want != "", ok, key)
		if ok {
			require.Equal(t, want, id, key)
		}
	}
}
