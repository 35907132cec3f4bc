package metastore

import (
	"github.com/oklog/ulid/v2"
)

// SplitMetadata is the metadata document of one split. A value that was parsed keeps its document as
// text and its fields are read-only; change it with the With methods. A value built from fields gets
// its document from them.
type SplitMetadata struct {
	SplitID              string
	IndexUID             IndexUID
	PartitionID          uint64
	SourceID             string
	NodeID               string
	NumDocs              uint64
	UncompressedDocsSize uint64 // bytes
	TimeRange            Optional[TimeRange]
	CreateTimestamp      int64 // seconds, set by the indexer
	Maturity             Maturity
	Tags                 []string // sorted by bytes, without repetitions
	FooterStart          uint64   // offset of the split file's footer
	FooterEnd            uint64   // offset behind the footer, the size of the split file
	DeleteOpstamp        uint64
	NumMergeOps          uint64
	DocMappingUID        ulid.ULID

	// document is the canonical text when the value was parsed: compact, current version, all keys in
	// the peer's order, unknown keys behind them.
	document string
}

// TimeRange is the range of the timestamps in a split, in seconds, both ends inclusive. The start may
// be above the end; nothing checks it.
type TimeRange struct {
	Start, End int64
}

// Maturity says when a split stops being a candidate for merges. The zero value is mature.
type Maturity struct {
	Immature bool
	// PeriodMillis counts from the split's own create timestamp, in milliseconds.
	PeriodMillis uint64
}

// SplitRow is a split as a listing hands it out: its state, and its metadata document as text.
type SplitRow struct {
	State            SplitState
	UpdateTimestamp  int64
	PublishTimestamp Optional[int64]
	// Document is the canonical metadata document, with the values that are current in the store.
	Document string
}

// Split is a split with its metadata read.
type Split struct {
	State            SplitState
	UpdateTimestamp  int64
	PublishTimestamp Optional[int64]
	Metadata         SplitMetadata
}
