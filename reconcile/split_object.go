package reconcile

import (
	"strings"

	"holdfast/metastore"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
)

// splitObject is a split file of the bucket and what its footer says.
type splitObject struct {
	Entry
	id      string
	content lineage.Content
	// metadata and parents are those of the recovery entry. With lineage.Legacy the metadata is what the
	// evidence gives, and there are no parents.
	metadata metastore.SplitMetadata
	parents  []string
	// evidence is what the segment says of itself: of legacy files, and of those they are compared with.
	// Nil if it was not read.
	evidence *evidence.Evidence
	problem  string // with lineage.Unreadable: why
}

func splitIDOf(name string) string { return strings.TrimSuffix(name, splitSuffix) }

// lineageObject returns the object as the decision procedure takes it.
func (o *splitObject) lineageObject() lineage.Object {
	if o.content == lineage.WithEntry {
		return lineage.NewObject(&o.metadata, o.parents, o.Modified)
	}
	return lineage.Object{ID: o.id, Content: o.content, LastModified: o.Modified.Unix(), CreateTimestamp: idTime(o.id)}
}

// idTime returns the time in a split id, in seconds. 0 if it tells none.
func idTime(id string) int64 { return evidence.Made(id).Value / 1000 }

// numDocs returns the documents in the split as far as they are known.
func (o *splitObject) numDocs() uint64 { return o.metadata.NumDocs }

// tellsRow says whether metadata is the row that recovery writes.
func (o *splitObject) tellsRow() bool {
	return o.content == lineage.WithEntry || o.content == lineage.Legacy && o.evidence != nil
}
