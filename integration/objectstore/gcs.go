package objectstore

import (
	"context"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
)

// GCS starts a Google Cloud Storage server with one empty bucket.
func GCS(t testing.TB) *Store {
	t.Helper()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1"})
	if err != nil {
		t.Fatalf("start the Google Cloud Storage server: %v", err)
	}
	t.Cleanup(server.Stop)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucketName})
	return &Store{
		URL:         "gs://" + bucketName + "?access_id=-",
		Environment: []string{"STORAGE_EMULATOR_HOST=" + strings.TrimPrefix(server.URL(), "http://")},
		open: func() (*blob.Bucket, error) {
			return gcsblob.OpenBucket(context.Background(), &gcp.HTTPClient{Client: *server.HTTPClient()}, bucketName, nil)
		},
	}
}
