package objectstore

import (
	"context"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

const (
	region    = "us-east-1"
	accessKey = "holdfast-test"
	secretKey = "holdfast-test"
)

// S3 starts an S3 server with one empty bucket.
func S3(t testing.TB) *Store {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucketName); err != nil {
		t.Fatalf("create the bucket: %v", err)
	}
	server := httptest.NewServer(&conditionalComplete{
		next:    gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server(),
		objects: backend,
	})
	t.Cleanup(server.Close)

	query := url.Values{"endpoint": {server.URL}, "region": {region}, "use_path_style": {"true"}}
	return &Store{
		URL:         "s3://" + bucketName + "?" + query.Encode(),
		Environment: []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey},
		open: func() (*blob.Bucket, error) {
			client := s3.New(s3.Options{
				Region:       region,
				BaseEndpoint: aws.String(server.URL),
				Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
				UsePathStyle: true,
			})
			return s3blob.OpenBucket(context.Background(), client, bucketName, nil)
		},
	}
}
