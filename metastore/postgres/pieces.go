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
	// pieceSize is the most splits that a piece of a large call changes, and minPieceSize the fewest. In between they
	// are as many as keep their locks for about pieceTime.
	pieceSize    = 1000
	minPieceSize = 50
	pieceTime    = 20 * time.Millisecond
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
	size      int // of a piece, if there are several; the greatest one if pieceTime is set
	// pieceTime is what a piece should take. 0: whatever it takes.
	pieceTime time.Duration
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
	size := j.firstSize()
	for done := 0; done < len(ids); {
		piece, begun := ids[done:min(done+size, len(ids))], time.Now()
		if err := j.runNext(ctx, done, len(ids), piece, do); err != nil {
			log.Warn("a large call stops", "done", done, "seconds", time.Since(began).Seconds(), "error", err)
			return err
		}
		done += len(piece)
		size = j.nextSize(size, time.Since(begun))
		if time.Since(told) >= progressInterval && done < len(ids) {
			told = time.Now()
			log.Info("a large call goes on", "done", done, "seconds", time.Since(began).Seconds())
		}
	}
	log.Info("a large call is done", "seconds", time.Since(began).Seconds())
	return nil
}

// firstSize is small: how fast the database is will be seen.
func (j job) firstSize() int {
	if j.pieceTime == 0 {
		return j.size
	}
	return max(j.size/4, minPieceSize)
}

// nextSize returns how many splits the next piece has, after one of that size took so long.
func (j job) nextSize(size int, took time.Duration) int {
	switch {
	case j.pieceTime == 0:
		return size
	case took > j.pieceTime:
		return max(size/2, minPieceSize)
	case took < j.pieceTime/3:
		return min(size*2, j.size)
	}
	return size
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
