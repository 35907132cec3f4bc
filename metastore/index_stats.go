package metastore

// IndexStats counts the splits of one index by state. Metrics and sketch splits are not counted.
type IndexStats struct {
	IndexUID          IndexUID
	Staged            SplitStats
	Published         SplitStats
	MarkedForDeletion SplitStats
}

// SplitStats counts splits and adds up the sizes of their files.
type SplitStats struct {
	NumSplits      uint64
	TotalSizeBytes uint64
}
