package metastore

import "holdfast/metastore/indexconfig"

// IndexMetadata is everything about an index but its splits. Values returned by a store are shared:
// treat them as read-only.
type IndexMetadata struct {
	IndexUID        IndexUID
	Config          *indexconfig.IndexConfig
	Checkpoint      IndexCheckpoint
	CreateTimestamp int64
	Sources         []*indexconfig.SourceConfig // in the order they were added
}

// IndexCheckpoint maps source ids to the progress of the source. A source without entry has made none.
type IndexCheckpoint map[string]SourceCheckpoint

// SourceCheckpoint maps partition ids to the text of the last position that is published, inclusive:
// empty for the beginning, "~" and "~<offset>" for the end, anything else an offset.
type SourceCheckpoint map[string]string
