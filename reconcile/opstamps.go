package reconcile

import (
	"context"
	"errors"
	"fmt"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// planOpstamps finds out whether published splits have had delete tasks applied whose opstamps the metastore would give
// out again: it would skip the splits in the new tasks.
func (w *indexWork) planOpstamps(ctx context.Context) error {
	greatest := w.greatestOpstamp()
	if greatest == 0 {
		return nil
	}
	uid := w.uid
	if w.summary.Missing {
		uid = metastore.IndexUID{IndexID: w.indexID, Incarnation: w.toCreate.Value}
	}
	var floor uint64
	err := retryRead(ctx, func() (err error) {
		floor, err = w.Store.DeleteOpstampFloor(ctx, uid)
		return err
	})
	switch {
	case errors.Is(err, metastore.ErrRecoveryUnsupported):
		w.add(Finding{Code: CodeOpstamp, NeedsPerson: true, Message: fmt.Sprintf(
			"published splits have had delete tasks up to opstamp %d applied, and new tasks skip them until the metastore counts beyond it; its server cannot raise its counter. "+
				"Upgrade the server and run again before you issue delete tasks, or run on its store with --store", greatest),
			Next: w.again("run", "--index", w.indexID)})
	case err != nil:
		return fmt.Errorf("read the floor of delete opstamps: %w", err)
	case floor < greatest:
		w.summary.DeleteOpstamps = &OpstampRaise{From: floor, To: greatest}
		w.add(Finding{Code: CodeOpstamp, Message: fmt.Sprintf(
			"published splits have had delete tasks up to opstamp %d applied, and the metastore would count from %d again and skip them in new tasks: a run raises its counter to %d first",
			greatest, floor+1, greatest)})
	}
	return nil
}

// greatestOpstamp returns the greatest delete opstamp of the splits that are, or will be, published. What is in the rows
// of a live cluster came from its counter.
func (w *indexWork) greatestOpstamp() (greatest uint64) {
	for i := range w.items {
		it := &w.items[i]
		var opstamp uint64
		switch it.kind {
		case lineage.Publish.String():
			opstamp = it.object.metadata.DeleteOpstamp
		case lineage.AlreadyPublished.String():
			if !w.Lineage.Live {
				opstamp = w.rows[it.decision.ID].metadata.DeleteOpstamp
			}
		}
		// A greater one is refused when it is staged.
		if metastore.ValidateDeleteOpstampFloor(opstamp) == nil {
			greatest = max(greatest, opstamp)
		}
	}
	return greatest
}

// raiseOpstamps carries out what planOpstamps found. It may be repeated.
func (w *indexWork) raiseOpstamps(ctx context.Context) error {
	raise := w.summary.DeleteOpstamps
	if raise == nil {
		return nil
	}
	err := retryRead(ctx, func() error { return w.Store.RaiseDeleteOpstampFloor(ctx, w.uid, raise.To) })
	if err != nil {
		return fmt.Errorf("raise the counter of delete opstamps to %d: %w", raise.To, err)
	}
	raise.Done = true
	return nil
}
