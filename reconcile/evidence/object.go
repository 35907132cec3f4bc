package evidence

import (
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile/segment"
)

// Object returns the object of package containment. lastModified is the storage's time of the last
// write, in unix seconds; 0 if it tells nothing.
func (e *Evidence) Object(splitID string, lastModified int64) containment.Object {
	o := containment.Object{
		ID: splitID, Made: Made(splitID), Born: lastModified, NumDocs: e.storedDocs(), Blocks: e.Blocks, AreaChecksum: e.AreaChecksum,
		Compression: e.Compression, Origin: e.Origin, Opstamp: e.Opstamp, Schema: e.Schema, TimeRange: e.TimeRange, Tags: e.Tags,
	}
	if o.Made.Set {
		o.Born = max(o.Born, o.Made.Value/1000)
	}
	return o
}

// storedDocs counts the documents in the store, those included that a search does not find any more.
func (e *Evidence) storedDocs() uint64 {
	var docs uint64
	for _, b := range e.Blocks {
		docs += uint64(b.Docs)
	}
	return docs
}

// Made returns the time in a split id, in milliseconds: a ULID, or one whose last four characters were
// put in front of an underscore.
func Made(splitID string) metastore.Optional[int64] {
	if len(splitID) == ulid.EncodedSize+1 && splitID[4] == '_' {
		splitID = splitID[5:] + splitID[:4]
	}
	parsed, err := ulid.ParseStrict(splitID)
	if err != nil {
		return metastore.Optional[int64]{}
	}
	return metastore.Some(int64(parsed.Time()))
}

// WideRange contains the time of every document, in seconds. It is what a row says whose time range is
// not known: a row without one counts as 1970 where hits are sorted by time. Searchers multiply the ends
// to nanoseconds, which must fit 64 bits.
var WideRange = metastore.TimeRange{Start: -9_000_000_000, End: 9_000_000_000}

// Row returns the row of the split: what the file proves, and else what hides no document. createdAt is in
// unix seconds, and counts if the id tells no time.
func (e *Evidence) Row(splitID string, uid metastore.IndexUID, footerEnd uint64, createdAt int64, partitionID uint64) metastore.SplitMetadata {
	m := metastore.SplitMetadata{
		SplitID: splitID, IndexUID: uid, PartitionID: partitionID, SourceID: unknown, NodeID: unknown, NumDocs: e.NumDocs,
		TimeRange: e.TimeRange, CreateTimestamp: createdAt, Tags: e.Tags, FooterStart: e.FooterStart, FooterEnd: footerEnd,
		DocMappingUID: e.mappingUID(),
	}
	if made := Made(splitID); made.Set {
		m.CreateTimestamp = made.Value / int64(time.Second/time.Millisecond)
	}
	if e.Fields.Time != "" && !m.TimeRange.Set {
		m.TimeRange = metastore.Some(WideRange)
	}
	return m
}

// unknown is what the peer writes for sources and nodes of old splits.
const unknown = "unknown"

// mappingUID returns a doc mapping UID of the split's schema: splits of different schemas must never meet
// in a merge, which goes by this UID.
func (e *Evidence) mappingUID() ulid.ULID {
	var uid ulid.ULID
	copy(uid[6:], e.Schema[:])
	return uid
}

// Merged says whether the split came from a merge or a rewrite, or may have.
func (e *Evidence) Merged() bool { return e.Origin != segment.Indexed }
