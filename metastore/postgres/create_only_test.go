package postgres

import (
	"context"
	"testing"
	"time"

	"holdfast/metastore"
)

// threeStates stages a, publishes b and marks c.
func threeStates(t testing.TB, store metastore.Store, uid metastore.IndexUID) {
	t.Helper()
	stage(t, store, uid, "a", "b", "c")
	publish(t, store, uid, "b")
	mark(t, store, uid, "c")
}

func expectSkipped(t testing.TB, result metastore.StageSplitsResult, want ...string) {
	t.Helper()
	var got []string
	for _, skipped := range result.Skipped {
		got = append(got, skipped.SplitID+" "+skipped.State.String())
	}
	expect(t, got, want...)
}

func TestCreateOnlyNeitherChangesNorLocksExistingRows(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	threeStates(t, store, uid)
	before := []string{rowVersion(t, dsn, "a"), rowVersion(t, dsn, "b"), rowVersion(t, dsn, "c")}

	result := stageCreateOnly(t, store, uid, "d", "c", "b", "a")

	expect(t, result.Staged, "d")
	expectSkipped(t, result, "a Staged", "b Published", "c MarkedForDeletion")
	expect(t, []string{rowVersion(t, dsn, "a"), rowVersion(t, dsn, "b"), rowVersion(t, dsn, "c")}, before...)
}

func TestCreateOnlyDoesNotWaitForWhoHoldsAnExistingRow(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	threeStates(t, store, uid)
	newRival(t, dsn, "SELECT 1 FROM splits FOR UPDATE")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	result, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a", "b", "c", "d"), CreateOnly: true})

	if err != nil {
		t.Fatal(err)
	}
	expect(t, result.Staged, "d")
	expectSkipped(t, result, "a Staged", "b Published", "c MarkedForDeletion")
}

func TestCreateOnlyWritesNothingWhenAllExist(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	threeStates(t, store, uid)
	conn := connect(t, dsn)
	indexVersion := func() string {
		return queryValue[string](t, conn, "SELECT concat_ws(' ', xmin, xmax, ctid) FROM indexes")
	}
	before := indexVersion()
	// Not even a row lock: it would wait for this one.
	newRival(t, dsn, "SELECT 1 FROM indexes FOR UPDATE")
	locked := indexVersion()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	result, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a", "b"), CreateOnly: true})

	if err != nil {
		t.Fatal(err)
	}
	if result.Mutation != metastore.MutationNo {
		t.Error("the call says that it changed something")
	}
	if before == locked {
		t.Error("the lock of the other session left no trace, so this test would not see one of ours")
	}
	if after := indexVersion(); after != locked {
		t.Errorf("the index row changed from %q to %q", locked, after)
	}
}

func TestCreateOnlyReportsASplitThatAnotherCallInsertsMeanwhile(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	r := newRival(t, dsn, `INSERT INTO splits (index_uid, split_id, split_state, tags, split_metadata_json, node_id)
		SELECT index_uid, 'b', 'Published', '{}', '{"footer_offsets":{"end":1}}', 'n' FROM indexes`)
	var result metastore.StageSplitsResult
	err := r.whileWaiting(func() (err error) {
		result, err = store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a", "b", "c"), CreateOnly: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, result.Staged, "a", "c")
	expectSkipped(t, result, "b Published")
}

func TestCreateOnlySaysNotFoundWhenTheIndexIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	r := newRival(t, dsn, "DELETE FROM indexes")
	err := r.whileWaiting(func() error {
		_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a"), CreateOnly: true})
		return err
	})
	expectRefused(t, err, metastore.KindNotFound)
}
