package reconcile

import "holdfast/metastore"

// findStagedAndLost reports the splits that an earlier run staged and did not publish, and whose files are
// gone since, as after a janitor that found the rows staged for a day. It remembers those that were
// published: merges may replace them, and their files go too.
func (w *indexWork) findStagedAndLost() error {
	if w.summary.Missing || len(w.objects) == 0 || w.blocked() {
		return nil // it may not be the place of the files
	}
	var published, lost []string
	for _, id := range w.journal.unpublished(w.uid) {
		r := w.rows[id]
		switch {
		case r.state == metastore.Published || r.published:
			published = append(published, id)
		case w.byID[id] == nil:
			lost = append(lost, id)
		}
	}
	if len(lost) > 0 {
		w.add(Finding{Code: CodeStagedAndLost, NeedsPerson: true, IDs: lost,
			Message: "an earlier run staged these splits and, as far as the journal knows, nobody published them; now their files are gone, as after a janitor that found rows staged for a day. " +
				"Bring the files back, from versions of the objects or a copy of the bucket, and run again",
			Next: w.again("plan", "--index", w.indexID)})
	}
	return w.journal.addPublished(w.uid, published)
}
