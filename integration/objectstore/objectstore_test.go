package objectstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
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
	{"Azure", Azure},
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

// Names that one page ends with, or that a prefix hides, are listed once.
func TestListingsComeInPagesAndByDirectory(t *testing.T) {
	t.Parallel()
	keys := []string{"a.json", "a/1.json", "a/2 b+c%20.json", "a/b/3.json", "a/b/4.json", "a/c.json", "a/d/5.json", "b/6.json"}
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			bucket := store.start(t).Open(t)
			for _, key := range keys {
				if err := bucket.WriteAll(t.Context(), key, []byte(key), nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct {
				name, prefix, delimiter string
				want                    []string
			}{
				{"everything", "", "", keys},
				{"the root", "", "/", []string{"a.json", "a/", "b/"}},
				{"a directory", "a/", "/", []string{"a/1.json", "a/2 b+c%20.json", "a/b/", "a/c.json", "a/d/"}},
				{"below a directory", "a/b/", "", []string{"a/b/3.json", "a/b/4.json"}},
				{"the beginning of a name", "a/d", "/", []string{"a/d/"}},
				{"nothing", "c/", "/", nil},
			} {
				sizes := []int{1000} // the other servers' smaller pages repeat directories
				if store.name == "Azure" {
					sizes = []int{1, 2, 3, 4, 5, 1000}
				}
				for _, size := range sizes {
					var found []string
					for token := blob.FirstPageToken; len(token) > 0; {
						page, next, err := bucket.ListPage(t.Context(), token, size, &blob.ListOptions{Prefix: c.prefix, Delimiter: c.delimiter})
						if err != nil {
							t.Fatal(err)
						}
						if len(page) > size {
							t.Errorf("%s: a page of %d entries, want at most %d", c.name, len(page), size)
						}
						for _, object := range page {
							found = append(found, object.Key)
							if !object.IsDir && object.Size != int64(len(object.Key)) {
								t.Errorf("%s has %d bytes, want %d", object.Key, object.Size, len(object.Key))
							}
						}
						token = next
					}
					if !slices.Equal(found, c.want) {
						t.Errorf("%s in pages of %d: %q, want %q", c.name, size, found, c.want)
					}
				}
			}
		})
	}
}

func TestRangesAreReadAndAbsentObjectsAreNotFound(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			bucket := store.start(t).Open(t)
			if err := bucket.WriteAll(t.Context(), "digits", []byte("0123456789"), nil); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				offset, length int64
				want           string
			}{{0, 1, "0"}, {3, 4, "3456"}, {8, 2, "89"}, {8, 9, "89"}, {9, -1, "9"}, {0, -1, "0123456789"}} {
				reader, err := bucket.NewRangeReader(t.Context(), "digits", c.offset, c.length, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(reader)
				if err != nil || string(got) != c.want || reader.Size() != 10 {
					t.Errorf("%d bytes from %d: %q of %d (%v), want %q of 10", c.length, c.offset, got, reader.Size(), err, c.want)
				}
				if err := reader.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := bucket.Delete(t.Context(), "digits"); err != nil {
				t.Fatal(err)
			}
			for name, call := range map[string]func() error{
				"a read":   func() error { _, err := bucket.ReadAll(t.Context(), "digits"); return err },
				"a look":   func() error { _, err := bucket.Attributes(t.Context(), "digits"); return err },
				"a delete": func() error { return bucket.Delete(t.Context(), "digits") },
			} {
				if err := call(); gcerrors.Code(err) != gcerrors.NotFound && !(err == nil && store.name == "S3" && name == "a delete") {
					t.Errorf("%s of what is deleted: %v, want not found", name, err)
				}
			}
		})
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
