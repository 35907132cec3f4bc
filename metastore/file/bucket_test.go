package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestABucketCreatesAnObjectOnce(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		if err := b.Create(t.Context(), "a/b/one", []byte("first")); err != nil {
			t.Fatal(err)
		}
		if err := b.Create(t.Context(), "a/b/one", []byte("second")); !errors.Is(err, errExists) {
			t.Fatalf("second create: %v, want %v", err, errExists)
		}
		err := b.CreateFrom(t.Context(), "a/b/one", func(w io.Writer) error { _, err := io.WriteString(w, "third"); return err })
		if !errors.Is(err, errExists) {
			t.Fatalf("create from: %v, want %v", err, errExists)
		}
		if text, err := b.Read(t.Context(), "a/b/one", 100); err != nil || string(text) != "first" {
			t.Fatalf("read %q, %v", text, err)
		}
	})
}

func TestOfManyConcurrentCreatesOfAnObjectOneWins(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		for round := range 20 {
			var won atomic.Int64
			var winner atomic.Value
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					text := fmt.Sprint("writer ", i)
					if err := b.Create(context.Background(), fmt.Sprint("dir/", round), []byte(text)); err == nil {
						won.Add(1)
						winner.Store(text)
					} else if !errors.Is(err, errExists) {
						t.Errorf("create: %v", err)
					}
				})
			}
			wg.Wait()
			text, err := b.Read(t.Context(), fmt.Sprint("dir/", round), 100)
			if won.Load() != 1 || err != nil || string(text) != winner.Load() {
				t.Fatalf("%d writers won, object %q, %v", won.Load(), text, err)
			}
		}
	})
}

func TestAnObjectWhoseWritingFailsDoesNotExist(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		failure := errors.New("enough")
		err := b.CreateFrom(t.Context(), "dir/half", func(w io.Writer) error {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
			return failure
		})
		if !errors.Is(err, failure) {
			t.Fatalf("create: %v, want %v", err, failure)
		}
		if _, err := b.Read(t.Context(), "dir/half", 1<<21); !errors.Is(err, errNotExist) {
			t.Fatalf("read: %v, want %v", err, errNotExist)
		}
	})
}

func TestABucketListsADirectoryOnly(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		for _, key := range []string{"dir/b", "dir/a", "dir/sub/c", "other/d", "dirt"} {
			if err := b.Create(t.Context(), key, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := names(t, b, "dir/"); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("listed %q", got)
		}
		if got := names(t, b, "nowhere/"); len(got) != 0 {
			t.Fatalf("listed %q", got)
		}
	})
}

func TestDeletingAnObjectTwiceIsNoError(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		if err := b.Create(t.Context(), "dir/a", nil); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.Delete(t.Context(), "dir/a"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Read(t.Context(), "dir/a", 1); !errors.Is(err, errNotExist) {
			t.Fatalf("read: %v, want %v", err, errNotExist)
		}
	})
}

func TestABucketRefusesToReadAnObjectBeyondTheLimit(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		if err := b.Create(t.Context(), "dir/a", []byte("12345")); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(t.Context(), "dir/a", 4); !errors.Is(err, errTooLarge) {
			t.Fatalf("read: %v, want %v", err, errTooLarge)
		}
	})
}

func TestOldTemporaryFilesAreRemovedAndYoungOnesAreNotListed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := localBucket(t, root)
	if err := b.Create(t.Context(), "dir/a", nil); err != nil {
		t.Fatal(err)
	}
	young, old := filepath.Join(root, "dir", temporaryPrefix+"young"), filepath.Join(root, "dir", temporaryPrefix+"old")
	for _, name := range []string{young, old} {
		if err := os.WriteFile(name, []byte("half an ent"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*temporaryMaxAge)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, b, "dir/"); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("listed %q", got)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young file: %v", err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old file: %v", err)
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "manifest.json"), []byte(`{"version":"0.9","indexes":{},"templates":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	older := t.TempDir()
	if err := os.WriteFile(filepath.Join(older, "indexes_states.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, want string }{
		{"", "the URL is empty"},
		{"ftp://host/dir", `scheme "ftp" is not known`},
		{"s3:///prefix", "names no bucket"},
		{"s3://user:secret@bucket/prefix", "may not have credentials"},
		{"file://host/dir", "file:///directory"},
		{foreign, "metastore import --from '" + foreign + "' --store '" + foreign + "-holdfast'"},
		{older, "metastore import --from '" + older + "' --store '" + older + "-holdfast'"},
		{file, "is not a directory"},
	} {
		s, err := Open(t.Context(), Options{URL: c.url})
		if err == nil {
			t.Errorf("%q: no error, want %q", c.url, c.want)
			_ = s.Close()
		} else if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", c.url, err, c.want)
		}
	}
}

// overwritingBucket creates objects that exist, as a service does that ignores conditions.
type overwritingBucket struct{ bucket }

func (o overwritingBucket) Create(ctx context.Context, key string, data []byte) error {
	if err := o.Delete(ctx, key); err != nil {
		return err
	}
	return o.bucket.Create(ctx, key, data)
}

func TestAStoreRefusesAStorageThatIgnoresConditions(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	if _, err := open(t.Context(), overwritingBucket{b}, Options{}); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Fatalf("open: %v", err)
	}
	if left := names(t, b, logDirectory); len(left) != 0 {
		t.Fatalf("the probe left %q", left)
	}
}

func TestTheSuggestedImportNamesAPlaceBesideAndNoSecret(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"./data/":                      "--from './data/' --store './data-holdfast'",
		"s3://bucket/a?secret=x":       "--from 's3://bucket/a?...' --store 's3://bucket/a-holdfast?...'",
		"s3://bucket":                  "--from 's3://bucket' --store 's3://bucket/holdfast'",
		"it's":                         `--from 'it'\''s' --store 'it'\''s-holdfast'`,
		"file:///var/lib/quickwit/qw/": "--from 'file:///var/lib/quickwit/qw/' --store 'file:///var/lib/quickwit/qw-holdfast'",
	} {
		if got := importCommand(location); got != "metastore import "+want {
			t.Errorf("%s: got %s", location, got)
		}
	}
}
