package reconcile

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// verify looks the files of the items up again whose rows have just been published, and reports those
// that went away or were replaced meanwhile: their rows would fail searches and nobody would know why.
func (w *indexWork) verify(ctx context.Context, batch []*item) error {
	var suspects []*item
	for i, err := range w.statAll(ctx, batch, func(it *item) bool { return it.outcome == OutcomePublished }) {
		if err != nil {
			batch[i].detail = "published, but then: " + err.Error()
			batch[i].fileAfter = err
			suspects = append(suspects, batch[i])
		}
	}
	if err := ctx.Err(); err != nil || len(suspects) == 0 {
		return err
	}
	rows, err := w.rowsOf(ctx, suspects)
	if err != nil {
		return err
	}
	for _, it := range suspects {
		// A merge may have replaced it, and the janitor collected it.
		if r := rows[it.decision.ID]; r.state != metastore.Published {
			it.after, it.fileAfter, it.detail = r.state, nil, ""
		}
	}
	return nil
}

// findUnverified reports what verify found.
func (w *indexWork) findUnverified() {
	var replaced, unknown []string
	for i := range w.items {
		it := &w.items[i]
		switch id := it.decision.ID; {
		case it.fileAfter == nil:
		case errors.Is(it.fileAfter, errGone):
			w.add(w.vanished(it))
		case errors.Is(it.fileAfter, errReplaced):
			replaced = append(replaced, id)
		default:
			unknown = append(unknown, id)
		}
	}
	if len(replaced) > 0 {
		w.add(Finding{Code: CodeSizeMismatch, NeedsPerson: true, IDs: replaced,
			Message: "these files were replaced while their rows were being published; searches in them may fail. Find out what wrote them, and look at what they hold now",
			Next:    commandText("split", "inspect", w.location.Child(replaced[0]+splitSuffix).String())})
	}
	if len(unknown) > 0 {
		w.add(Finding{Code: CodeUnverified, NeedsPerson: true, IDs: unknown,
			Message: "these splits were published, but whether their files are still there could not be found out; the report says why for each",
			Next:    w.again("plan", "--index", w.indexID)})
	}
}

// vanished is the finding about a file that went away while its row was being published.
func (w *indexWork) vanished(it *item) Finding {
	found := w.translate(lineage.Finding{Code: lineage.FindingPublishedWithoutObject, NeedsPerson: true, IDs: []string{it.decision.ID}})
	found.Message = "the file of this split went away while its row was being published, and searches in it fail. Something deletes files: stop it. " +
		"Bring the file back, from a version of the object or a copy of the bucket, or else mark the row"
	if n := len(it.decision.ReplacedSplitIDs); n > 0 {
		found.Message += fmt.Sprintf(". The publication marked %d rows that it replaces: keep the janitor from deleting their files, if they are still there", n)
	}
	return found
}

// statAll looks the objects of the items up that are wanted. The errors are in the order of the items.
func (w *indexWork) statAll(ctx context.Context, items []*item, wanted func(*item) bool) []error {
	var group errgroup.Group
	group.SetLimit(w.Concurrency)
	failures := make([]error, len(items))
	for i, it := range items {
		if wanted(it) {
			group.Go(func() error {
				failures[i] = w.statOne(ctx, it)
				return nil
			})
		}
	}
	_ = group.Wait() // its functions return no error
	return failures
}
