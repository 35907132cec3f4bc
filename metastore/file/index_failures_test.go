package file

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Cases I-134 to I-142 of the peer are about the three writes of its creations and deletions, which leave an index half
// made. Here one write decides; these tests fail each of the others too.

// content is all that a store answers about an index.
func content(t *testing.T, s *Store, uid metastore.IndexUID) string {
	t.Helper()
	metadata, err := s.IndexMetadata(t.Context(), metastore.IndexLookup{IndexUID: metastore.Some(uid)})
	if err != nil {
		t.Fatal(err)
	}
	shards, err := s.ListShards(t.Context(), []metastore.ListShardsSubrequest{{IndexUID: uid, SourceID: "source"}})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := s.ListDeleteTasks(t.Context(), uid, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%v\n%+v\n%+v", metadata.AppendJSON(nil), listing(t, s), shards, tasks)
}

func TestI134AMutationWhoseWriteFailsLeavesThePreviousState(t *testing.T) {
	t.Parallel()
	b, s := brokenStore(t)
	uid := createIndex(t, s, "logs")
	ctx := t.Context()
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"source","source_type":"ingest"}`))
	if err != nil {
		t.Fatal(err)
	}
	void, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"void","source_type":"void","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []*indexconfig.SourceConfig{source, void} {
		if err := s.AddSource(ctx, uid, source); err != nil {
			t.Fatal(err)
		}
	}
	stage(t, s, uid, "published", "staged", "marked")
	publish(t, s, uid, "published")
	if err := s.MarkSplitsForDeletion(ctx, uid, []string{"marked"}); err != nil {
		t.Fatal(err)
	}
	before := content(t, s, uid)
	b.broken.Store(true)
	for name, change := range map[string]func() error{
		"stage splits": func() error {
			_, err := s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("new")})
			return err
		},
		"publish splits": func() error {
			return s.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"staged"}, ReplacedSplitIDs: []string{"published"}})
		},
		"publish progress": func() error {
			request := progressOf(uid, "0", metastore.Beginning, "1", "staged")
			request.Delta.SourceID = "void"
			return s.PublishSplits(ctx, request)
		},
		"mark splits for deletion": func() error { return s.MarkSplitsForDeletion(ctx, uid, []string{"published"}) },
		"delete splits":            func() error { return s.DeleteSplits(ctx, uid, []string{"marked"}) },
		"update delete opstamps":   func() error { return s.UpdateSplitsDeleteOpstamp(ctx, uid, []string{"published"}, 7) },
		"create delete task": func() error {
			_, err := s.CreateDeleteTask(ctx, metastore.DeleteQuery{IndexUID: uid, QueryAST: `{"type":"match_all"}`})
			return err
		},
		"toggle source": func() error { return s.ToggleSource(ctx, uid, "source", false) },
		"delete source": func() error { return s.DeleteSource(ctx, uid, "source") },
		"create another index": func() error {
			_, err := s.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "other")})
			return err
		},
		"delete index":          func() error { return s.DeleteIndex(ctx, uid) },
		"mark splits in pieces": func() error { return s.MarkSplitsForDeletion(ctx, uid, append(numbered("x", 10_001), "published")) },
		"open shards of a source": func() error {
			_, err := s.OpenShards(ctx, []metastore.OpenShardSubrequest{{IndexUID: uid, SourceID: "source", ShardID: "1"}})
			return err
		},
	} {
		if err := change(); !errors.Is(err, metastore.ErrUnavailable) {
			t.Errorf("%s: error %v, want Unavailable", name, err)
		}
		for _, store := range []*Store{s, openOn(t, b.bucket)} {
			if after := content(t, store, uid); after != before {
				t.Errorf("%s left\n%s\nbefore:\n%s", name, after, before)
			}
		}
	}
}

func TestI135ALogThatIsNotOfItsDirectoryIsDamaged(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a")
	log, done := s.logs.use("logs")
	defer done()
	if err := log.snapshot(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	from := logKeys{"logs/"}
	for id, keys := range map[string]func(logKeys) []string{
		"entries":  func(k logKeys) []string { return []string{k.entry(1), k.entry(2)} },
		"snapshot": func(k logKeys) []string { return []string{k.snapshot(2), k.entry(2)} },
	} {
		for i, key := range keys(logKeys{id + "/"}) {
			object, err := b.Read(t.Context(), keys(from)[i], 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Create(t.Context(), key, object); err != nil {
				t.Fatal(err)
			}
		}
		_, err := openOn(t, b).IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)})
		if metastore.AsError(err).Kind != metastore.KindInternal || !strings.Contains(err.Error(), uid.String()) {
			t.Errorf("%s of another log: error %v, want Internal that names the index", id, err)
		}
	}
	if _, err := openOn(t, b).IndexMetadata(t.Context(), metastore.IndexLookup{IndexUID: metastore.Some(uid)}); err != nil {
		t.Errorf("the index itself: %v", err)
	}
}

// wantNoIndex fails if a store knows or lists the index.
func wantNoIndex(t *testing.T, s *Store, id string) {
	t.Helper()
	if _, err := s.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)}); !errors.Is(err, metastore.ErrNotFound) {
		t.Errorf("error %v, want NotFound", err)
	}
	if slices.Contains(listedIDs(t, s), id) {
		t.Errorf("the index is listed")
	}
}

func listedIDs(t *testing.T, s *Store) (ids []string) {
	t.Helper()
	all, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := s.ListIndexesMetadata(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, metadata := range listed {
		ids = append(ids, metadata.IndexUID.IndexID)
	}
	return slices.Sorted(slices.Values(ids))
}

func TestI137ToI139AnIndexWhoseCreationFailsDoesNotExist(t *testing.T) {
	t.Parallel()
	for name, below := range map[string]string{"when its id is added to the set": "_log/", "when its own log begins": "logs/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := brokenStore(t)
			b.below = below
			b.broken.Store(true)
			if _, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}); !errors.Is(err, metastore.ErrUnavailable) {
				t.Fatalf("error %v, want Unavailable", err)
			}
			b.broken.Store(false)
			for _, store := range []*Store{s, openOn(t, b.bucket)} {
				wantNoIndex(t, store, "logs")
				if err := store.DeleteIndex(t.Context(), metastore.IndexUID{IndexID: "logs"}); !errors.Is(err, metastore.ErrNotFound) {
					t.Errorf("deleting it: error %v, want NotFound", err)
				}
				uid := createIndex(t, store, "logs")
				if err := store.DeleteIndex(t.Context(), uid); err != nil {
					t.Errorf("deleting it once it was created: %v", err)
				}
			}
		})
	}
}

func TestI140AnIndexWhoseDeletionFailsIsAsBefore(t *testing.T) {
	t.Parallel()
	b, s := brokenStore(t)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a")
	b.below = "logs/"
	b.broken.Store(true)
	if err := s.DeleteIndex(t.Context(), uid); !errors.Is(err, metastore.ErrUnavailable) {
		t.Fatalf("error %v, want Unavailable", err)
	}
	b.broken.Store(false)
	for _, store := range []*Store{s, openOn(t, b.bucket)} {
		wantListing(t, store, "logs/a=Staged")
		if ids := listedIDs(t, store); !slices.Equal(ids, []string{"logs"}) {
			t.Errorf("indexes %q", ids)
		}
	}
}

func TestI141AnIndexIsDeletedThoughItsIDStaysInTheSet(t *testing.T) {
	t.Parallel()
	b, s := brokenStore(t)
	uid := createIndex(t, s, "logs")
	b.below = "_log/"
	b.broken.Store(true)
	if err := s.DeleteIndex(t.Context(), uid); err != nil {
		t.Fatal(err)
	}
	b.broken.Store(false)
	for _, store := range []*Store{s, openOn(t, b.bucket)} {
		wantNoIndex(t, store, "logs")
	}
	createIndex(t, s, "logs")
	if ids := listedIDs(t, openOn(t, b.bucket)); !slices.Equal(ids, []string{"logs"}) {
		t.Errorf("indexes %q", ids)
	}
}

func TestI142OnlyIndexesThatExistAreListed(t *testing.T) {
	t.Parallel()
	b, s := brokenStore(t)
	deleting, active := createIndex(t, s, "deleting"), createIndex(t, s, "active")
	b.below = "creating/"
	b.broken.Store(true)
	if _, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, "creating")}); !errors.Is(err, metastore.ErrUnavailable) {
		t.Fatalf("error %v, want Unavailable", err)
	}
	b.below = "_log/"
	if err := s.DeleteIndex(t.Context(), deleting); err != nil {
		t.Fatal(err)
	}
	b.broken.Store(false)
	if ids := s.root.current.Load().state.indexIDs(nil); !slices.Equal(slices.Sorted(slices.Values(ids)), []string{"active", "creating", "deleting"}) {
		t.Fatalf("the set holds %q: the test has nothing to prove", ids)
	}
	other := openOn(t, b.bucket)
	if ids := listedIDs(t, s); !slices.Equal(ids, []string{"active"}) {
		t.Errorf("indexes %q", ids)
	}
	unseen := createIndex(t, other, "unseen")
	if ids := listedIDs(t, s); !slices.Equal(ids, []string{"active", "unseen"}) {
		t.Errorf("indexes %q", ids)
	}
	for _, uid := range []metastore.IndexUID{active, unseen} {
		if err := other.DeleteIndex(t.Context(), uid); err != nil {
			t.Fatal(err)
		}
	}
	if ids := listedIDs(t, s); len(ids) != 0 {
		t.Errorf("indexes %q", ids)
	}
}
