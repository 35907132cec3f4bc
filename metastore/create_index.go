package metastore

import (
	"slices"
)

// ValidateCreateIndex checks what does not depend on the indexes that exist: a nil incarnation gives
// InvalidArgument, a repeated source id AlreadyExists(source).
func ValidateCreateIndex(request CreateIndexRequest) error {
	if request.Incarnation.Set && request.Incarnation.Value.IsZero() {
		return InvalidArgument("incarnation_id is nil: leave it out to have one drawn")
	}
	seen := make(map[string]struct{}, len(request.Sources))
	for _, source := range request.Sources {
		if _, again := seen[source.SourceID]; again {
			return AlreadyExists(SourceEntity(request.Config.IndexID, source.SourceID))
		}
		seen[source.SourceID] = struct{}{}
	}
	return nil
}

// NewIndexMetadata returns the metadata of an index that is created at now, in seconds: its
// checkpoint has an empty entry for each source.
func NewIndexMetadata(uid IndexUID, request CreateIndexRequest, now int64) *IndexMetadata {
	checkpoint := make(IndexCheckpoint, len(request.Sources))
	for _, source := range request.Sources {
		checkpoint[source.SourceID] = SourceCheckpoint{}
	}
	return &IndexMetadata{
		IndexUID:        uid,
		Config:          request.Config,
		Checkpoint:      checkpoint,
		CreateTimestamp: now,
		Sources:         slices.Clone(request.Sources),
	}
}
