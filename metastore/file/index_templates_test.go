package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func indexTemplate(t testing.TB, id string, priority uint64, patterns ...string) *indexconfig.IndexTemplate {
	t.Helper()
	text := fmt.Sprintf(`{"version":"0.9","template_id":%q,"index_id_patterns":["logs-*"],"priority":%d,"doc_mapping":{}}`, id, priority)
	template, err := indexconfig.ParseIndexTemplate([]byte(text), ulid.Make)
	if err != nil {
		t.Fatalf("index template: %v", err)
	}
	if len(patterns) > 0 {
		template.IndexIDPatterns = patterns
	}
	return template
}

func createTemplate(t testing.TB, s *Store, template *indexconfig.IndexTemplate) {
	t.Helper()
	if err := s.CreateIndexTemplate(t.Context(), template, true); err != nil {
		t.Fatalf("create index template: %v", err)
	}
}

// wantMatch checks the template that a store finds for an index id, empty for none.
func wantMatch(t testing.TB, s *Store, indexID, templateID string) {
	t.Helper()
	matches, err := s.FindIndexTemplateMatches(t.Context(), []string{indexID})
	if err != nil {
		t.Fatalf("find index template matches: %v", err)
	}
	got := ""
	if len(matches) == 1 {
		got = matches[0].Template.TemplateID
	}
	if got != templateID {
		t.Errorf("index id %q matches template %q, want %q", indexID, got, templateID)
	}
}

// brokenBucket refuses to create objects while it is broken.
type brokenBucket struct {
	bucket
	broken atomic.Bool
	below  string // the directory whose objects are refused, empty for all
}

func (b *brokenBucket) Create(ctx context.Context, key string, data []byte) error {
	if b.broken.Load() && strings.HasPrefix(key, b.below) {
		return errFault
	}
	return b.bucket.Create(ctx, key, data)
}

func brokenStore(t *testing.T) (*brokenBucket, *Store) {
	b := &brokenBucket{bucket: memBucket(t)}
	s := openOn(t, b)
	s.env.retryPause = func(int) time.Duration { return 0 }
	return b, s
}

func TestI143ATemplateWhoseOverwritingFailsMatchesAsBefore(t *testing.T) {
	t.Parallel()
	b, s := brokenStore(t)
	createTemplate(t, s, indexTemplate(t, "first", 1, "old-*"))
	b.broken.Store(true)
	if err := s.CreateIndexTemplate(t.Context(), indexTemplate(t, "first", 1, "new-*"), true); !errors.Is(err, metastore.ErrUnavailable) {
		t.Fatalf("error %v, want Unavailable", err)
	}
	if err := s.CreateIndexTemplate(t.Context(), indexTemplate(t, "second", 1, "new-*"), false); !errors.Is(err, metastore.ErrUnavailable) {
		t.Fatalf("error %v, want Unavailable", err)
	}
	for _, store := range []*Store{s, openOn(t, b.bucket)} {
		wantMatch(t, store, "old-1", "first")
		wantMatch(t, store, "new-1", "")
		if templates, err := store.ListIndexTemplates(t.Context()); err != nil || len(templates) != 1 {
			t.Errorf("%d templates, %v, want 1", len(templates), err)
		}
	}
	b.broken.Store(false)
	createTemplate(t, s, indexTemplate(t, "first", 1, "new-*"))
	wantMatch(t, s, "old-1", "")
	wantMatch(t, s, "new-1", "first")
}

func TestI144ATemplateWhoseDeletionFailsIsStillThere(t *testing.T) {
	t.Parallel()
	b, s := brokenStore(t)
	createTemplate(t, s, indexTemplate(t, "first", 1))
	b.broken.Store(true)
	if err := s.DeleteIndexTemplates(t.Context(), []string{"first"}); !errors.Is(err, metastore.ErrUnavailable) {
		t.Fatalf("error %v, want Unavailable", err)
	}
	if err := s.DeleteIndexTemplates(t.Context(), []string{"unknown"}); err != nil {
		t.Errorf("deleting nothing needs no storage: %v", err)
	}
	for _, store := range []*Store{s, openOn(t, b.bucket)} {
		wantMatch(t, store, "logs-1", "first")
		if _, err := store.IndexTemplate(t.Context(), "first"); err != nil {
			t.Errorf("index template: %v", err)
		}
	}
}

func TestATemplateCallThatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	b := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, b)
	template := indexTemplate(t, "first", 1)
	createTemplate(t, s, template)
	before := b.puts.Load()
	createTemplate(t, s, template)
	if err := s.CreateIndexTemplate(t.Context(), template, false); !errors.Is(err, metastore.ErrAlreadyExists) {
		t.Errorf("error %v, want AlreadyExists", err)
	}
	if err := s.DeleteIndexTemplates(t.Context(), []string{"unknown", ""}); err != nil {
		t.Error(err)
	}
	if written := b.puts.Load() - before; written != 0 {
		t.Errorf("%d objects were written", written)
	}
}

func TestTemplatesOfOneStoreAreSeenByAnother(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	first, second := openOn(t, b), openOn(t, b)
	createTemplate(t, first, indexTemplate(t, "first", 1))
	wantMatch(t, second, "logs-1", "first")
	if err := second.CreateIndexTemplate(t.Context(), indexTemplate(t, "first", 2), false); !errors.Is(err, metastore.ErrAlreadyExists) {
		t.Errorf("error %v, want AlreadyExists", err)
	}
	if err := second.DeleteIndexTemplates(t.Context(), []string{"first"}); err != nil {
		t.Fatal(err)
	}
	wantMatch(t, first, "logs-1", "")
}

func TestTheSnapshotOfTheRootHoldsTemplatesAsTheManifestOfThePeerDoes(t *testing.T) {
	t.Parallel()
	state := newRootState()
	for _, id := range []string{"bbb", "aaa", "Bbb"} {
		if err := state.apply(putTemplateOp{indexTemplate(t, id, 1)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := state.apply(dropTemplatesOp{"bbb", "unknown"}, 0); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	err := writeSealed(&written, rootWriter(&head[*rootState]{version: 2, writeID: uuid.MustParse(someID), state: state}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"templates":[{"version":"0.9","template_id":"Bbb","index_id_patterns":["logs-*"],"index_root_uri":null,"priority":1,"description":null,"doc_mapping":{"doc_mapping_uid":"`; !strings.Contains(written.String(), want) {
		t.Errorf("the snapshot lacks %s:\n%s", want, written.String())
	}
	read, err := rootCodec.read(&sealReader{r: bytes.NewReader(written.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	if got := read.state.templates.Keys(); !slices.Equal(got, []string{"Bbb", "aaa"}) {
		t.Errorf("templates %q, want Bbb and aaa", got)
	}
}

func BenchmarkFindIndexTemplateMatches(b *testing.B) {
	s := openOn(b, memBucket(b), func(o *Options) { o.Refresh = time.Hour })
	for i := range 200 {
		createTemplate(b, s, indexTemplate(b, fmt.Sprintf("template-%03d", i), uint64(i), fmt.Sprintf("logs-%03d-*", i), "-*-tmp"))
	}
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("logs-%03d-eu", 2*i)
	}
	for b.Loop() {
		if matches, err := s.FindIndexTemplateMatches(b.Context(), ids); err != nil || len(matches) != len(ids) {
			b.Fatalf("%d matches, %v", len(matches), err)
		}
	}
}
