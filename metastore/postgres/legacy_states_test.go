package postgres

import (
	"testing"

	"holdfast/metastore"
)

// Early releases of the peer called a staged split New and a marked one ScheduledForDeletion. Rows that still say so are shown in
// the states of today, and what is shown as Staged can be staged and published.
func TestSplitsUnderLegacyNamesOfTheirStates(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	ctx := t.Context()
	uid := createIndex(t, store, "logs")
	if err := store.AddSource(ctx, uid, sourceConfig(t, "source")); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	legacy := func(state string, ids ...string) {
		t.Helper()
		exec(t, conn, "UPDATE splits SET split_state = $1 WHERE split_id = ANY ($2)", state, ids)
	}
	stage(t, store, uid, "alone", "delta", "gone", "one", "two", "three", "unpublished")
	legacy("New", "alone", "delta", "one", "two", "unpublished")
	legacy("ScheduledForDeletion", "gone")
	expect(t, states(t, store), "alone Staged", "delta Staged", "gone MarkedForDeletion", "one Staged", "three Staged", "two Staged", "unpublished Staged")

	expectRefused(t, store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"one"}, ReplacedSplitIDs: []string{"unpublished"}}),
		metastore.KindFailedPrecondition, "unpublished")
	for _, request := range []metastore.PublishSplitsRequest{
		{IndexUID: uid, StagedSplitIDs: []string{"alone"}}, {IndexUID: uid, StagedSplitIDs: []string{"one", "three"}}, progressOf(uid, "p", "", "5", "delta"),
	} {
		if err := store.PublishSplits(ctx, request); err != nil {
			t.Errorf("publish %q: %v", request.StagedSplitIDs, err)
		}
	}
	stage(t, store, uid, "two")
	stage(t, store, uid, "fresh", "unpublished")
	mark(t, store, uid, "gone", "unpublished")
	if err := store.DeleteSplits(ctx, uid, []string{"gone"}); err != nil {
		t.Error(err)
	}
	expect(t, states(t, store), "alone Published", "delta Published", "fresh Staged", "one Published", "three Published", "two Staged", "unpublished MarkedForDeletion")
	if n := queryValue[int64](t, conn, "SELECT count(*) FROM splits WHERE split_state NOT IN ('Staged', 'Published', 'MarkedForDeletion') OR (split_state = 'Published') <> (publish_timestamp IS NOT NULL)"); n != 0 {
		t.Errorf("%d rows are not as they should be", n)
	}
}
