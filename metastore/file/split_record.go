package file

import (
	"unique"
	"unsafe"

	"holdfast/metastore"
)

// splitRecord is a split as it is held in memory: what listings filter and order by, what counts for
// the statistics, and its document without the text that all documents share. A record that belongs to
// a set is never changed.
type splitRecord struct {
	id   string
	text packedDocument
	node unique.Handle[string]

	updated, published, created int64 // seconds
	timeStart, timeEnd          int64 // seconds
	maturityPeriod              uint64
	footerEnd                   uint64
	deleteOpstamp               uint64 // counts, not the one in text

	state        metastore.SplitState
	isPublished  bool // published is set
	hasTimeRange bool
	immature     bool
}

func newSplitRecord(split *metastore.Split) *splitRecord {
	m := &split.Metadata
	r := &splitRecord{
		text:           packDocument(m.Document()),
		node:           unique.Make(m.NodeID),
		updated:        split.UpdateTimestamp,
		published:      split.PublishTimestamp.Value,
		created:        m.CreateTimestamp,
		timeStart:      m.TimeRange.Value.Start,
		timeEnd:        m.TimeRange.Value.End,
		maturityPeriod: m.Maturity.PeriodMillis,
		footerEnd:      m.FooterEnd,
		deleteOpstamp:  m.DeleteOpstamp,
		state:          split.State,
		isPublished:    split.PublishTimestamp.Set,
		hasTimeRange:   m.TimeRange.Set,
		immature:       m.Maturity.Immature,
	}
	r.id = r.text.splitID(m.SplitID)
	return r
}

// describe fills in what the filters and orders of a query look at: everything but the tags if these
// are not wanted. Other fields are left as they are. The result is to be read only until the next call.
func (r *splitRecord) describe(split *metastore.Split, withTags bool) {
	split.State = r.state
	split.UpdateTimestamp = r.updated
	split.PublishTimestamp = metastore.Optional[int64]{Value: r.published, Set: r.isPublished}
	m := &split.Metadata
	m.SplitID = r.id
	m.NodeID = r.node.Value()
	m.CreateTimestamp = r.created
	m.TimeRange.Set = r.hasTimeRange
	m.TimeRange.Value = metastore.TimeRange{Start: r.timeStart, End: r.timeEnd}
	m.Maturity = metastore.Maturity{Immature: r.immature, PeriodMillis: r.maturityPeriod}
	m.DeleteOpstamp = r.deleteOpstamp
	if withTags {
		m.Tags = r.text.appendTags(m.Tags[:0])
	}
}

// row returns the row of a listing. Its document lies in the buffer, which is returned for the next
// call and must not be used otherwise as long as the row is.
func (r *splitRecord) row(buffer []byte) (metastore.SplitRow, []byte) {
	buffer = r.text.append(buffer[:0], r.deleteOpstamp)
	return metastore.SplitRow{
		State:            r.state,
		UpdateTimestamp:  r.updated,
		PublishTimestamp: metastore.Optional[int64]{Value: r.published, Set: r.isPublished},
		Document:         unsafe.String(unsafe.SliceData(buffer), len(buffer)),
	}, buffer
}

// moved returns the record after a change of state.
func (r *splitRecord) moved(to metastore.SplitState, time int64) *splitRecord {
	moved := *r
	moved.state = to
	moved.updated = time
	if to == metastore.Published {
		moved.published, moved.isPublished = time, true
	}
	return &moved
}

// stamped returns the record with another delete opstamp.
func (r *splitRecord) stamped(opstamp uint64, time int64) *splitRecord {
	stamped := *r
	stamped.deleteOpstamp = opstamp
	stamped.updated = time
	return &stamped
}
