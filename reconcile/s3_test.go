package reconcile

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/integration/objectstore"
)

func TestABucketOnS3IsReadAndTheSiblingsOfAnIndexAreNot(t *testing.T) {
	t.Parallel()
	server := objectstore.S3(t)
	bucket := server.Open(t)
	for directory, f := range map[string]fixture{"indexes/web-access": webAccess, "indexes/web-access-old": audit} {
		for _, id := range f.read(t).objects {
			content, err := os.ReadFile(filepath.Join("splitfile", "testdata", f.set, f.index, id+".split"))
			require.NoError(t, err)
			require.NoError(t, bucket.WriteAll(t.Context(), directory+"/"+id+".split", content, nil))
		}
	}
	store := memoryStore(t)
	options := webAccess.options(t, store)
	options.Root = "s3://bucket/indexes"
	options.OpenBucket = func(_ context.Context, at Location) (Bucket, error) {
		return &shared{NewBlobBucket(bucket, at.path)}, nil
	}

	summary := run(t, options)

	require.Len(t, summary.Indexes, 2)
	require.Equal(t, "web-access", summary.Indexes[0].IndexID)
	require.EqualValues(t, 21, summary.Indexes[0].Objects)
	require.EqualValues(t, 21, summary.Indexes[0].Reads.Requests, "one read for each small file")
	require.Equal(t, "audit", summary.Indexes[1].IndexID, "the files say whose they are")
	require.True(t, summary.Indexes[1].Missing)
	requireRebuilt(t, webAccess, store)
}

// shared is a bucket that somebody else closes.
type shared struct{ Bucket }

func (shared) Close() error { return nil }
