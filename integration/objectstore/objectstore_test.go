package objectstore

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

var stores = []struct {
	name  string
	start func(testing.TB) *Store
}{
	{"S3", S3},
	{"GCS", GCS},
}

// sizes are below and above the size from which the clients upload in parts.
var sizes = []struct {
	name  string
	bytes int
}{
	{"in one request", 100},
	{"in parts", 17 << 20},
}

func create(ctx context.Context, bucket *blob.Bucket, key string, body []byte) error {
	return bucket.WriteAll(ctx, key, body, &blob.WriterOptions{IfNotExist: true, ContentType: "application/json"})
}

func TestSecondConditionalCreateFailsAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		for _, size := range sizes {
			t.Run(store.name+" "+size.name, func(t *testing.T) {
				t.Parallel()
				bucket := store.start(t).Open(t)
				first := bytes.Repeat([]byte("1"), size.bytes)
				if err := create(t.Context(), bucket, "a/b c+d/1.json", first); err != nil {
					t.Fatalf("the first create: %v", err)
				}
				err := create(t.Context(), bucket, "a/b c+d/1.json", bytes.Repeat([]byte("2"), size.bytes))
				if gcerrors.Code(err) != gcerrors.FailedPrecondition {
					t.Errorf("the second create: %v, want a failed precondition", err)
				}
				got, err := bucket.ReadAll(t.Context(), "a/b c+d/1.json")
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, first) {
					t.Error("the object is not the first one")
				}
			})
		}
	}
}

func TestExactlyOneOfConcurrentCreatorsWins(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		for _, size := range []struct {
			name                    string
			bytes, creators, rounds int
		}{
			{"in one request", 100, 16, 20},
			{"in parts", 17 << 20, 4, 1}, // fewer: each holds its object in memory several times
		} {
			t.Run(store.name+" "+size.name, func(t *testing.T) {
				t.Parallel()
				server := store.start(t)
				buckets := make([]*blob.Bucket, size.creators)
				for i := range buckets {
					buckets[i] = server.Open(t)
				}
				for round := range size.rounds {
					key := "log/" + strings.Repeat("0", round) + ".json"
					results := make([]error, size.creators)
					start := make(chan struct{})
					var running sync.WaitGroup
					for i, bucket := range buckets {
						running.Go(func() {
							body := bytes.Repeat([]byte{'a' + byte(i)}, size.bytes)
							<-start
							results[i] = create(t.Context(), bucket, key, body)
						})
					}
					close(start)
					running.Wait()

					winner := -1
					for i, err := range results {
						switch {
						case err == nil && winner >= 0:
							t.Fatalf("creators %d and %d both won", winner, i)
						case err == nil:
							winner = i
						case gcerrors.Code(err) != gcerrors.FailedPrecondition:
							t.Fatalf("creator %d: %v, want a failed precondition", i, err)
						}
					}
					if winner < 0 {
						t.Fatalf("nobody won: %v", errors.Join(results...))
					}
					got, err := buckets[0].ReadAll(t.Context(), key)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, bytes.Repeat([]byte{'a' + byte(winner)}, size.bytes)) {
						t.Errorf("the object is not that of the winner %d", winner)
					}
				}
			})
		}
	}
}

// Not parallel: it sets the environment of the process.
func TestBucketOpensByItsURLUnderItsEnvironment(t *testing.T) {
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			server := store.start(t)
			if err := server.Open(t).WriteAll(t.Context(), "hello", []byte("world"), nil); err != nil {
				t.Fatal(err)
			}
			for _, variable := range server.Environment {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			bucket, err := blob.OpenBucket(t.Context(), server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := bucket.Close(); err != nil {
					t.Error(err)
				}
			}()
			got, err := bucket.ReadAll(t.Context(), "hello")
			if err != nil || string(got) != "world" {
				t.Errorf("the object is %q (%v), want %q", got, err, "world")
			}
			if err := create(t.Context(), bucket, "hello", nil); gcerrors.Code(err) != gcerrors.FailedPrecondition {
				t.Errorf("the second create: %v, want a failed precondition", err)
			}
		})
	}
}
