package file

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/indexconfig"
)

// cuttingBucket fails puts whose key a test picks, before or after their effect, and everything that follows until
// it is mended.
type cuttingBucket struct {
	bucket
	mu     sync.Mutex
	cutAt  func(key string) bool
	effect bool // the put that is cut has its effect
	broken bool
}

func (c *cuttingBucket) cut(at func(key string) bool, effect bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutAt, c.effect = at, effect
}

func (c *cuttingBucket) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutAt, c.broken = nil, false
}

func (c *cuttingBucket) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

func (c *cuttingBucket) Create(ctx context.Context, key string, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return errFault
	}
	if c.cutAt == nil || !c.cutAt(key) {
		return c.bucket.Create(ctx, key, data)
	}
	c.broken = true
	if c.effect {
		if err := c.bucket.Create(ctx, key, data); err != nil {
			return err
		}
	}
	return errFault
}

func (c *cuttingBucket) CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error {
	if c.isBroken() {
		return errFault
	}
	return c.bucket.CreateFrom(ctx, key, write)
}

func (c *cuttingBucket) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	if c.isBroken() {
		return nil, errFault
	}
	return c.bucket.Read(ctx, key, limit)
}

func (c *cuttingBucket) List(ctx context.Context, directory string) ([]string, error) {
	if c.isBroken() {
		return nil, errFault
	}
	return c.bucket.List(ctx, directory)
}

func (c *cuttingBucket) Close() error { return nil }

func ofIndexLog(key string) bool { return strings.HasPrefix(key, "logs/") }

func wantUnknown(t *testing.T, err error) {
	t.Helper()
	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind.CertainlyAborted() {
		t.Fatalf("a call whose outcome is unknown: %v", err)
	}
}

func TestAKeyedCallWhoseAnswerFromTheStorageIsLost(t *testing.T) {
	t.Parallel()
	for name, effect := range map[string]bool{"the entry was created": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &cuttingBucket{bucket: memBucket(t)}
			s := openOn(t, b)
			uid := createIndex(t, s, "logs")
			record := newRecord(t, "CreateDeleteTask")
			query := metastore.DeleteQuery{IndexUID: uid, QueryAST: "q"}
			b.cut(ofIndexLog, effect)
			_, err := s.WithRecord(record).CreateDeleteTask(t.Context(), query)
			wantUnknown(t, err)
			b.mend()
			_, err = openOn(t, b).WithRecord(record).CreateDeleteTask(t.Context(), query)
			if effect {
				wantReplayed(t, err, record)
			} else if err != nil {
				t.Fatal(err)
			}
			_, err = s.WithRecord(record).CreateDeleteTask(t.Context(), query)
			wantReplayed(t, err, record)
			if tasks, err := s.ListDeleteTasks(t.Context(), uid, 0); err != nil || len(tasks) != 1 {
				t.Fatalf("tasks %v, %v; want one", tasks, err)
			}
		})
	}
}

func TestAKeyedCreationThatWasCutOffIsCompleted(t *testing.T) {
	t.Parallel()
	for name, effect := range map[string]bool{"behind the log of the index": true, "before it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &cuttingBucket{bucket: memBucket(t)}
			s := openOn(t, b)
			record := newRecord(t, "CreateIndex")
			request := metastore.CreateIndexRequest{Config: indexConfig(t, "logs"), Incarnation: metastore.Some(record.Key.ULID(record.Principal, "logs"))}
			b.cut(ofIndexLog, effect)
			_, err := s.WithRecord(record).CreateIndex(t.Context(), request)
			wantUnknown(t, err)
			b.mend()
			again := openOn(t, b)
			index, err := again.WithRecord(record).CreateIndex(t.Context(), request)
			if effect {
				wantReplayed(t, err, record)
			} else if err != nil || index.IndexUID.Incarnation != request.Incarnation.Value {
				t.Fatalf("created as %v, %v", index, err)
			}
			if found, err := again.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("logs")}); err != nil || found.IndexUID.Incarnation != request.Incarnation.Value {
				t.Fatalf("found %v, %v", found, err)
			}
		})
	}
}

func TestAKeyedDeletionThatWasCutOffIsCompleted(t *testing.T) {
	t.Parallel()
	ofRootLog := func(key string) bool { return strings.HasPrefix(key, "_log/") }
	for name, c := range map[string]struct {
		cut    func(string) bool
		effect bool
	}{
		"before the log of the index": {ofIndexLog, false},
		"behind the log of the index": {ofIndexLog, true},
		"before the root log":         {ofRootLog, false},
		"behind the root log":         {ofRootLog, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &cuttingBucket{bucket: memBucket(t)}
			s := openOn(t, b)
			uid := createIndex(t, s, "logs")
			record := newRecord(t, "DeleteIndex")
			b.cut(c.cut, c.effect)
			_ = s.WithRecord(record).DeleteIndex(t.Context(), uid) // its outcome may be unknown, or known although the root log lags
			if !b.isBroken() {
				t.Fatal("nothing was cut off")
			}
			b.mend()
			again := openOn(t, b)
			err := again.WithRecord(record).DeleteIndex(t.Context(), uid)
			var replayed *idempotency.Replayed
			if err != nil && !errors.As(err, &replayed) {
				t.Fatal(err)
			}
			if indexes, err := again.ListIndexesMetadata(t.Context(), everything(t)); err != nil || len(indexes) != 0 {
				t.Fatalf("indexes %v, %v", indexes, err)
			}
			next := createIndex(t, again, "logs")
			wantReplayed(t, again.WithRecord(record).DeleteIndex(t.Context(), uid), record)
			if indexes, err := again.ListIndexesMetadata(t.Context(), everything(t)); err != nil || len(indexes) != 1 || indexes[0].IndexUID != next {
				t.Fatalf("indexes %v, %v; want %s", indexes, err, next)
			}
		})
	}
}

func everything(t *testing.T) *indexconfig.IndexIDPatterns {
	t.Helper()
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	return patterns
}
