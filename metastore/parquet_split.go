package metastore

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
