package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/integration/loopback"
	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/postgres"
	"holdfast/metastore/rpc"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture is an index that the peer wrote: its files, and the rows that its metastore held.
type fixture struct {
	set, index, truth string
}

var (
	webAccess       = fixture{"main", "web-access", "web-access.after-deletes.truth.json"}
	webAccessBefore = fixture{"main", "web-access", "web-access.before-deletes.truth.json"}
	audit           = fixture{"main", "audit", "audit.after-deletes.truth.json"}
	auditBefore     = fixture{"main", "audit", "audit.before-deletes.truth.json"}
	trailer         = fixture{"trailer", "web-access", "web-access.truth.json"}
	legacy          = fixture{"legacy", "web-access", "web-access.truth.json"}
)

// truth is what the peer's metastore held.
type truth struct {
	objects, published []string
	rows               map[string]row
	uid                metastore.IndexUID
}

func (f fixture) read(t *testing.T) truth {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("splitfile", "testdata", f.set, f.truth))
	require.NoError(t, err)
	var document struct {
		Objects   []string          `json:"objects"`
		Rows      []json.RawMessage `json:"rows"`
		Published []string          `json:"published"`
	}
	require.NoError(t, json.Unmarshal(text, &document))
	result := truth{objects: document.Objects, published: document.Published, rows: map[string]row{}}
	slices.Sort(result.published)
	for _, text := range document.Rows {
		parsed, err := metastore.ParseSplitRow(text)
		require.NoError(t, err)
		split, err := parsed.Split()
		require.NoError(t, err)
		result.uid = split.Metadata.IndexUID
		result.rows[split.Metadata.SplitID] = row{split.State, split.PublishTimestamp.Set, split.UpdateTimestamp, split.Metadata}
	}
	return result
}

// copyTo puts the files of the fixture into the directory of the index below root.
func (f fixture) copyTo(t *testing.T, root string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(root, f.index), 0o755))
	for _, id := range f.read(t).objects {
		content, err := os.ReadFile(filepath.Join("splitfile", "testdata", f.set, f.index, id+".split"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, f.index, id+".split"), content, 0o644))
	}
}

func (f fixture) root(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	f.copyTo(t, root)
	return root
}

func (f fixture) config(t *testing.T) *indexconfig.IndexConfig {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", f.set+"-"+f.index+".index-config.json"))
	require.NoError(t, err)
	config, err := indexconfig.ParseIndexConfig(text, ulid.Make)
	require.NoError(t, err)
	return config
}

// options returns options without a journal for a recovery of the fixture into the store.
func (f fixture) options(t *testing.T, store metastore.Store) Options {
	t.Helper()
	return Options{
		Store: store, Root: f.root(t), IndexConfigs: []*indexconfig.IndexConfig{f.config(t)},
		Settle: time.Second, Grace: time.Second,
	}
}

// restore writes the rows of the fixture into the store, which gets the index if it lacks it.
func (f fixture) restore(t *testing.T, store metastore.Store) metastore.IndexUID {
	t.Helper()
	rows := f.read(t).rows
	index, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: f.config(t)})
	require.NoError(t, err)
	request := metastore.StageSplitsRequest{IndexUID: index.IndexUID}
	var published, marked []string
	lastOpstamp := uint64(0) // of the delete tasks that the peer's metastore had
	for id, r := range rows {
		lastOpstamp = max(lastOpstamp, r.metadata.DeleteOpstamp)
		request.Splits = append(request.Splits, r.metadata)
		if r.published {
			published = append(published, id)
		}
		if r.state == metastore.MarkedForDeletion {
			marked = append(marked, id)
		}
	}
	_, err = store.StageSplits(t.Context(), request)
	require.NoError(t, err)
	require.NoError(t, store.PublishSplits(t.Context(), metastore.PublishSplitsRequest{IndexUID: index.IndexUID, StagedSplitIDs: published}))
	require.NoError(t, store.MarkSplitsForDeletion(t.Context(), index.IndexUID, marked))
	require.NoError(t, store.RaiseDeleteOpstampFloor(t.Context(), index.IndexUID, lastOpstamp))
	return index.IndexUID
}

func memoryStore(t *testing.T) metastore.Store {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: "mem://"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func postgresStore(t *testing.T) metastore.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Options{DSN: pgtest.Database(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// remote returns a client of a server on the store.
func remote(t *testing.T, store metastore.Store) metastore.Store {
	t.Helper()
	client, err := rpc.Dial(loopback.Serve(t, store, rpc.ServerOptions{}), rpc.ClientOptions{RetryAttempts: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// indexUID returns the UID of the index of that id.
func indexUID(t *testing.T, store metastore.Store, id string) metastore.IndexUID {
	t.Helper()
	index, err := store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)})
	require.NoError(t, err)
	return index.IndexUID
}

func allRows(t *testing.T, store metastore.Store, id string) map[string]row {
	t.Helper()
	rows, err := listRows(t.Context(), store, indexUID(t, store, id))
	require.NoError(t, err)
	return rows
}

// texts returns every row as text, timestamps included.
func texts(t *testing.T, store metastore.Store, id string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, store.ListSplits(t.Context(), metastore.AllSplits(indexUID(t, store, id)), func(r *metastore.SplitRow) error {
		split, err := r.Split()
		found[split.Metadata.SplitID] = string(r.AppendJSON(nil))
		return err
	}))
	return found
}

func idsIn(rows map[string]row, state metastore.SplitState) []string {
	ids := []string{}
	for id, r := range rows {
		if r.state == state {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// requireRebuilt fails unless the published rows are those of the truth, and no other row exists.
func requireRebuilt(t *testing.T, f fixture, store metastore.Store) {
	t.Helper()
	want, got := f.read(t), allRows(t, store, f.index)
	require.Equal(t, want.published, idsIn(got, metastore.Published))
	require.Empty(t, idsIn(got, metastore.Staged))
	for _, id := range want.published {
		w, g := want.rows[id].metadata, got[id].metadata
		// The metastore raises opstamps without writing the file again.
		require.LessOrEqual(t, g.DeleteOpstamp, w.DeleteOpstamp)
		w = w.WithDeleteOpstamp(g.DeleteOpstamp)
		require.True(t, sameSplit(&g, &w), "want %s\ngot  %s", w.Document(), g.Document())
		require.Equal(t, indexUID(t, store, f.index), g.IndexUID)
	}
}

// counted counts the calls that change something and can answer them otherwise.
type counted struct {
	metastore.Store
	mu      sync.Mutex
	changes int
	// around is called with the number of the call, from 1, and the call. Nil makes the call.
	around func(n int, call func() error) error
}

func (c *counted) change(call func() error) error {
	c.mu.Lock()
	c.changes++
	n := c.changes
	c.mu.Unlock()
	if c.around == nil {
		return call()
	}
	return c.around(n, call)
}

func (c *counted) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (index *metastore.IndexMetadata, err error) {
	err = c.change(func() error { index, err = c.Store.CreateIndex(ctx, request); return err })
	return index, err
}

func (c *counted) RaiseDeleteOpstampFloor(ctx context.Context, uid metastore.IndexUID, floor uint64) error {
	return c.change(func() error { return c.Store.RaiseDeleteOpstampFloor(ctx, uid, floor) })
}

func (c *counted) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (result metastore.StageSplitsResult, err error) {
	err = c.change(func() error { result, err = c.Store.StageSplits(ctx, request); return err })
	if err != nil {
		result = metastore.StageSplitsResult{}
	}
	return result, err
}

func (c *counted) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	return c.change(func() error { return c.Store.PublishSplits(ctx, request) })
}

func (c *counted) MarkSplitsForDeletion(ctx context.Context, uid metastore.IndexUID, ids []string) error {
	return c.change(func() error { return c.Store.MarkSplitsForDeletion(ctx, uid, ids) })
}

func (c *counted) DeleteSplits(ctx context.Context, uid metastore.IndexUID, ids []string) error {
	return c.change(func() error { return c.Store.DeleteSplits(ctx, uid, ids) })
}

func run(t *testing.T, options Options) *Summary {
	t.Helper()
	summary, err := Run(t.Context(), options)
	require.NoError(t, err)
	return summary
}

// only returns the one index of the summary.
func only(t *testing.T, summary *Summary) IndexSummary {
	t.Helper()
	require.Len(t, summary.Indexes, 1)
	return summary.Indexes[0]
}

func codes(s IndexSummary) []string {
	var codes []string
	for _, f := range s.Findings {
		codes = append(codes, f.Code)
	}
	return codes
}

// records reads a report.
func records(t *testing.T, report *bytes.Buffer) []Record {
	t.Helper()
	var found []Record
	lines := newLineReader(bytes.NewReader(report.Bytes()), 1<<20)
	for {
		line, err := lines.next()
		if err != nil {
			return found
		}
		var record Record
		require.NoError(t, json.Unmarshal(line, &record))
		found = append(found, record)
	}
}
