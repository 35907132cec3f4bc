package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"holdfast/metastore"
)

const (
	// pieceSize is how many splits a piece of a large call changes. The locks of so many are held for some tens of
	// milliseconds.
	pieceSize = 1000
	// checkSize is how many splits are looked at together before a large call begins. That locks nothing.
	checkSize = 10_000
	// progressInterval is how often a large call says in the log how far it is.
	progressInterval = 10 * time.Second
)

// job is a call on splits that is done in one piece up to metastore.MaxAtomicSplitIDs different ids, and in several
// above.
type job struct {
	log       *slog.Logger
	operation string // what errors and the log say
	indexUID  metastore.IndexUID
	size      int // of a piece, if there are several
}

// run calls do with the ids of one piece after the other, in ascending order if there are several. It stops at the
// first error, and between two pieces when ctx has ended. Then it says how many splits are done, with a kind of unknown outcome if
// there are any.
func (j job) run(ctx context.Context, splitIDs []string, do func(context.Context, []string) error) error {
	ids := splitIDs
	if len(ids) > metastore.MaxAtomicSplitIDs {
		ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	}
	if len(ids) <= metastore.MaxAtomicSplitIDs {
		return runPiece(ctx, storableTexts(metastore.UniqueSplitIDs(ids)), do)
	}
	ids = storableTexts(ids)
	log := j.log.With("operation", j.operation, "index", j.indexUID.String(), "splits", len(ids))
	log.Info("a large call begins")
	began, told := time.Now(), time.Now()
	done := 0
	for piece := range slices.Chunk(ids, j.size) {
		if err := j.runNext(ctx, done, len(ids), piece, do); err != nil {
			log.Warn("a large call stops", "done", done, "seconds", time.Since(began).Seconds(), "error", err)
			return err
		}
		done += len(piece)
		if time.Since(told) >= progressInterval && done < len(ids) {
			told = time.Now()
			log.Info("a large call goes on", "done", done, "seconds", time.Since(began).Seconds())
		}
	}
	log.Info("a large call is done", "seconds", time.Since(began).Seconds())
	return nil
}

// runNext does the piece that follows on others with done splits of total.
func (j job) runNext(ctx context.Context, done, total int, piece []string, do func(context.Context, []string) error) error {
	if ctx.Err() != nil {
		return metastore.Timeout(context.Cause(ctx), "%s: stopped with %d of %d splits done", j.operation, done, total)
	}
	err := runPiece(ctx, piece, do)
	if err == nil || done == 0 {
		return err
	}
	failed := *metastore.AsError(err)
	if failed.Kind.CertainlyAborted() {
		// This piece was, but not the ones before it.
		return metastore.Unavailable(err, "%s: failed with %d of %d splits done", j.operation, done, total)
	}
	failed.Message = fmt.Sprintf("%s: failed with %d or more of %d splits done: %s", j.operation, done, total, failed.Message)
	return &failed
}

func runPiece(ctx context.Context, ids []string, do func(context.Context, []string) error) error {
	ctx, end := metastore.BeginPiece(ctx)
	defer end()
	return do(ctx, ids)
}
