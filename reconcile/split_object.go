package reconcile

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// splitObject is a split file of the bucket and what its footer says.
type splitObject struct {
	Entry
	id      string
	content lineage.Content
	// metadata and parents are those of the recovery entry, with lineage.WithEntry only.
	metadata metastore.SplitMetadata
	parents  []string
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

// idTime returns the time in a split id, in seconds: a ULID, or one whose last four characters were
// put in front of an underscore. 0 if it is neither.
func idTime(id string) int64 {
	if len(id) == ulid.EncodedSize+1 && id[4] == '_' {
		id = id[5:] + id[:4]
	}
	parsed, err := ulid.ParseStrict(id)
	if err != nil {
		return 0
	}
	return int64(parsed.Time() / uint64(time.Second/time.Millisecond))
}

// numDocs returns the documents in the split as far as they are known.
func (o *splitObject) numDocs() uint64 { return o.metadata.NumDocs }
