package objectstore

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"google.golang.org/api/option"
)

// GCS starts a Google Cloud Storage server with one empty bucket.
func GCS(t testing.TB) *Store {
	t.Helper()
	const host = "127.0.0.1"
	// The public host, on any port, is where clients read objects from.
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: host, PublicHost: host, StorageRoot: t.TempDir()})
	if err != nil {
		t.Fatalf("start the Google Cloud Storage server: %v", err)
	}
	t.Cleanup(server.Stop)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucketName})
	return &Store{
		URL:         "gs://" + bucketName + "?access_id=-",
		Environment: []string{"STORAGE_EMULATOR_HOST=" + strings.TrimPrefix(server.URL(), "http://")},
		open: func() (*blob.Bucket, error) {
			return gcsblob.OpenBucket(context.Background(), &gcp.HTTPClient{Client: http.Client{Transport: http.DefaultTransport}}, bucketName, &gcsblob.Options{
				ClientOptions: []option.ClientOption{option.WithEndpoint(server.URL() + "/storage/v1/")},
			})
		},
	}
}
