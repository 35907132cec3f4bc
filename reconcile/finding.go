package reconcile

import (
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/lineage"
)

// Finding is what a reader of the report should know beyond the single objects.
type Finding struct {
	Code        string   `json:"code"` // of package lineage, or one of the codes here; stable
	NeedsPerson bool     `json:"needs_person"`
	IDs         []string `json:"split_ids,omitempty"`
	// Count is how many ids there are. The summary holds the first hundred, the report all.
	Count   int    `json:"split_count,omitempty"`
	Message string `json:"message"`
	// DecisionID names a decision that a person may take by Options.Accept; empty if there is none.
	DecisionID string `json:"decision_id,omitempty"`
	// Next is the command to type next; empty if there is none.
	Next string `json:"next,omitempty"`
}

// Codes of findings beside those of package lineage.
const (
	// CodeMissingIndex: the metastore lacks the index.
	CodeMissingIndex = "missing-index"
	// CodeNewIncarnation: the files are of an earlier incarnation of the index.
	CodeNewIncarnation = "new-incarnation"
	// CodeEmptyListing: no split file lies where those of the index should be.
	CodeEmptyListing = "empty-listing"
	// CodeSizeMismatch: the sizes of the files differ from what the published rows say.
	CodeSizeMismatch = "size-mismatch"
	// CodeSharedLocation: the files of another index lie in the same directory. Nothing is written.
	CodeSharedLocation = "shared-location"
	// CodeOtherLocation: the index's own URI is not the directory that was read.
	CodeOtherLocation = "other-location"
	// CodeNameGuessed: no file says which index it belongs to.
	CodeNameGuessed = "index-name-guessed"
	// CodeNameDiffers: the directory has another name than the index of its files. It may be a copy, of
	// which older files would be published beside those that replaced them: nothing is written.
	CodeNameDiffers = "index-name-differs"
	// CodeFailed: splits that should have been published were not.
	CodeFailed = "not-published"
	// CodeKeptIncarnation: the run created the index with the incarnation that its files name.
	CodeKeptIncarnation = "kept-incarnation"
	// CodeCannotKeep: the server cannot create the index with the incarnation that its files name. Nothing is written.
	CodeCannotKeep = "incarnation-unsupported"
	// CodeMarkedUnpublished: rows that an earlier run staged were marked for deletion before they were
	// published.
	CodeMarkedUnpublished = "marked-unpublished"
	// CodeStagedAndLost: the files of splits that an earlier run staged, and did not publish, are gone.
	CodeStagedAndLost = "staged-and-lost"
	// CodeUnverified: files could not be looked up again after their rows had been published.
	CodeUnverified = "unverified"
	// CodeOpstamp: published splits have delete opstamps that the metastore counts up to again, unless its counter is raised.
	CodeOpstamp = "delete-opstamps"
	// CodeLegacyRow: legacy files that should be published, whose rows were not derived.
	CodeLegacyRow = reasonLegacyRow
	// CodeWideRange: legacy files whose times are not known; their rows hold the widest range.
	CodeWideRange = "wide-time-range"
	// CodeParquet: the directory holds splits of another kind, which are not recovered.
	CodeParquet = "parquet-splits"
	// CodeMetastoreFile: a metastore.json lies beside the splits: something better than a recovery.
	CodeMetastoreFile = "metastore-file"
)

func (w *indexWork) add(f Finding) {
	f.Count = len(f.IDs)
	w.found = append(w.found, f)
}

func findingNameGuessed(name string) Finding {
	return Finding{Code: CodeNameGuessed, NeedsPerson: true, Message: fmt.Sprintf(
		"no file in the directory %s says which index it belongs to; its name is taken for the index id", name)}
}

func (w *indexWork) findingNameDiffers() Finding {
	return Finding{
		Code: CodeNameDiffers, NeedsPerson: true,
		Message: fmt.Sprintf("the directory %s holds files of index %s, perhaps a copy; nothing is written for it. If it is the index's own, say so", w.name, w.indexID),
		Next:    w.again("plan", "--index", w.indexID, "--index-uri", w.indexID+"="+w.location.String()),
	}
}

// addFindings adds those of the plan and those of the index as a whole.
func (w *indexWork) addFindings() {
	for _, f := range w.plan.Findings {
		if f.Code == lineage.FindingOtherIncarnations && len(f.IDs) == len(w.objects) {
			f.NeedsPerson = true // not one file is of this index: is it the right place?
		}
		w.add(w.translate(f))
	}
	w.findAbandoned()
	w.findEmptyListing()
	w.findSizes()
	w.findIncarnation()
	w.findLegacyRows()
	w.findContents()
	w.findWideRanges()
	if n := w.listing.others["parquet split"]; n > 0 {
		w.add(Finding{Code: CodeParquet, NeedsPerson: true, Message: fmt.Sprintf(
			"%d Parquet splits lie there, which hold no metadata to recover their rows from", n)})
	}
	if w.listing.others["metastore.json"] > 0 && len(w.rows) == 0 {
		w.add(Finding{Code: CodeMetastoreFile, NeedsPerson: true, Message: "a metastore.json lies beside the splits: if it can be read, importing it is better than recovering, " +
			"because it knows what was published",
			Next: commandText("import", "--from", w.location.String(), "--store", "URL")})
	}
}

func (w *indexWork) findEmptyListing() {
	if len(w.objects) > 0 {
		return
	}
	published := 0
	for _, r := range w.rows {
		if r.state == metastore.Published {
			published++
		}
	}
	if published == 0 && !w.named {
		return
	}
	w.add(Finding{Code: CodeEmptyListing, NeedsPerson: true, Message: fmt.Sprintf(
		"no split file lies in %s, and the metastore has %d published rows: is the place right, and may it be read?", w.location, published),
		Next: w.command("index", "describe", w.indexID)})
}

// findSizes compares the sizes of files with the ends of the footers in published rows.
func (w *indexWork) findSizes() {
	var ids []string
	for i := range w.objects {
		object := &w.objects[i]
		if r, has := w.rows[object.id]; has && r.state == metastore.Published && r.metadata.FooterEnd != uint64(object.Size) {
			ids = append(ids, object.id)
		}
	}
	if len(ids) > 0 {
		w.add(Finding{Code: CodeSizeMismatch, NeedsPerson: true, IDs: ids, Message: "the files do not have the sizes that their published rows say; searches in them fail"})
	}
}

func (w *indexWork) findIncarnation() {
	switch {
	case w.summary.Missing && len(w.objects) > 0:
		w.add(w.missingIndex())
	case w.summary.KeptIncarnation:
		w.add(Finding{Code: CodeKeptIncarnation, Message: fmt.Sprintf(
			"the index was created with incarnation %s, which the files name. Nodes that knew it before the loss take it for the same index: restart them. "+
				"Ingest nodes delete the logs of shards that the metastore does not know", w.uid.Incarnation)})
	case w.summary.RecoveredUID != "":
		w.add(Finding{Code: CodeNewIncarnation, Message: fmt.Sprintf(
			"the files are of incarnation %s, the index is %s: rows are written under the UID of the index. Keep both UIDs on record: if this metastore is lost too, the next recovery needs --alias %s",
			w.summary.RecoveredUID, w.uid, w.summary.RecoveredUID)})
	}
}

func (w *indexWork) findLegacyRows() {
	var ids []string
	for i := range w.items {
		if w.items[i].reason == reasonLegacyRow {
			ids = append(ids, w.items[i].decision.ID)
		}
	}
	if len(ids) > 0 {
		w.add(Finding{Code: CodeLegacyRow, NeedsPerson: true, IDs: ids, Message: "these files were written by release 0.9 or older and are live, but their rows were not derived: with --live contents are not read"})
	}
}

// checkLocation compares the directory with the URIs of the indexes. The configuration is that of the index, which may have
// to be created first; nil if it is not known.
func (w *indexWork) checkLocation(config *indexconfig.IndexConfig) {
	for _, other := range w.indexes {
		if other.IndexUID.IndexID == w.indexID || other.Config == nil {
			continue
		}
		at, err := ParseLocation(other.Config.IndexURI, "")
		if err == nil && at.Same(w.location) {
			w.add(Finding{Code: CodeSharedLocation, NeedsPerson: true, Message: fmt.Sprintf(
				"index %s has the same directory %s: its files would be published twice, and deleting them for one index takes them from the other; nothing is written",
				other.IndexUID, w.location), Next: w.command("index", "describe", other.IndexUID.IndexID)})
		}
	}
	if config == nil {
		return
	}
	at, err := ParseLocation(config.IndexURI, "")
	if err != nil || !at.Same(w.location) {
		w.add(Finding{Code: CodeOtherLocation, Message: fmt.Sprintf(
			"the files were read from %s, but searchers read the index at its URI %s: make sure that both are the same place", w.location, config.IndexURI)})
	}
}

// blocked reports whether a finding forbids writing.
func (w *indexWork) blocked() bool {
	for i := range w.found {
		if code := w.found[i].Code; code == CodeSharedLocation || code == CodeNameDiffers {
			return true
		}
	}
	return false
}
