package postgres

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

// rival is a transaction of another session, open until commit.
type rival struct {
	t    testing.TB
	conn *pgx.Conn
}

func newRival(t testing.TB, dsn string, statements ...string) *rival {
	t.Helper()
	r := &rival{t: t, conn: connect(t, dsn)}
	exec(t, r.conn, "BEGIN")
	for _, statement := range statements {
		exec(t, r.conn, statement)
	}
	return r
}

func (r *rival) commit() {
	r.t.Helper()
	exec(r.t, r.conn, "COMMIT")
}

// whileWaiting starts call, waits until it waits for a lock, does what is given, lets the rival commit and returns what call
// returned.
func (r *rival) whileWaiting(call func() error, do ...func()) error {
	r.t.Helper()
	result := make(chan error, 1)
	go func() { result <- call() }()
	observer := r.conn
	waitUntil(r.t, "the call waits for the lock", func() bool {
		return queryValue[int64](r.t, observer, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'", applicationName) > 0
	})
	for _, meanwhile := range do {
		meanwhile()
	}
	r.commit()
	return <-result
}

// rowVersion tells whether a split's row was written or locked.
func rowVersion(t testing.TB, dsn, splitID string) string {
	t.Helper()
	return queryValue[string](t, connect(t, dsn), "SELECT concat_ws(' ', xmin, xmax, ctid, update_timestamp, md5(splits::text)) FROM splits WHERE split_id = $1", splitID)
}

func states(t testing.TB, store metastore.Store) []string {
	t.Helper()
	return list(t, store, &metastore.ListSplitsQuery{AllIndexes: true, SortBy: metastore.SortByIndexUID})
}

func expect(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func expectRefused(t testing.TB, err error, kind metastore.ErrorKind, splitIDs ...string) {
	t.Helper()
	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != kind {
		t.Fatalf("got error %v, want %s", err, kind)
	}
	expect(t, typed.Entity.SplitIDs, splitIDs...)
}

func TestPublishSeesTheStateThatItWaitedFor(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'Published' WHERE split_id = 'b'")
	err := r.whileWaiting(func() error {
		return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a", "b"}})
	})
	expectRefused(t, err, metastore.KindFailedPrecondition, "b")
	expect(t, states(t, store), "a Staged", "b Published")
}

func TestPublishCountsASplitThatWasDeletedMeanwhileAsUnknown(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	r := newRival(t, dsn, "DELETE FROM splits WHERE split_id = 'b'")
	err := r.whileWaiting(func() error {
		return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"b", "a"}})
	})
	expectRefused(t, err, metastore.KindNotFound, "b")
	expect(t, states(t, store), "a Staged")
}

func TestPublishChangesTheRowVersionThatItWaitedFor(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	r := newRival(t, dsn, "UPDATE splits SET node_id = 'other' WHERE split_id = 'b'")
	err := r.whileWaiting(func() error {
		return store.PublishSplits(context.Background(), metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a", "b"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, states(t, store), "a Published", "b Published")
	if node := queryValue[string](t, connect(t, dsn), "SELECT node_id FROM splits WHERE split_id = 'b'"); node != "other" {
		t.Errorf("publishing overwrote what the other session wrote: node_id %q", node)
	}
}

func TestMarkKeepsThePublishTimeThatItWaitedFor(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'Published', publish_timestamp = '2020-01-01' WHERE split_id = 'a'")
	if err := r.whileWaiting(func() error { return store.MarkSplitsForDeletion(context.Background(), uid, []string{"a"}) }); err != nil {
		t.Fatal(err)
	}
	expect(t, states(t, store), "a MarkedForDeletion")
	if year := queryValue[int64](t, connect(t, dsn), "SELECT extract(year FROM publish_timestamp)::bigint FROM splits"); year != 2020 {
		t.Errorf("the publish time is of the year %d", year)
	}
}

func TestMarkLeavesASplitAloneThatIsMarkedMeanwhile(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'MarkedForDeletion', update_timestamp = '2020-01-01' WHERE split_id = 'a'")
	if err := r.whileWaiting(func() error { return store.MarkSplitsForDeletion(context.Background(), uid, []string{"a"}) }); err != nil {
		t.Fatal(err)
	}
	if year := queryValue[int64](t, connect(t, dsn), "SELECT extract(year FROM update_timestamp)::bigint FROM splits"); year != 2020 {
		t.Errorf("marking again moved the update time to the year %d", year)
	}
}

func TestDeleteSeesTheStateThatItWaitedFor(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	mark(t, store, uid, "a", "b")
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'Published' WHERE split_id = 'b'")
	err := r.whileWaiting(func() error { return store.DeleteSplits(context.Background(), uid, []string{"b", "a"}) })
	expectRefused(t, err, metastore.KindFailedPrecondition, "b")
	expect(t, states(t, store), "a MarkedForDeletion", "b Published")
}

func TestStageRefusesASplitThatIsPublishedMeanwhile(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "b")
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'Published' WHERE split_id = 'b'")
	err := r.whileWaiting(func() error {
		_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("c", "b", "a")})
		return err
	})
	expectRefused(t, err, metastore.KindFailedPrecondition, "b")
	expect(t, states(t, store), "b Published")
}

func TestStageRepeatsItselfWhenTheSplitInItsWayIsRemoved(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "b")
	publish(t, store, uid, "b")
	r := newRival(t, dsn, "DELETE FROM splits WHERE split_id = 'b'")
	err := r.whileWaiting(func() error {
		_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a", "b")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, states(t, store), "a Staged", "b Staged")
}

func TestDeleteIndexTakesWithItWhatWasStagedMeanwhile(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	r := newRival(t, dsn, `INSERT INTO splits (index_uid, split_id, split_state, tags, split_metadata_json, node_id)
		SELECT index_uid, 'a', 'Staged', '{}', '{"footer_offsets":{"end":1}}', 'n' FROM indexes`)
	if err := r.whileWaiting(func() error { return store.DeleteIndex(context.Background(), uid) }); err != nil {
		t.Fatal(err)
	}
	if n := queryValue[int64](t, connect(t, dsn), "SELECT count(*) FROM splits"); n != 0 {
		t.Errorf("%d splits are left", n)
	}
}

func TestStagingAndPublishingDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	// What a publish holds while it works, and what one with a checkpoint will hold.
	newRival(t, dsn, "SELECT 1 FROM indexes FOR NO KEY UPDATE")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("b")}); err != nil {
		t.Fatal(err)
	}
	if err := store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
}
