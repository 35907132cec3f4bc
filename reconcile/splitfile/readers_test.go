package splitfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"holdfast/reconcile/splitfile"
)

// buckets runs a test on buckets that hold one file under "logs/<someSplitID>.split".
func buckets(t *testing.T, file []byte, test func(t *testing.T, bucket *blob.Bucket, key string)) {
	t.Helper()
	for name, make := range map[string]func(t *testing.T) *blob.Bucket{
		"memory": func(*testing.T) *blob.Bucket { return memblob.OpenBucket(nil) },
		"directory": func(t *testing.T) *blob.Bucket {
			bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
			require.NoError(t, err)
			return bucket
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := make(t)
			t.Cleanup(func() { require.NoError(t, bucket.Close()) })
			key := "logs/" + someSplitID + ".split"
			require.NoError(t, bucket.WriteAll(t.Context(), key, file, nil))
			test(t, bucket, key)
		})
	}
}

func TestASplitInABucketIsRecovered(t *testing.T) {
	t.Parallel()
	for _, hotcache := range []uint32{10, 300 << 10} {
		buckets(t, longFile(hotcache), func(t *testing.T, bucket *blob.Bucket, key string) {
			f, err := splitfile.Open(t.Context(), splitfile.BucketObject{Bucket: bucket, Key: key}, splitfile.Options{SplitID: someSplitID})
			require.NoError(t, err)
			m, parents, err := f.Metadata()
			require.NoError(t, err)
			require.Equal(t, someMetadata().NumDocs, m.NumDocs)
			require.Equal(t, []string{"P1", "P2"}, parents)
			text, err := f.ReadEntry(t.Context(), splitfile.MetaJSONName, 100)
			require.NoError(t, err)
			require.Contains(t, string(text), `"segments"`)
		})
	}
}

func TestASplitThatIsNotInABucketIsAReadErrorThatSaysSo(t *testing.T) {
	t.Parallel()
	buckets(t, nil, func(t *testing.T, bucket *blob.Bucket, _ string) {
		_, err := splitfile.Open(t.Context(), splitfile.BucketObject{Bucket: bucket, Key: "absent.split"}, splitfile.Options{SplitID: someSplitID})
		require.ErrorIs(t, err, fs.ErrNotExist)
		var read *splitfile.ReadError
		require.ErrorAs(t, err, &read)
	})
}

func TestAnEmptyObjectIsMalformed(t *testing.T) {
	t.Parallel()
	buckets(t, nil, func(t *testing.T, bucket *blob.Bucket, key string) {
		_, err := splitfile.Open(t.Context(), splitfile.BucketObject{Bucket: bucket, Key: key}, splitfile.Options{SplitID: someSplitID})
		requireFault(t, err, "file size")
	})
}

func TestARangeOfABucketObjectEndsWithTheObject(t *testing.T) {
	t.Parallel()
	buckets(t, []byte("0123456789"), func(t *testing.T, bucket *blob.Bucket, key string) {
		object := splitfile.BucketObject{Bucket: bucket, Key: key}
		answer, err := object.ReadRange(t.Context(), 7, 100)
		require.NoError(t, err)
		require.Equal(t, "789", string(answer.Data))
		require.Equal(t, int64(10), answer.Size)
		require.NotEmpty(t, answer.Version)
		answer, err = object.ReadRange(t.Context(), 100, 1)
		require.NoError(t, err)
		require.Empty(t, answer.Data)
		require.Equal(t, int64(10), answer.Size)
	})
}

func TestABucketObjectThatIsReplacedAfterItWasOpenedIsNoticed(t *testing.T) {
	t.Parallel()
	buckets(t, longFile(1), func(t *testing.T, bucket *blob.Bucket, key string) {
		f, err := splitfile.Open(t.Context(), splitfile.BucketObject{Bucket: bucket, Key: key}, splitfile.Options{SplitID: someSplitID})
		require.NoError(t, err)
		require.NoError(t, bucket.WriteAll(t.Context(), key, longFile(2), nil))
		_, err = f.ReadEntry(t.Context(), splitfile.MetaJSONName, 100)
		var changed *splitfile.ChangedError
		require.ErrorAs(t, err, &changed)
	})
}

func TestALocalFileThatIsCutOrTouchedIsNoticed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 100) },
		"touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), someSplitID+".split")
			require.NoError(t, os.WriteFile(path, longFile(10), 0o600))
			f, _ := openFixture(t, path, splitfile.Options{})
			require.NoError(t, change(path))
			_, err := f.ReadEntry(t.Context(), splitfile.MetaJSONName, 100)
			var changed *splitfile.ChangedError
			require.ErrorAs(t, err, &changed)
		})
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	t.Parallel()
	_, err := splitfile.OpenLocalFile(t.TempDir())
	require.ErrorContains(t, err, "is not a regular file")
	_, err = splitfile.OpenLocalFile(os.DevNull)
	require.ErrorContains(t, err, "is not a regular file")
	_, err = splitfile.OpenLocalFile(filepath.Join(t.TempDir(), "absent.split"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
