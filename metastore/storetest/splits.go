package storetest

import (
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// payloadCreated is the create timestamp of split documents that do not care about it.
const payloadCreated = 1_600_000_000

// foreignIndexUID is what split documents of the suite carry as their index: never the index they
// are staged in, which every store must accept.
func foreignIndexUID() metastore.IndexUID {
	return metastore.IndexUID{IndexID: "somewhere-else", Incarnation: ulid.ULID{1}}
}

// newSplit returns the metadata of a small mature split without time range and tags.
func newSplit(id string, changes ...func(*metastore.SplitMetadata)) metastore.SplitMetadata {
	split := metastore.SplitMetadata{
		SplitID:              id,
		IndexUID:             foreignIndexUID(),
		SourceID:             "source",
		NodeID:               "node-1",
		NumDocs:              7,
		UncompressedDocsSize: 700,
		CreateTimestamp:      payloadCreated,
		FooterStart:          10,
		FooterEnd:            20,
	}
	for _, change := range changes {
		change(&split)
	}
	return split
}

// newSplits returns small splits of the given ids.
func newSplits(ids ...string) []metastore.SplitMetadata {
	splits := make([]metastore.SplitMetadata, 0, len(ids))
	for _, id := range ids {
		splits = append(splits, newSplit(id))
	}
	return splits
}

func node(id string) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) { s.NodeID = id }
}

func opstamp(value uint64) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) { s.DeleteOpstamp = value }
}

func timeRange(start, end int64) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) {
		s.TimeRange = metastore.Some(metastore.TimeRange{Start: start, End: end})
	}
}

// tags must be given sorted.
func tags(values ...string) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) { s.Tags = values }
}

func created(at int64) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) { s.CreateTimestamp = at }
}

func immature(periodMillis uint64) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) {
		s.Maturity = metastore.Maturity{Immature: true, PeriodMillis: periodMillis}
	}
}

func fileSize(bytes uint64) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) { s.FooterEnd = bytes }
}

func numDocs(n uint64) func(*metastore.SplitMetadata) {
	return func(s *metastore.SplitMetadata) { s.NumDocs = n }
}

// lifeCycle stages three splits and moves them on: "staged" is Staged, "published" Published and
// "marked" MarkedForDeletion.
func (b *bundle) lifeCycle(uid metastore.IndexUID) {
	b.Helper()
	b.stage(uid, newSplits("marked", "published", "staged")...)
	b.publish(uid, "marked", "published")
	b.mark(uid, "marked")
}
