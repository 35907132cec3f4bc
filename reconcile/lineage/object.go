package lineage

import (
	"time"

	"holdfast/metastore"
)

// Object is one split file found in the bucket, with what its recovery entry says.
type Object struct {
	// ID is the split id: the file's name without ".split". Never empty, unique among the objects.
	ID string
	// Content says how much of the file could be understood. The zero value is WithEntry.
	Content Content
	// LastModified is the store's time of the last write, in unix seconds.
	LastModified int64
	// RowlessTwice is set when two scans, at least the marked horizon apart, both found this object
	// without a row. Only live mode asks for it.
	RowlessTwice bool

	// What follows comes from the recovery entry and is ignored unless Content is WithEntry; for
	// Legacy objects CreateTimestamp holds the time in the id, or 0 when there is none; the age of an
	// object without it proves nothing.

	IndexUID        metastore.IndexUID
	SourceID        string
	DocMappingUID   [16]byte
	PartitionID     uint64
	NumDocs         uint64
	TimeRange       metastore.Optional[metastore.TimeRange] // seconds
	CreateTimestamp int64                                   // unix seconds, the uploader's clock
	DeleteOpstamp   uint64
	NumMergeOps     uint64
	// Parents are the splits that this one was made to replace. Repetitions are dropped.
	Parents []string

	// Verdict is what the content of the files proves about the object, as far as it was compared.
	Verdict Verdict
}

// Content says how much of a split file could be understood.
type Content uint8

const (
	// WithEntry is a file with a recovery entry: metadata and parents are known.
	WithEntry Content = iota
	// Legacy is a well-formed file of a release that wrote no recovery entry: parents are unknown,
	// which is not the same as none.
	Legacy
	// Unreadable is a file that exists and could not be read or understood. It is never taken for
	// absent and never acted upon.
	Unreadable
)

// NewObject returns the object for a file with a recovery entry.
func NewObject(metadata *metastore.SplitMetadata, parents []string, lastModified time.Time) Object {
	return Object{
		ID:              metadata.SplitID,
		LastModified:    lastModified.Unix(),
		IndexUID:        metadata.IndexUID,
		SourceID:        metadata.SourceID,
		DocMappingUID:   metadata.DocMappingUID,
		PartitionID:     metadata.PartitionID,
		NumDocs:         metadata.NumDocs,
		TimeRange:       metadata.TimeRange,
		CreateTimestamp: metadata.CreateTimestamp,
		DeleteOpstamp:   metadata.DeleteOpstamp,
		NumMergeOps:     metadata.NumMergeOps,
		Parents:         parents,
	}
}

// Row is one row of the metastore, of the index UID that is being recovered.
type Row struct {
	// ID is the split id. Never empty, unique among the rows.
	ID    string
	State metastore.SplitState
	// PublishTimestampSet tells a marked row that had been published from one that never was.
	PublishTimestampSet bool
	// EqualsObject is set when the row's metadata equals what the object of this id recovers, apart
	// from the delete opstamp, which a metastore may raise, and the create timestamp, which some
	// stores replace. Only Staged rows are asked for it.
	EqualsObject bool
	// Ours is set when this recovery is known to have staged the row itself, by its journal.
	Ours bool
}
