package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// applyPlan raises the counter of delete opstamps if it has to, and writes the rows of the decisions to publish, in batches. Each batch is staged and
// published in one go, so that no row stays Staged for long: the janitor deletes the files of splits
// that are. When the context ends, the batch at hand is finished and the others are left for the next
// run.
func (w *indexWork) applyPlan(ctx context.Context) error {
	if w.summary.Missing || w.blocked() {
		return nil
	}
	if err := w.raiseOpstamps(ctx); err != nil {
		return err
	}
	done := Progress{IndexID: w.name, Phase: Applying, Total: w.publishes()}
	if err := w.refresh(ctx); err != nil {
		return err
	}
	var batch []*item
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.applyBatch(ctx, batch); err != nil {
			return err
		}
		done.Done += int64(len(batch))
		for _, it := range batch {
			done.Bytes += it.object.Size
		}
		w.tell(done)
		batch, size = batch[:0], 0
		return nil
	}
	for i := range w.items {
		it := &w.items[i]
		if it.kind != lineage.Publish.String() || it.outcome != OutcomeNotTried {
			continue
		}
		length := len(it.object.metadata.Document())
		if len(batch) >= w.BatchSplits || len(batch) > 0 && size+length > w.BatchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, it), size+length
	}
	if err := flush(); err != nil {
		return err
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	w.findFailures()
	w.findUnverified()
	w.findAbandoned()
	return nil
}

func (w *indexWork) applyBatch(ctx context.Context, batch []*item) error {
	ctx, cancel := graceful(ctx, w.Grace)
	defer cancel()
	present, err := w.statBatch(ctx, batch)
	if err != nil {
		return err
	}
	absent, staged, err := w.checkRows(ctx, present)
	if err != nil {
		return err
	}
	ours, err := w.stage(ctx, absent)
	if err != nil {
		return err
	}
	if err := w.publish(ctx, append(ours, staged...)); err != nil {
		return err
	}
	var published []string
	for _, it := range batch {
		if it.outcome == OutcomePublished {
			published = append(published, it.decision.ID)
		}
	}
	if err := w.journal.addPublished(w.uid, published); err != nil {
		return err
	}
	return w.verify(ctx, batch)
}

// graceful returns a context that outlives its parent by the grace period.
func graceful(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	timer := time.AfterFunc(time.Duration(1<<63-1), func() { cancel(context.Cause(parent)) })
	stop := context.AfterFunc(parent, func() { timer.Reset(grace) })
	return ctx, func() {
		stop()
		timer.Stop()
		cancel(nil)
	}
}

func (it *item) fail(err error) { it.outcome, it.detail = OutcomeFailed, err.Error() }

// abandon ends an item whose row was marked before it was published.
func (it *item) abandon() {
	it.fail(errors.New("its row was marked for deletion before it was published"))
	it.after, it.abandoned = metastore.MarkedForDeletion, true
}

// skip leaves the row of somebody else alone.
func (it *item) skip(state metastore.SplitState) { it.outcome, it.after = OutcomeSkipped, state }

// statBatch returns the items whose objects are still those that were read.
func (w *indexWork) statBatch(ctx context.Context, batch []*item) ([]*item, error) {
	failures := w.statAll(ctx, batch, func(*item) bool { return true })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var present []*item
	for i, it := range batch {
		if failures[i] != nil {
			it.fail(failures[i])
			continue
		}
		present = append(present, it)
	}
	return present, nil
}

func (w *indexWork) statOne(ctx context.Context, it *item) error {
	for attempt := 1; ; attempt++ {
		err := statAgain(ctx, w.bucket, it.object)
		if err == nil || attempt == readAttempts || !isThrottling(err) || wait(ctx, pauseAfter(attempt)) != nil {
			return err
		}
	}
}

// checkRows looks at the rows again, which may have changed since the plan was made. It returns the
// items without a row, and those whose row this recovery staged before.
func (w *indexWork) checkRows(ctx context.Context, items []*item) (absent, staged []*item, err error) {
	rows, err := w.rowsOf(ctx, items)
	if err != nil {
		return nil, nil, err
	}
	for _, it := range items {
		r, has := rows[it.decision.ID]
		switch {
		case !has && it.decision.AlreadyStaged:
			it.after = 0
			it.fail(errors.New("its row, which was Staged, is gone"))
		case has && it.decision.AlreadyStaged && r.state == metastore.Staged && sameSplit(&r.metadata, &it.object.metadata):
			if it.checkReplaced(rows) {
				staged = append(staged, it)
			}
		case has && w.takenAsAbandoned(it.decision.ID, r):
			it.abandon()
		case has:
			it.skip(r.state)
		case it.checkReplaced(rows):
			absent = append(absent, it)
		}
	}
	return absent, staged, nil
}

// rowsOf lists the rows of the items and of those that they replace.
func (w *indexWork) rowsOf(ctx context.Context, items []*item) (map[string]row, error) {
	var ids []string
	for _, it := range items {
		ids = append(append(ids, it.decision.ID), it.decision.ReplacedSplitIDs...)
	}
	if len(ids) == 0 {
		return nil, nil // no ids would mean all rows
	}
	return listRows(ctx, w.Store, w.uid, ids...)
}

// checkReplaced fails the item if a row that it has to replace is not Published any more: the plan was
// made for other rows then.
func (it *item) checkReplaced(rows map[string]row) bool {
	for _, id := range it.decision.ReplacedSplitIDs {
		if r, has := rows[id]; !has || r.state != metastore.Published {
			it.fail(fmt.Errorf("split %s, which it replaces, is not Published any more; run again to decide anew", id))
			return false
		}
	}
	return true
}

// findFailures reports the objects that should have been published and were not.
func (w *indexWork) findFailures() {
	var ids []string
	stranded := false
	for i := range w.items {
		if it := &w.items[i]; it.outcome == OutcomeFailed {
			ids = append(ids, it.decision.ID)
			stranded = stranded || it.after == metastore.Staged
		}
	}
	if len(ids) == 0 {
		return
	}
	message := "these splits should have been published and were not; the report says why for each"
	if stranded {
		message += ". Some of their rows are Staged: do not start the janitor before they are published or the reason is known, it deletes the files of rows that stay Staged for a day"
	}
	w.add(Finding{Code: CodeFailed, NeedsPerson: true, IDs: ids, Message: message, Next: w.again("run", "--index", w.indexID)})
}
