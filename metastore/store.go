package metastore

import (
	"context"

	"holdfast/metastore/indexconfig"
)

// Store keeps the metadata of indexes and splits. Every method is safe for concurrent use, does all
// or nothing, and fails with an *Error. When a mutating call fails with a kind that is not
// CertainlyAborted, its outcome is unknown.
type Store interface {
	IndexStore
	SplitStore

	// ClusterIdentity returns the lower-case UUID of this metastore, drawn at the first call and the
	// same forever after.
	ClusterIdentity(ctx context.Context) (string, error)

	// CheckConnectivity fails if the storage behind the store cannot be reached now.
	CheckConnectivity(ctx context.Context) error

	// Close waits for the work under way and releases what the store holds. No method may be called
	// after it.
	Close() error
}

// IndexStore creates, changes, finds and deletes indexes.
type IndexStore interface {
	// CreateIndex creates an index with a fresh incarnation. A repeated source id gives
	// AlreadyExists(source), which is checked first; an existing index id AlreadyExists(index).
	CreateIndex(ctx context.Context, request CreateIndexRequest) (*IndexMetadata, error)

	// UpdateIndex replaces the five settings documents of an index and returns the result. An update
	// that changes nothing writes nothing. An update that the rules of doc mappings refuse, or that
	// would make the index unreadable, gives InvalidArgument.
	UpdateIndex(ctx context.Context, indexUID IndexUID, update indexconfig.Update) (*IndexMetadata, error)

	// IndexMetadata finds one index. If both id and UID are given the UID counts. A lookup that names
	// neither gives Internal, as the peer does.
	IndexMetadata(ctx context.Context, lookup IndexLookup) (*IndexMetadata, error)

	// IndexesMetadata finds many indexes. Lookups that fail are returned as failures, in the order of
	// the request, and do not fail the call. If both id and UID are given both must match. An index
	// asked for twice is returned once.
	IndexesMetadata(ctx context.Context, lookups []IndexLookup) ([]*IndexMetadata, []IndexLookupFailure, error)

	// ListIndexesMetadata returns every index whose id matches, each once, in the order of their UIDs.
	ListIndexesMetadata(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]*IndexMetadata, error)

	// ListIndexStats returns the counts of every index whose id matches, in the order of their UIDs.
	ListIndexStats(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]IndexStats, error)

	// DeleteIndex removes exactly this incarnation with all that belongs to it. Split files are not touched.
	DeleteIndex(ctx context.Context, indexUID IndexUID) error
}

// SplitStore moves splits through their life. An unknown index, or another incarnation of it, gives
// NotFound(index), except in ListSplits.
type SplitStore interface {
	// StageSplits inserts splits as Staged. See StageSplitsRequest for the two modes.
	StageSplits(ctx context.Context, request StageSplitsRequest) (StageSplitsResult, error)

	// PublishSplits publishes staged splits and marks the published splits that they replace. An
	// unknown id in either list gives NotFound(splits) with all unknown ids; otherwise a staged id not
	// Staged, then a replaced id not Published, gives FailedPrecondition(splits) with all such ids of
	// that list, in the order of the request without repetitions. Repeated ids count once.
	PublishSplits(ctx context.Context, request PublishSplitsRequest) error

	// MarkSplitsForDeletion marks splits of any state. Unknown ids and marked splits are left alone.
	MarkSplitsForDeletion(ctx context.Context, indexUID IndexUID, splitIDs []string) error

	// DeleteSplits removes splits that are marked; unknown ids are ignored. If any is Staged or
	// Published nothing is removed and the call gives FailedPrecondition(splits) with all such ids, in
	// the order of the request without repetitions.
	DeleteSplits(ctx context.Context, indexUID IndexUID, splitIDs []string) error

	// ListSplits calls visit for each split that matches, in the order that the query asks for, and
	// returns the first error of visit unchanged. What visit receives is one consistent state for each index.
	// Unknown indexes contribute nothing. The row is valid until visit returns; Clone keeps it longer.
	ListSplits(ctx context.Context, query *ListSplitsQuery, visit func(*SplitRow) error) error
}

// CreateIndexRequest holds validated configurations.
type CreateIndexRequest struct {
	Config  *indexconfig.IndexConfig
	Sources []*indexconfig.SourceConfig
}

// IndexLookup names an index by id (any incarnation), by UID, or by both.
type IndexLookup struct {
	IndexID  Optional[string]
	IndexUID Optional[IndexUID]
}

// IndexLookupFailure is a lookup that found no index, or failed for another reason.
type IndexLookupFailure struct {
	Lookup IndexLookup
	// NotFound is false when the lookup named no index or failed inside the store.
	NotFound bool
}

// StageSplitsRequest stages splits in one of two modes.
//
// Upsert (CreateOnly false): absent and Staged splits are written, a repeated id counts with its last
// occurrence. If any split exists in another state nothing is written and the call gives
// FailedPrecondition(splits) with all such ids in the order of the request. An empty list succeeds
// without looking at the index.
//
// Create-only: only absent splits are inserted, a repeated id counts with its first occurrence. A
// split that exists, in any state, is neither changed nor locked nor an error; it is reported as
// skipped. If all exist nothing is written at all. The index must exist even for an empty list.
//
// The index UID inside each split's document is replaced by the request's.
type StageSplitsRequest struct {
	IndexUID   IndexUID
	Splits     []SplitMetadata
	CreateOnly bool
}

// StageSplitsResult says what a call of StageSplits did. Staged and Skipped are filled in create-only
// mode only, sorted by split id.
type StageSplitsResult struct {
	Mutation MutationOccurred
	Staged   []string
	Skipped  []SkippedSplit
}

// SkippedSplit is a split that create-only staging left alone.
type SkippedSplit struct {
	SplitID string
	State   SplitState
}

// MutationOccurred tells whether an operation changed what is stored.
type MutationOccurred bool

const (
	// MutationNo means that nothing was written.
	MutationNo MutationOccurred = false
	// MutationYes means that the stored state changed.
	MutationYes MutationOccurred = true
)

// PublishSplitsRequest publishes StagedSplitIDs and marks ReplacedSplitIDs for deletion, in one step.
type PublishSplitsRequest struct {
	IndexUID         IndexUID
	StagedSplitIDs   []string
	ReplacedSplitIDs []string
}
