package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

const largeCall = metastore.MaxAtomicSplitIDs + 2500

// recordPieces runs a job and returns the sizes of its pieces.
func recordPieces(t *testing.T, j job, ids []string) (sizes []int) {
	t.Helper()
	var seen []string
	err := j.run(t.Context(), ids, func(_ context.Context, piece []string) error {
		sizes = append(sizes, len(piece))
		seen = append(seen, piece...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) > 1 && !slices.IsSorted(seen) {
		t.Error("the pieces are not in ascending order of the ids")
	}
	if unique := metastore.UniqueSplitIDs(ids); len(seen) != len(unique) {
		t.Errorf("%d splits in all pieces, want %d", len(seen), len(unique))
	}
	return sizes
}

func quietJob(size int) job {
	return job{log: slog.New(slog.DiscardHandler), operation: "changing splits", size: size}
}

func TestOnlyALargeCallIsDoneInPieces(t *testing.T) {
	t.Parallel()
	atomic := numberedIDs("s", metastore.MaxAtomicSplitIDs)
	slices.Reverse(atomic)
	for name, c := range map[string]struct {
		ids  []string
		want []int
	}{
		"none":                  {nil, []int{0}},
		"the most at once":      {atomic, []int{len(atomic)}},
		"the same, named twice": {append(atomic, atomic...), []int{len(atomic)}},
		"one more":              {append(atomic, "another"), []int{4000, 4000, 2001}},
	} {
		if got := recordPieces(t, quietJob(4000), c.ids); !slices.Equal(got, c.want) {
			t.Errorf("%s: pieces of %d, want %d", name, got, c.want)
		}
	}
}

func TestACallThatFailsLaterSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at      int // the piece that fails, from 0
		failure error
		kind    metastore.ErrorKind
		message string
	}{
		"at once":       {0, metastore.NotFound(metastore.IndexEntity("logs")), metastore.KindNotFound, ""},
		"refused later": {2, metastore.NotFound(metastore.IndexEntity("logs")), metastore.KindUnavailable, "failed with 8000 of 12500 splits done"},
		"unknown later": {2, metastore.Timeout(nil, "too slow"), metastore.KindTimeout, "failed with 8000 or more of 12500 splits done: too slow"},
	} {
		pieces := 0
		err := quietJob(4000).run(t.Context(), numberedIDs("s", largeCall), func(context.Context, []string) error {
			if pieces++; pieces > c.at {
				return c.failure
			}
			return nil
		})
		if got := metastore.AsError(err); got == nil || got.Kind != c.kind || !strings.Contains(got.Message, c.message) || pieces != c.at+1 {
			t.Errorf("%s: after %d pieces %v, want %s with %q", name, pieces, err, c.kind, c.message)
		}
	}
}

func TestACallStopsBetweenPiecesWhenItsCallerIsGone(t *testing.T) {
	t.Parallel()
	caller, leave := context.WithCancel(t.Context())
	ctx := metastore.WithPieces(caller, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithCancel(context.WithoutCancel(ctx))
	})
	pieces := 0
	err := quietJob(4000).run(ctx, numberedIDs("s", largeCall), func(ctx context.Context, _ []string) error {
		if pieces++; pieces == 2 {
			leave()
		}
		return ctx.Err() // the piece that is under way is finished
	})
	if got := metastore.AsError(err); got == nil || got.Kind != metastore.KindTimeout || !strings.Contains(got.Message, "stopped with 8000 of 12500 splits done") {
		t.Errorf("got %v", err)
	}
	if pieces != 2 {
		t.Errorf("%d pieces were begun", pieces)
	}
}

func TestALargeCallSaysInTheLogHowFarItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		j := quietJob(1000)
		j.log = slog.New(slog.NewTextHandler(&text, nil))
		err := j.run(t.Context(), numberedIDs("s", largeCall), func(context.Context, []string) error {
			time.Sleep(4 * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"a large call begins" operation="changing splits"`, "done=3000 seconds=12", "done=6000 seconds=24", "done=12000 seconds=48", `"a large call is done"`} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, text.String())
			}
		}
		if lines := strings.Count(text.String(), "\n"); lines != 6 {
			t.Errorf("%d lines", lines)
		}
	})
}

func TestPiecesAreAsLargeAsTheirTimeAllows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := quietJob(1000)
		j.pieceTime = 40 * time.Millisecond
		perSplit := 10 * time.Microsecond
		var sizes []int
		err := j.run(t.Context(), numberedIDs("s", largeCall), func(_ context.Context, piece []string) error {
			if sizes = append(sizes, len(piece)); len(sizes) == 8 {
				perSplit *= 20
			}
			time.Sleep(time.Duration(len(piece)) * perSplit)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// The first time small, then larger as the database is fast, until it is slow.
		want := []int{250, 500, 1000, 1000, 1000, 1000, 1000, 1000, 500, 250, 125, 125}
		if !slices.Equal(sizes[:len(want)], want) {
			t.Errorf("pieces of %d, want %d", sizes[:len(want)], want)
		}
	})
}

func TestADeletionStopsAtASplitThatWasStagedAnewInBetween(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	ids := numberedIDs("s", largeCall)
	conn := connect(t, dsn)
	exec(t, conn, `INSERT INTO splits (index_uid, split_id, split_state, node_id, tags, split_metadata_json)
		SELECT $1, split_id, 'MarkedForDeletion', 'node-1', '{}', '{"footer_offsets":{"end":1}}' FROM unnest($2::text[]) AS ids (split_id)`, uid.String(), ids)
	// The first look passes by this split, a piece waits for it.
	r := newRival(t, dsn, "UPDATE splits SET split_state = 'Staged' WHERE split_id = '"+ids[2500]+"'")
	err := r.whileWaiting(func() error { return store.DeleteSplits(context.Background(), uid, ids) })
	left := queryValue[int64](t, conn, "SELECT count(*) FROM splits")
	want := fmt.Sprintf("failed with %d of %d splits done", largeCall-left, largeCall)
	if got := metastore.AsError(err); got == nil || got.Kind != metastore.KindUnavailable || !strings.Contains(got.Message, want) || left == largeCall {
		t.Errorf("got %v, want %s", err, want)
	}
	if n := queryValue[int64](t, conn, "SELECT count(*) FROM splits WHERE split_id < $1", ids[2500]); n >= 1000 {
		t.Errorf("%d splits before the one in the way are left", n)
	}
	expectRefused(t, store.DeleteSplits(context.Background(), uid, ids), metastore.KindFailedPrecondition, ids[2500])
}

func TestAKeyedLargeCallIsRecordedOnceItIsDone(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{MaxKeysPerCaller: 1})
	uid := createIndex(t, store, "logs")
	ids := numberedIDs("s", largeCall)
	conn := connect(t, dsn)
	exec(t, conn, `INSERT INTO splits (index_uid, split_id, split_state, node_id, tags, split_metadata_json)
		SELECT $1, split_id, 'Published', 'node-1', '{}', '{"footer_offsets":{"end":1}}' FROM unnest($2::text[]) AS ids (split_id)`, uid.String(), ids)
	mark, remove := newRecord(t, "MarkSplitsForDeletion"), newRecord(t, "DeleteSplits")
	if err := store.WithRecord(mark).MarkSplitsForDeletion(t.Context(), uid, ids); err != nil {
		t.Fatal(err)
	}
	wantSplits := func(state string, want int64) {
		t.Helper()
		if n := queryValue[int64](t, conn, "SELECT count(*) FROM splits WHERE split_state = $1", state); n != want {
			t.Fatalf("%d splits are %s, want %d", n, state, want)
		}
	}
	wantSplits("MarkedForDeletion", largeCall)
	err := store.WithRecord(remove).DeleteSplits(t.Context(), uid, ids)
	if !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyQuota}) {
		t.Fatalf("with one key too many: %v", err)
	}
	wantSplits("MarkedForDeletion", largeCall)
	exec(t, conn, "UPDATE splits SET split_state = 'Published'")
	wantReplayed(t, store.WithRecord(mark).MarkSplitsForDeletion(t.Context(), uid, ids), mark)
	wantSplits("Published", largeCall)
	if n := numRecords(t, dsn); n != 1 {
		t.Fatalf("%d records, want one", n)
	}
}

func TestALargeCallWhoseRecordIsRefusedAtItsEndSaysThatItWasExecuted(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{MaxKeysPerCaller: 2})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	ids := numberedIDs("s", largeCall)
	record := newRecord(t, "MarkSplitsForDeletion")
	for _, c := range []struct {
		reason    idempotency.Reason
		meanwhile func()
	}{
		{idempotency.KeyQuota, func() { store.quota.set(map[idempotency.Principal]int64{record.Principal: 2}) }},
		{idempotency.KeyReused, func() {
			store.quota.set(map[idempotency.Principal]int64{})
			other := record
			other.Operation = "PublishSplits"
			if err := reopenStore(t, Options{DSN: dsn}).WithRecord(other).PublishSplits(context.Background(), publishing(uid, "a")); err != nil {
				t.Error(err)
			}
		}},
	} {
		store.quota.set(map[idempotency.Principal]int64{})
		var once sync.Once
		ctx := metastore.WithPieces(t.Context(), func(ctx context.Context) (context.Context, context.CancelFunc) {
			once.Do(c.meanwhile)
			return ctx, func() {}
		})
		err := store.WithRecord(record).MarkSplitsForDeletion(ctx, uid, ids)
		if !errors.Is(err, &idempotency.Error{Reason: c.reason}) || !strings.Contains(err.Error(), "executed") || strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}

func TestLargeCallsOnParquetSplitsAreDoneInPieces(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	ids := numberedIDs("s", largeCall)
	stageParquet(t, store, metastore.SketchSplits, uid, parquetSplits(uid, ids...)...)
	for _, call := range []func(context.Context, metastore.ParquetKind, metastore.IndexUID, []string) error{
		store.MarkParquetSplitsForDeletion, store.DeleteParquetSplits,
	} {
		pieces := 0
		ctx := metastore.WithPieces(t.Context(), func(ctx context.Context) (context.Context, context.CancelFunc) {
			pieces++
			return ctx, func() {}
		})
		if err := call(ctx, metastore.SketchSplits, uid, ids); err != nil || pieces < largeCall/pieceSize {
			t.Errorf("%d pieces, %v", pieces, err)
		}
	}
	if n := queryValue[int64](t, connect(t, dsn), "SELECT count(*) FROM sketch_splits"); n != 0 {
		t.Errorf("%d splits are left", n)
	}
}
