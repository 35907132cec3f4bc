package metastore

import (
	"fmt"
	"math"
)

// ParquetKind tells the two kinds of Parquet splits apart. They have the same documents and rules, and
// are kept apart: the splits of one kind are unknown to the calls about the other.
type ParquetKind uint8

const (
	// MetricsSplits hold data points of metrics.
	MetricsSplits ParquetKind = iota
	// SketchSplits hold sketches.
	SketchSplits
)

// String returns the word for the kind in messages and the peer's JSON: "Metrics" or "Sketches".
func (k ParquetKind) String() string {
	if k == SketchSplits {
		return "Sketches"
	}
	return "Metrics"
}

// ParseParquetKind reads the word of String, exactly.
func ParseParquetKind(text string) (ParquetKind, error) {
	switch text {
	case "Metrics":
		return MetricsSplits, nil
	case "Sketches":
		return SketchSplits, nil
	default:
		return 0, fmt.Errorf("%s is not a kind of Parquet splits: expected Metrics or Sketches", quoteBounded(text))
	}
}

// ParquetSplitMetadata is the metadata document of one Parquet split. A value that was parsed keeps
// its document as text and its fields are read-only.
type ParquetSplitMetadata struct {
	// Kind is what the document says. Nothing compares it with the kind of the calls that carry it.
	Kind        ParquetKind
	PartitionID uint64
	SplitID     string
	// IndexUID is the text in the document. Only staging demands that it is one.
	IndexUID string
	// TimeStart and TimeEnd are the range of the data, in seconds. The end is meant to be exclusive, and
	// filters take it as inclusive.
	TimeStart, TimeEnd uint64
	NumRows            uint64
	SizeBytes          uint64
	// MetricNames is a set, in the order of the document.
	MetricNames []string
	// LowCardinalityTags maps tag keys to the sets of their values, in the order of the document.
	LowCardinalityTags map[string][]string
	// HighCardinalityTagKeys is a set, in the order of the document.
	HighCardinalityTagKeys []string
	// CreatedSeconds and CreatedNanos are the time at which the file was written. The seconds are at most 2^63-1.
	CreatedSeconds uint64
	CreatedNanos   uint32 // below a second
	Maturity       Maturity
	ParquetFile    string
	// Window is the range of time that compactions of the split stay in.
	Window      Optional[ParquetWindow]
	SortFields  string
	NumMergeOps uint32
	// RowKeys is nil when there are none, which is not the same as no bytes.
	RowKeys []byte
	// ZonemapRegexes maps columns to regular expressions.
	ZonemapRegexes          map[string]string
	RowGroupPartitionPrefix uint32

	// document is the canonical text when the value was parsed: compact, all keys in the peer's order, the
	// keys of maps sorted, unknown keys behind the known ones.
	document string
}

// ParquetWindow is a range of time, in seconds: from Start on, for Duration, which is above 0.
type ParquetWindow struct {
	Start    int64
	Duration uint32
}

// last returns the last second of the window, the greatest integer if it lies behind that.
func (w ParquetWindow) last() int64 {
	if w.Start > math.MaxInt64-int64(w.Duration)+1 {
		return math.MaxInt64
	}
	return w.Start + int64(w.Duration) - 1
}

// MaturityTimestamp returns the second from which the split is mature, 0 if it always was. ok is false
// if it lies outside the range that every store can hold; seconds is the greatest integer then if it does not
// fit 64 bits.
func (m *ParquetSplitMetadata) MaturityTimestamp() (seconds int64, ok bool) {
	if !m.Maturity.Immature {
		return 0, true
	}
	period := m.Maturity.PeriodMillis / 1000
	if m.CreatedSeconds > math.MaxInt64-period {
		return math.MaxInt64, false
	}
	seconds = int64(m.CreatedSeconds + period)
	return seconds, seconds <= maxStoredTimestamp
}

// ParquetSplit is a Parquet split with what a store keeps of it.
type ParquetSplit struct {
	Metadata        *ParquetSplitMetadata
	State           SplitState
	UpdateTimestamp int64 // seconds
	// CreateTimestamp is when the split was staged first, in seconds.
	CreateTimestamp int64
	// NodeID is the node that made the split. No call tells it, so it is empty unless another program wrote it.
	NodeID string
	// DeleteOpstamp is 0 unless another program wrote it.
	DeleteOpstamp uint64
	// MaturityTimestamp is the second from which the split is mature, 0 if it always was.
	MaturityTimestamp int64
}

// ParquetSplitRow is a Parquet split as a listing hands it out. Its memory is its own.
type ParquetSplitRow struct {
	State           SplitState
	UpdateTimestamp int64
	// Document is the canonical metadata document.
	Document string
}
