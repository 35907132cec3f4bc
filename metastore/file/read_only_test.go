package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

func openReadOnly(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, ReadOnly: true})
	if err != nil {
		t.Fatalf("open read-only: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// tree returns every file and directory below a directory, with size and time.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			found = append(found, path+" "+info.Mode().String()+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAReadOnlyStoreFollowsAnotherOneAndWritesNothing(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "store")
	writer := openOn(t, localBucket(t, directory))
	uid := createIndex(t, writer, "logs")
	stage(t, writer, uid, "a")
	// What a crash left long ago; a writer would remove it.
	leftover := filepath.Join(directory, "logs", "_log", temporaryPrefix+"leftover")
	if err := os.WriteFile(leftover, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	longAgo := time.Now().Add(-2 * temporaryMaxAge)
	if err := os.Chtimes(leftover, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	before := tree(t, directory)
	reader := openReadOnly(t, directory)
	wantListing(t, reader, "logs/a=Staged")
	if err := reader.CheckConnectivity(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := reader.ClusterIdentity(t.Context()); !errors.Is(err, metastore.ErrForbidden) {
		t.Errorf("identity that nobody has drawn yet: error %v, want Forbidden", err)
	}
	refuseChanges(t, reader, uid)
	if after := tree(t, directory); !slices.Equal(after, before) {
		t.Errorf("the directory was changed from\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}

	stage(t, writer, uid, "b")
	createTemplate(t, writer, indexTemplate(t, "first", 1))
	identity, err := writer.ClusterIdentity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantListing(t, reader, "logs/a=Staged", "logs/b=Staged")
	wantMatch(t, reader, "logs-1", "first")
	if got, err := reader.ClusterIdentity(t.Context()); err != nil || got != identity {
		t.Errorf("identity %q, %v, want %q", got, err, identity)
	}
}

// refuseChanges checks some calls on index logs and on the root log.
func refuseChanges(t *testing.T, s *Store, uid metastore.IndexUID) {
	t.Helper()
	ctx := t.Context()
	_, createErr := s.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "other")})
	_, stageErr := s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("z")})
	for call, err := range map[string]error{
		"create index":    createErr,
		"stage":           stageErr,
		"delete index":    s.DeleteIndex(ctx, uid),
		"publish":         s.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a"}}),
		"mark":            s.MarkSplitsForDeletion(ctx, uid, []string{"a"}),
		"delete":          s.DeleteSplits(ctx, uid, []string{"a"}),
		"create template": s.CreateIndexTemplate(ctx, indexTemplate(t, "first", 1), true),
	} {
		if !errors.Is(err, metastore.ErrForbidden) {
			t.Errorf("%s: error %v, want Forbidden", call, err)
		}
	}
}

func TestAReadOnlyStoreInABucketWritesNoObject(t *testing.T) {
	t.Parallel()
	b := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, b, func(o *Options) { o.ReadOnly = true })
	wantListing(t, s)
	refuseChanges(t, s, metastore.IndexUID{IndexID: "logs", Incarnation: ulid.Make()})
	if n := b.puts.Load(); n != 0 {
		t.Errorf("%d objects were written", n)
	}
}

func TestAReadOnlyStoreMakesNoDirectory(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "absent")
	_, err := Open(t.Context(), Options{URL: directory, ReadOnly: true})
	if err == nil || !strings.Contains(err.Error(), directory) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that names the directory", err)
	}
	if _, err := os.Stat(directory); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v, want that there is none", err)
	}
}
