package reconcile

import (
	"context"
	"slices"
	"time"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// settle waits until other workers have published what they staged. What stays Staged is left alone
// and reported.
func (w *indexWork) settle(ctx context.Context) error {
	if w.Lineage.Live {
		return nil
	}
	waiting := w.stagedByOthers()
	deadline := time.Now().Add(w.Settle)
	for attempt := 1; len(waiting) > 0; attempt++ {
		rows, err := w.rowsOf(ctx, waiting)
		if err != nil {
			return err
		}
		waiting = slices.DeleteFunc(waiting, func(it *item) bool {
			r, has := rows[it.decision.ID]
			if has && r.state == metastore.Staged {
				return false
			}
			it.skip(r.state)
			return true
		})
		if len(waiting) == 0 || time.Now().After(deadline) {
			break
		}
		if err := wait(ctx, min(pauseAfter(min(attempt, 3)), w.Settle)); err != nil {
			return err
		}
	}
	w.reportStaged(waiting)
	return nil
}

func (w *indexWork) stagedByOthers() []*item {
	var staged []*item
	for i := range w.items {
		it := &w.items[i]
		if it.kind == lineage.StagedBySomeone.String() || it.outcome == OutcomeSkipped && it.after == metastore.Staged {
			staged = append(staged, it)
		}
	}
	return staged
}

// reportStaged makes the finding about staged rows say what is still so.
func (w *indexWork) reportStaged(waiting []*item) {
	w.found = slices.DeleteFunc(w.found, func(f Finding) bool { return f.Code == string(lineage.FindingStagedBySomeone) })
	if len(waiting) == 0 {
		return
	}
	ids := make([]string, len(waiting))
	for i, it := range waiting {
		ids[i] = it.decision.ID
	}
	w.add(w.translate(lineage.Finding{Code: lineage.FindingStagedBySomeone, NeedsPerson: true, IDs: ids}))
}
