package objectstore

import (
	"testing"

	"gocloud.dev/blob"
)

// bucketName is the one bucket of every server.
const bucketName = "holdfast-test"

// Store is an empty bucket on a server that ends with the test. Its methods may be called from several
// goroutines at once.
type Store struct {
	// URL opens the bucket with blob.OpenBucket, in this process or another one, under Environment.
	URL string

	// Environment holds the variables ("NAME=value") that a process needs to open URL.
	Environment []string

	open func() (*blob.Bucket, error)
}

// Open opens the bucket through a client of its own, as one more process would, without help from the
// environment. It is closed when the test ends.
func (s *Store) Open(t testing.TB) *blob.Bucket {
	t.Helper()
	bucket, err := s.open()
	if err != nil {
		t.Fatalf("open the bucket: %v", err)
	}
	t.Cleanup(func() {
		if err := bucket.Close(); err != nil {
			t.Errorf("close the bucket: %v", err)
		}
	})
	return bucket
}
