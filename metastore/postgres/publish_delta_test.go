package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/storetest"
)

const voidSource = `{"version":"0.9","source_id":"source","source_type":"void","params":{}}`

// createRequest asks for an index with a source.
func createRequest(t testing.TB, indexID, source string) metastore.CreateIndexRequest {
	t.Helper()
	config, err := indexconfig.ParseSourceConfig([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return metastore.CreateIndexRequest{Config: indexConfig(t, indexID), Sources: []*indexconfig.SourceConfig{config}}
}

// progressOf asks to publish splits with progress in one partition.
func progressOf(uid metastore.IndexUID, partition string, from, to metastore.Position, staged ...string) metastore.PublishSplitsRequest {
	return metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: staged, PublishToken: metastore.Some("token"),
		Delta: &metastore.CheckpointDelta{SourceID: "source", Partitions: map[string]metastore.PartitionDelta{partition: {From: from, To: to}}}}
}

// deltaBundle is a store with an index whose source keeps its progress in the metadata.
type deltaBundle struct {
	*testing.T
	store *Store
	conn  *pgx.Conn
	uid   metastore.IndexUID
}

func newDeltaBundle(t *testing.T) *deltaBundle {
	t.Helper()
	store, dsn := openStore(t, Options{})
	metadata, err := store.CreateIndex(t.Context(), createRequest(t, "logs", voidSource))
	if err != nil {
		t.Fatal(err)
	}
	return &deltaBundle{t, store, connect(t, dsn), metadata.IndexUID}
}

func (b *deltaBundle) publish(request metastore.PublishSplitsRequest) {
	b.Helper()
	if err := b.store.PublishSplits(b.Context(), request); err != nil {
		b.Fatal(err)
	}
}

func (b *deltaBundle) checkpoint() string {
	b.Helper()
	return queryValue[string](b.T, b.conn, "SELECT (index_metadata_json::json -> 'checkpoint')::text FROM indexes WHERE index_uid = $1", b.uid.String())
}

// D1.7 of the checklist in interop_test.go.
func TestTheCheckpointIsWhereThePeerReadsItAndNothingElseOfTheDocumentChanges(t *testing.T) {
	t.Parallel()
	b := newDeltaBundle(t)
	document := func() string {
		return queryValue[string](t, b.conn, "SELECT index_metadata_json FROM indexes WHERE index_uid = $1", b.uid.String())
	}
	metadata, err := b.store.IndexMetadata(t.Context(), metastore.IndexLookup{IndexUID: metastore.Some(b.uid)})
	if err != nil {
		t.Fatal(err)
	}
	b.publish(progressOf(b.uid, "q", "", "~"))
	b.publish(progressOf(b.uid, "p", "", "00000000000000000007"))
	if got, want := b.checkpoint(), `{"source":{"p":"00000000000000000007","q":"~"}}`; got != want {
		t.Errorf("the checkpoint is %s, want %s", got, want)
	}
	want := metadata.WithPositions("source", map[string]metastore.Position{"p": "00000000000000000007", "q": "~"})
	if got := document(); got != string(want.AppendJSON(nil)) {
		t.Errorf("the document is\n%s, want\n%s", got, want.AppendJSON(nil))
	}
}

// D1.8 of the checklist in interop_test.go.
func TestProgressInShardsIsInTheirColumnsAndTheIndexRowIsNotWritten(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t)
	b.open("a", "b", "c")
	if _, err := b.store.AcquireShards(t.Context(), metastore.AcquireShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"a", "b"}, PublishToken: "token"}); err != nil {
		t.Fatal(err)
	}
	exec(t, b.conn, "UPDATE shards SET update_timestamp = '2020-01-01'")
	const version = "SELECT xmin::text FROM indexes WHERE index_uid = $1"
	before := queryValue[string](t, b.conn, version, b.uid.String())
	stage(t, b.store, b.uid, "s1")
	request := progressOf(b.uid, "a", "", "5", "s1")
	request.Delta.Partitions["b"] = metastore.PartitionDelta{To: "~6"}
	if err := b.store.PublishSplits(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	const row = `SELECT concat_ws(' ', publish_position_inclusive, shard_state, publish_token, update_timestamp = date_trunc('second', update_timestamp),
		now() AT TIME ZONE 'utc' - update_timestamp < interval '1 minute') FROM shards WHERE shard_id = $1`
	for id, want := range map[string]string{"a": "5 open token t t", "b": "~6 closed token t t", "c": " open t f"} {
		if got := queryValue[string](t, b.conn, row, id); got != want {
			t.Errorf("shard %s is %q, want %q", id, got, want)
		}
	}
	if after := queryValue[string](t, b.conn, version, b.uid.String()); after != before {
		t.Error("the index row was written")
	}
	const published = "SELECT split_state || ' ' || (publish_timestamp = update_timestamp) FROM splits WHERE split_id = 's1'"
	if got := queryValue[string](t, b.conn, published); got != "Published true" {
		t.Errorf("the split is %q", got)
	}
}

func TestADeltaThatIsRefusedOrEmptyDoesNotWriteTheIndexRow(t *testing.T) {
	t.Parallel()
	b := newDeltaBundle(t)
	b.publish(progressOf(b.uid, "p", "", "5"))
	stage(t, b.store, b.uid, "s1")
	const version = "SELECT xmin::text FROM indexes WHERE index_uid = $1"
	before := queryValue[string](t, b.conn, version, b.uid.String())
	if err := b.store.PublishSplits(t.Context(), progressOf(b.uid, "p", "4", "6", "s1")); !errors.Is(err, metastore.ErrFailedPrecondition) {
		t.Errorf("an incompatible delta: %v", err)
	}
	if err := b.store.PublishSplits(t.Context(), progressOf(b.uid, "p", "5", "6", "x")); !errors.Is(err, metastore.ErrNotFound) {
		t.Errorf("an unknown split: %v", err)
	}
	empty := progressOf(b.uid, "p", "", "1", "s1")
	clear(empty.Delta.Partitions)
	b.publish(empty)
	if after := queryValue[string](t, b.conn, version, b.uid.String()); after != before {
		t.Error("the index row was written")
	}
}

// lockIndex holds the lock that publishes with a delta need, until the returned function is called.
func (b *deltaBundle) lockIndex() (unlock func()) {
	b.Helper()
	tx, err := b.conn.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	exec(b.T, tx, "SELECT 1 FROM indexes WHERE index_uid = $1 FOR NO KEY UPDATE", b.uid.String())
	return func() {
		if err := tx.Rollback(context.Background()); err != nil {
			b.Error(err)
		}
	}
}

// waitForQueue waits until a transaction runs, with n publishes behind it.
func (b *deltaBundle) waitForQueue(n int) {
	b.Helper()
	waitUntil(b.T, fmt.Sprintf("%d publishes wait behind a transaction", n), func() bool {
		b.store.deltas.mu.Lock()
		defer b.store.deltas.mu.Unlock()
		queue := b.store.deltas.queues[b.uid]
		return queue != nil && len(queue.waiting) == n
	})
}

func TestPublishesThatWaitTogetherShareATransactionAndEachHasItsOwnOutcome(t *testing.T) {
	t.Parallel()
	b := newDeltaBundle(t)
	stage(t, b.store, b.uid, numberedIDs("s", 10)...)
	stage(t, b.store, b.uid, "new")
	unlock := b.lockIndex()
	requests := []metastore.PublishSplitsRequest{
		progressOf(b.uid, "first", "", "1", "s000000"),
		progressOf(b.uid, "p", "", "1", "s000001"),
		progressOf(b.uid, "p", "1", "2", "s000002"), // behind the one before, in the same transaction
		progressOf(b.uid, "p", "1", "3", "s000003"), // which this one comes too late for
		progressOf(b.uid, "p", "2", "3", "s000004", "unknown"),
		progressOf(b.uid, "p", "2", "4", "s000001"),
		progressOf(b.uid, "q", "", "1", "new"),
		progressOf(b.uid, "p", "2", "5", "s000005"),
	}
	requests[6].ReplacedSplitIDs = []string{"s000001"} // published in the same transaction
	errs := make([]error, len(requests))
	var group sync.WaitGroup
	for i, request := range requests {
		group.Go(func() { errs[i] = b.store.PublishSplits(context.Background(), request) })
		b.waitForQueue(i)
	}
	unlock()
	group.Wait()
	for i, want := range []error{nil, nil, nil, metastore.ErrFailedPrecondition, metastore.ErrNotFound, metastore.ErrFailedPrecondition, nil, nil} {
		if !errors.Is(errs[i], want) {
			t.Errorf("publish %d: %v, want %v", i, errs[i], want)
		}
	}
	if got, want := b.checkpoint(), `{"source":{"first":"1","p":"5","q":"1"}}`; got != want {
		t.Errorf("the checkpoint is %s, want %s", got, want)
	}
	const changed = "SELECT string_agg(split_id || ' ' || split_state || ' ' || (publish_timestamp IS NOT NULL), ', ' ORDER BY split_id) FROM splits WHERE split_state <> 'Staged'"
	const want = "new Published true, s000000 Published true, s000001 MarkedForDeletion true, s000002 Published true, s000005 Published true"
	if got := queryValue[string](t, b.conn, changed); got != want {
		t.Errorf("changed are %s, want %s", got, want)
	}
	if n := queryValue[int64](t, b.conn, "SELECT count(DISTINCT xmin::text) FROM splits WHERE split_state <> 'Staged'"); n != 2 {
		t.Errorf("the publishes took %d transactions, want 2", n)
	}
}

func TestAPublishIsWithdrawnWhenItsCallerGoesBeforeItsTurn(t *testing.T) {
	t.Parallel()
	b := newDeltaBundle(t)
	stage(t, b.store, b.uid, "s1", "s2")
	unlock := b.lockIndex()
	var first, second error
	var group sync.WaitGroup
	group.Go(func() { first = b.store.PublishSplits(context.Background(), progressOf(b.uid, "p", "", "1", "s1")) })
	b.waitForQueue(0)
	ctx, cancel := context.WithCancel(context.Background())
	group.Go(func() { second = b.store.PublishSplits(ctx, progressOf(b.uid, "q", "", "1", "s2")) })
	b.waitForQueue(1)
	cancel()
	b.waitForQueue(0)
	unlock()
	group.Wait()
	if first != nil || metastore.AsError(second).Kind != metastore.KindTimeout {
		t.Errorf("the publish whose turn it was: %v; the one that was withdrawn: %v", first, second)
	}
	if got, want := b.checkpoint(), `{"source":{"p":"1"}}`; got != want {
		t.Errorf("the checkpoint is %s, want %s", got, want)
	}
}

func TestAPublishWhoseCallersAllGoIsGivenUpInTheDatabaseToo(t *testing.T) {
	t.Parallel()
	b := newDeltaBundle(t)
	unlock := b.lockIndex()
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	var group sync.WaitGroup
	group.Go(func() { err = b.store.PublishSplits(ctx, progressOf(b.uid, "p", "", "1")) })
	other := connect(t, b.store.options.DSN)
	waitUntil(t, "the publish waits for the lock", func() bool {
		return queryValue[int64](t, other, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	})
	cancel()
	group.Wait()
	if metastore.AsError(err).Kind != metastore.KindTimeout {
		t.Errorf("the call failed with %v, want Timeout", err)
	}
	waitUntil(t, "nothing waits for the lock", func() bool {
		return queryValue[int64](t, other, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0
	})
	unlock()
	b.publish(progressOf(b.uid, "p", "", "2"))
}

// publishElsewhere publishes in turn through two stores, as two servers on one database do.
type publishElsewhere struct {
	metastore.Store
	other metastore.Store
	calls atomic.Int64
}

func (p *publishElsewhere) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	if p.calls.Add(1)%2 == 0 {
		return p.other.PublishSplits(ctx, request)
	}
	return p.Store.PublishSplits(ctx, request)
}

func TestEveryRecordIsPublishedExactlyOnceThroughTwoServersWhoseConnectionsBreak(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	servers := &publishElsewhere{Store: store, other: reopenStore(t, Options{DSN: dsn})}
	control := connect(t, dsn)
	cut := 0
	storetest.CheckExactlyOnce(t.Context(), t, servers, "logs", 6, func(done <-chan struct{}) {
		often := time.NewTicker(5 * time.Millisecond)
		defer often.Stop()
		for next := int64(16); ; {
			select {
			case <-done:
				return
			case <-often.C:
			}
			if servers.calls.Load() < next {
				continue
			}
			next = servers.calls.Load() + 16
			tag, err := control.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = $1 AND state <> 'idle' ORDER BY random() LIMIT 1`, applicationName)
			if err != nil {
				t.Errorf("cutting a connection: %v", err)
				return
			}
			cut += int(tag.RowsAffected())
		}
	})
	if cut == 0 {
		t.Error("no connection was cut")
	}
}
