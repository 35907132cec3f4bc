package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdfast/metastore"
)

// A janitor takes rows that have been Staged for a day for abandoned. It lists them, and then marks what
// it listed, also what was published in between; marked splits lose their files.
const (
	// refreshAge is the age from which a Staged row is staged again before it is published, so that it
	// cannot be listed while the publication is under way, whatever delays it.
	refreshAge = 12 * time.Hour
	// chosenAge is the age from which a janitor may have listed the row already, with an hour for clocks
	// that differ.
	chosenAge = 23 * time.Hour
)

// refresh stages the rows again that an earlier run of this recovery left Staged for refreshAge or
// longer. If one of them may have been listed by a janitor that runs after all, it waits for that
// janitor to mark it, so that the batches see what became of it.
//
// Staging overwrites, so only rows are touched that are ours beyond doubt: the journal says that a run
// was about to stage them, which saw the complete file and no row, while uploaders stage before they
// upload; and the row is still what recovery writes for the file. Rows of others, which AdoptStaged
// publishes, are left as they are.
func (w *indexWork) refresh(ctx context.Context) error {
	var leftovers []*item
	for i := range w.items {
		it := &w.items[i]
		if it.decision.AlreadyStaged && it.outcome == OutcomeNotTried && w.isOld(it.decision.ID, w.rows[it.decision.ID]) {
			leftovers = append(leftovers, it)
		}
	}
	chosen := false
	for batch := range slices.Chunk(leftovers, w.BatchSplits) {
		if err := ctx.Err(); err != nil {
			return err
		}
		some, err := w.refreshBatch(ctx, batch)
		if err != nil {
			return err
		}
		chosen = chosen || some
	}
	if chosen {
		return wait(ctx, w.Settle)
	}
	return nil
}

// isOld reports whether a row is to be refreshed.
func (w *indexWork) isOld(id string, r row) bool {
	return r.state == metastore.Staged && w.journal.mayHaveStaged(w.uid, id) && w.age(r) >= refreshAge
}

func (w *indexWork) age(r row) time.Duration { return w.now().Sub(time.Unix(r.updated, 0)) }

// refreshBatch looks at files and rows again and stages what is still to be refreshed. It reports whether
// a janitor may have listed one of the rows.
func (w *indexWork) refreshBatch(ctx context.Context, batch []*item) (chosen bool, err error) {
	for attempt := 1; ; attempt++ {
		present, err := w.statBatch(ctx, batch)
		if err != nil {
			return false, err
		}
		rows, err := w.rowsOf(ctx, present)
		if err != nil {
			return false, err
		}
		request := metastore.StageSplitsRequest{IndexUID: w.uid}
		for _, it := range present {
			r, has := rows[it.decision.ID]
			if !has || !w.isOld(it.decision.ID, r) || !sameSplit(&r.metadata, &it.object.metadata) {
				continue // the batches say what became of it
			}
			chosen = chosen || w.age(r) >= chosenAge
			request.Splits = append(request.Splits, w.refreshed(it, r))
		}
		if len(request.Splits) == 0 {
			return chosen, nil
		}
		// It fails as a whole if one of the rows is not Staged any more.
		_, err = w.Store.StageSplits(ctx, request)
		if err == nil {
			return chosen, nil
		}
		if attempt == readAttempts || wait(ctx, pauseAfter(attempt)) != nil {
			return false, fmt.Errorf("stage %d splits again, %s to %s: %w", len(request.Splits),
				request.Splits[0].SplitID, request.Splits[len(request.Splits)-1].SplitID, err)
		}
		batch = present
	}
}

// refreshed returns metadata that changes nothing in the row but its time.
func (w *indexWork) refreshed(it *item, r row) metastore.SplitMetadata {
	metadata := w.metadataOf(it)
	if metadata.Maturity.Immature && !r.metadata.Maturity.Immature {
		metadata = mature(metadata)
	}
	return metadata.WithDeleteOpstamp(r.metadata.DeleteOpstamp)
}

// takenAsAbandoned reports whether a row is one of ours that was marked before it was published.
func (w *indexWork) takenAsAbandoned(id string, r row) bool {
	return r.state == metastore.MarkedForDeletion && !r.published && w.journal.mayHaveStaged(w.uid, id)
}

// findAbandoned reports the rows of ours that were marked before they were published, in place of what it
// reported before the batches.
func (w *indexWork) findAbandoned() {
	w.found = slices.DeleteFunc(w.found, func(f Finding) bool { return f.Code == CodeMarkedUnpublished })
	var ids []string
	for i := range w.items {
		if w.items[i].abandoned {
			ids = append(ids, w.items[i].decision.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	w.add(Finding{Code: CodeMarkedUnpublished, NeedsPerson: true, IDs: ids,
		Message: "an earlier run staged the rows of these splits, and they were marked for deletion before they were published, as a janitor does with rows that are staged for a day. " +
			"It deletes their files once its grace period, 32 minutes by default, has passed: stop it at once. Then delete the rows, which leaves the files, and run again",
		Next: w.command(append([]string{"split", "delete", "--index", w.indexID}, ids[:min(len(ids), mostSummaryIDs)]...)...)})
}
