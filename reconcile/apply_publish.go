package reconcile

import (
	"context"
	"errors"
	"fmt"

	"holdfast/metastore"
)

// publish publishes the items, whose rows are Staged and ours, and marks the rows that they replace.
// After an error the rows are read again: a publication whose answer was lost has been made.
func (w *indexWork) publish(ctx context.Context, items []*item) error {
	for attempt := 1; len(items) > 0; attempt++ {
		err := w.publishOnce(ctx, items)
		if err == nil {
			for _, it := range items {
				it.outcome, it.after = OutcomePublished, metastore.Published
			}
			return nil
		}
		pending, reading := w.stillStaged(ctx, items)
		if reading != nil {
			return errors.Join(err, reading)
		}
		switch retry := !metastore.AsError(err).Kind.CertainlyAborted() || isTransient(err); {
		case len(pending) == 0:
		case retry && attempt < readAttempts:
			if wait(ctx, pauseAfter(attempt)) != nil {
				return err
			}
		case retry:
			return fmt.Errorf("publish %d splits, %s to %s: %w", len(pending), pending[0].decision.ID, pending[len(pending)-1].decision.ID, err)
		case len(pending) < len(items):
			attempt = 0 // those that made the call fail are out of it
		case len(pending) > 1:
			for i := range pending {
				if err := w.publish(ctx, pending[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		default:
			pending[0].fail(fmt.Errorf("publish: %w", err))
			return nil
		}
		items = pending
	}
	return nil
}

func (w *indexWork) publishOnce(ctx context.Context, items []*item) error {
	request := metastore.PublishSplitsRequest{IndexUID: w.uid}
	for _, it := range items {
		request.StagedSplitIDs = append(request.StagedSplitIDs, it.decision.ID)
		request.ReplacedSplitIDs = append(request.ReplacedSplitIDs, it.decision.ReplacedSplitIDs...)
	}
	return w.Store.PublishSplits(ctx, request)
}

// stillStaged reads the rows of the items again. It returns those that can still be published, and
// ends the others.
func (w *indexWork) stillStaged(ctx context.Context, items []*item) ([]*item, error) {
	rows, err := w.rowsOf(ctx, items)
	if err != nil {
		return nil, err
	}
	var pending []*item
	for _, it := range items {
		r, has := rows[it.decision.ID]
		it.after = r.state
		switch {
		case !has:
			it.fail(errors.New("its row was removed before it was published"))
		case !sameSplit(&r.metadata, &it.object.metadata):
			it.fail(errors.New("its row was overwritten before it was published"))
		case r.state == metastore.Published:
			it.outcome = OutcomePublished
		case w.takenAsAbandoned(it.decision.ID, r):
			it.abandon()
		case r.state != metastore.Staged:
			it.fail(fmt.Errorf("its row became %s before it was published", r.state))
		case it.checkReplaced(rows):
			pending = append(pending, it)
		}
	}
	return pending, nil
}
