package reconcile

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// defaultMarkedHorizon is the one of package lineage.
const defaultMarkedHorizon = 2 * time.Hour

// compareScans tells the objects which an earlier scan, long enough ago, found without a row too. The
// scans are in the journal.
func (w *indexWork) compareScans(objects []lineage.Object) error {
	horizon := w.Lineage.MarkedHorizon
	if horizon == 0 {
		horizon = defaultMarkedHorizon
	}
	now := time.Now()
	var rowless []string
	for i := range objects {
		id := objects[i].ID
		if _, has := w.rows[id]; has {
			continue
		}
		rowless = append(rowless, id)
		since, known := w.journal.rowlessSince(w.uid, id)
		objects[i].RowlessTwice = known && now.Sub(time.Unix(since, 0)) >= horizon
	}
	return w.journal.addScan(w.uid, now.Unix(), rowless)
}

// mostConfirmed bounds the objects that are looked up again before an alarm. When more are gone the
// directory is the wrong one, or lost.
const mostConfirmed = 1000

// confirmFindings looks again at published rows whose file was not listed: the file may have come, or
// the row gone, between the two listings.
func (w *indexWork) confirmFindings(ctx context.Context) error {
	if len(w.objects) == 0 || w.blocked() {
		// It is not the place of the files: one finding says so, not one for each row.
		w.found = slices.DeleteFunc(w.found, func(f Finding) bool {
			return f.Code == string(lineage.FindingPublishedWithoutObject)
		})
		return nil
	}
	var missing []string
	for i := range w.plan.Rows {
		if w.plan.Rows[i].Kind == lineage.RowWithoutObject {
			missing = append(missing, w.plan.Rows[i].ID)
		}
	}
	if len(missing) == 0 || len(missing) > mostConfirmed {
		return nil
	}
	dismissed := map[string]bool{}
	for _, id := range missing {
		if w.byID[id] != nil {
			continue // it is there, but cannot be read or is of another index
		}
		_, err := w.bucket.Stat(ctx, id+splitSuffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		dismissed[id] = err == nil
	}
	rows, err := listRows(ctx, w.Store, w.uid, missing...)
	if err != nil {
		return err
	}
	for _, id := range missing {
		if r := rows[id]; r.state != metastore.Published {
			dismissed[id] = true
		}
	}
	w.found = slices.DeleteFunc(w.found, func(f Finding) bool {
		return f.Code == string(lineage.FindingPublishedWithoutObject) && len(f.IDs) == 1 && dismissed[f.IDs[0]]
	})
	return nil
}
