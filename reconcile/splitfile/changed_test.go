package splitfile_test

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/splitfiletest"
)

// longFile is a file that takes two reads.
func longFile(hotcache uint32) []byte {
	file := someFile()
	file.HotcacheSize = hotcache
	return file.Encode()
}

func TestAFileThatIsReplacedBetweenReadsIsReadAnew(t *testing.T) {
	t.Parallel()
	was, is := longFile(100<<10), longFile(110<<10)
	recorder := splitfiletest.Record(was)
	recorder.Before = func(read int, _, _ int64) error {
		if read == 1 {
			recorder.Reader = splitfiletest.Memory(is)
		}
		return nil
	}
	f, err := splitfile.Open(t.Context(), recorder, splitfile.Options{SplitID: someSplitID, Size: metastore.Some(int64(len(was)))})
	require.NoError(t, err)
	m, _, err := f.Metadata()
	require.NoError(t, err)
	require.Equal(t, uint64(len(is)), m.FooterEnd)
	require.Equal(t, 4, f.Reads)
	require.Len(t, recorder.Ranges(), 4)
}

func TestAFileThatGrewSinceItWasListedIsReadWhole(t *testing.T) {
	t.Parallel()
	file := longFile(100 << 10)
	for _, listed := range []int64{1, 20, 28, int64(len(file)) - 1, int64(len(file)) - 16} {
		f, err := splitfile.Open(t.Context(), splitfiletest.Memory(file), splitfile.Options{SplitID: someSplitID, Size: metastore.Some(listed)})
		require.NoError(t, err, "listed with %d bytes", listed)
		require.Equal(t, int64(len(file)), f.Layout.Size)
	}
}

func TestAFileThatIsShorterThanItWasListedIsReadWhole(t *testing.T) {
	t.Parallel()
	file := longFile(100 << 10)
	for _, listed := range []int64{int64(len(file)) + 1, 1 << 40} {
		f, err := splitfile.Open(t.Context(), splitfiletest.Memory(file), splitfile.Options{SplitID: someSplitID, Size: metastore.Some(listed)})
		require.NoError(t, err, "listed with %d bytes", listed)
		require.Equal(t, int64(len(file)), f.Layout.Size)
	}
}

func TestAFileThatNeverComesToRestIsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	recorder := splitfiletest.Record(nil)
	recorder.Before = func(read int, _, _ int64) error {
		recorder.Reader = splitfiletest.Memory(longFile(uint32(100<<10 + read)))
		return nil
	}
	_, err := splitfile.Open(t.Context(), recorder, splitfile.Options{SplitID: someSplitID, Size: metastore.Some(int64(1 << 20))})
	var changed *splitfile.ChangedError
	require.ErrorAs(t, err, &changed)
	require.Equal(t, changed.Size+1, changed.NewSize)
	require.ErrorContains(t, err, "changed while it was read")
	require.Len(t, recorder.Ranges(), 3)
}

func TestAFileThatIsReplacedByOneOfTheSameSizeIsNoticedByItsVersion(t *testing.T) {
	t.Parallel()
	recorder := splitfiletest.Record(longFile(100 << 10))
	memory := recorder.Reader
	recorder.Before = func(read int, _, _ int64) error {
		recorder.Reader = splitfiletest.Versioned{Reader: memory, Version: string(rune('a' + read))}
		return nil
	}
	_, err := splitfile.Open(t.Context(), recorder, splitfile.Options{SplitID: someSplitID})
	var changed *splitfile.ChangedError
	require.ErrorAs(t, err, &changed)
	require.ErrorContains(t, err, "its version was")
}

func TestAFileThatIsReplacedAfterItWasOpenedIsNoticed(t *testing.T) {
	t.Parallel()
	recorder := splitfiletest.Record(longFile(1))
	f, err := splitfile.Open(t.Context(), recorder, splitfile.Options{SplitID: someSplitID})
	require.NoError(t, err)
	recorder.Reader = splitfiletest.Memory(longFile(2))
	_, err = f.ReadEntry(t.Context(), "meta.json", 1<<20)
	var changed *splitfile.ChangedError
	require.ErrorAs(t, err, &changed)
}

// TestAFileThatCannotBeReadIsNotMalformed is the difference between an object of which nothing is
// known, which must not be acted on, and one that is wrong.
func TestAFileThatCannotBeReadIsNotMalformed(t *testing.T) {
	t.Parallel()
	failure := errors.New("503 SlowDown")
	for fails := range 2 {
		recorder := splitfiletest.Record(longFile(100 << 10))
		recorder.Before = func(read int, _, _ int64) error {
			if read == fails {
				return failure
			}
			return nil
		}
		_, err := splitfile.Open(t.Context(), recorder, splitfile.Options{SplitID: someSplitID, TailSize: 64, Size: metastore.Some(int64(len(longFile(100 << 10))))})
		require.ErrorIs(t, err, failure)
		var read *splitfile.ReadError
		require.ErrorAs(t, err, &read)
		require.Equal(t, recorder.Ranges()[fails], splitfile.Span{Start: read.Offset, End: read.Offset + read.Length})
		var format *splitfile.FormatError
		require.False(t, errors.As(err, &format))
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestAnswersThatStorageMustNotGiveAreReadErrors(t *testing.T) {
	t.Parallel()
	file := longFile(100 << 10)
	for name, answer := range map[string]splitfile.Range{
		"too short":       {Data: file[:10], Size: int64(len(file))},
		"empty":           {Size: int64(len(file))},
		"too long":        {Data: make([]byte, 1<<20), Size: int64(len(file))},
		"a negative size": {Data: file[:10], Size: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := splitfile.Open(t.Context(), splitfiletest.Fixed(answer), splitfile.Options{SplitID: someSplitID, Size: metastore.Some(int64(len(file)))})
			var read *splitfile.ReadError
			require.ErrorAs(t, err, &read)
		})
	}
}

func TestACutReadIsAnUnexpectedEnd(t *testing.T) {
	t.Parallel()
	reader := splitfile.ReaderAt{Reader: someFile().Sparse(), Size: 1 << 20}
	_, err := splitfile.Open(t.Context(), reader, splitfile.Options{SplitID: someSplitID})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
