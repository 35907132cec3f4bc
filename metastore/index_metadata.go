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

	// unknown are the members of a newer version, each led by a comma.
	unknown []byte
}
