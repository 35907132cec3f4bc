package metastore

import (
	"context"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
)

// Store keeps the metadata of indexes and splits. Every method is safe for concurrent use, does all
// or nothing, and fails with an *Error. When a mutating call fails with a kind that is not
// CertainlyAborted, its outcome is unknown.
//
// One exception: MarkSplitsForDeletion, DeleteSplits, UpdateSplitsDeleteOpstamp, MarkParquetSplitsForDeletion and
// DeleteParquetSplits of more than MaxAtomicSplitIDs different ids may be done in pieces, each of which does all or
// nothing. They run in ascending order of the ids, and none begins once the context has ended. If such a call fails before
// the first piece is done, it has done nothing. If it fails later, the pieces done stay done, the kind is one of unknown
// outcome, and the message says how many splits are done. The same call made again does the rest.
type Store interface {
	IndexStore
	SplitStore
	ParquetSplitStore
	ShardStore
	SourceStore
	DeleteTaskStore
	IndexTemplateStore

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
	// CreateIndex creates an index, with a fresh incarnation unless the request names one. A nil incarnation gives
	// InvalidArgument, a repeated source id AlreadyExists(source), which are checked first; an existing index id
	// AlreadyExists(index). An index that had the incarnation before and was deleted leaves nothing to the new one.
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

	// PublishSplits publishes staged splits, marks the published splits that they replace, and makes the
	// progress of the checkpoint delta, in one step. The delta is checked before the splits, as
	// PublishSplitsRequest says. An unknown id in either list gives NotFound(splits) with all unknown
	// ids; otherwise a staged id not Staged, then a replaced id not Published, gives
	// FailedPrecondition(splits) with all such ids of that list, in the order of the request without
	// repetitions. Repeated ids count once.
	PublishSplits(ctx context.Context, request PublishSplitsRequest) error

	// MarkSplitsForDeletion marks splits of any state. Unknown ids and marked splits are left alone.
	MarkSplitsForDeletion(ctx context.Context, indexUID IndexUID, splitIDs []string) error

	// DeleteSplits removes splits that are marked; unknown ids are ignored. If any is Staged or
	// Published nothing is removed and the call gives FailedPrecondition(splits) with all such ids, in
	// the order of the request without repetitions. All are looked at before the first piece of a large call, and again
	// in their piece: one that was staged anew in between stops the call.
	DeleteSplits(ctx context.Context, indexUID IndexUID, splitIDs []string) error

	// ListSplits calls visit for each split that matches, in the order that the query asks for, and
	// returns the first error of visit unchanged. What visit receives is one consistent state for each index.
	// Unknown indexes contribute nothing. The row is valid until visit returns; Clone keeps it longer.
	ListSplits(ctx context.Context, query *ListSplitsQuery, visit func(*SplitRow) error) error
}

// SourceStore adds, changes and removes the sources of indexes. An unknown index, or another
// incarnation of it, gives NotFound(index), which is checked before the source. A call that changes
// nothing writes nothing.
type SourceStore interface {
	// AddSource adds a source with an empty checkpoint and without shards; a checkpoint left over from
	// earlier is kept. A source of this id gives AlreadyExists(source).
	AddSource(ctx context.Context, indexUID IndexUID, source *indexconfig.SourceConfig) error

	// UpdateSource replaces the config of the source of this id; its checkpoint and shards stay. An
	// unknown source gives NotFound(source).
	UpdateSource(ctx context.Context, indexUID IndexUID, source *indexconfig.SourceConfig) error

	// ToggleSource enables or disables a source. An unknown source gives NotFound(source).
	ToggleSource(ctx context.Context, indexUID IndexUID, sourceID string, enabled bool) error

	// DeleteSource removes a source with its checkpoint and its shards. An unknown source gives
	// NotFound(source).
	DeleteSource(ctx context.Context, indexUID IndexUID, sourceID string) error

	// ResetSourceCheckpoint removes the checkpoint of a source from the index metadata. Shards keep their
	// positions. An unknown source is no error.
	ResetSourceCheckpoint(ctx context.Context, indexUID IndexUID, sourceID string) error
}

// ShardStore opens, hands over and removes the shards of sources. But for OpenShards, an unknown index,
// another incarnation of it, or an unknown source has no shards and is no error: an index may be
// deleted while its shards are being cleaned up.
type ShardStore interface {
	// OpenShards returns the shard that each subrequest names, in their order. An absent one is created:
	// open, at the beginning, with what the subrequest says. An existing one is returned as it is,
	// whatever its state; what else the subrequest says is ignored. An unknown index gives
	// NotFound(index), an unknown source NotFound(source); then nothing is created, not for the other
	// subrequests either, unless the index or source is deleted while the call runs: then shards of
	// other indexes may have been created.
	OpenShards(ctx context.Context, subrequests []OpenShardSubrequest) ([]Shard, error)

	// AcquireShards records the token in each shard that exists and that the token may take over (see
	// Shard.MayAcquire), and returns these shards, each once, sorted by shard id. Their update timestamps stay.
	AcquireShards(ctx context.Context, request AcquireShardsRequest) ([]Shard, error)

	// DeleteShards removes shards that are at their end, or all named ones if forced.
	DeleteShards(ctx context.Context, request DeleteShardsRequest) (DeleteShardsResult, error)

	// PruneShards removes old shards, whatever their state and position. Without a limit it does nothing. Many
	// may be removed step by step, so a call that fails may have removed some.
	PruneShards(ctx context.Context, request PruneShardsRequest) error

	// ListShards returns the shards that each subrequest asks for, in their order, each list sorted by
	// shard id.
	ListShards(ctx context.Context, subrequests []ListShardsSubrequest) ([][]Shard, error)
}

// DeleteTaskStore keeps delete tasks, and the delete opstamps of splits.
type DeleteTaskStore interface {
	// CreateDeleteTask adds a task with an opstamp above that of every task of the index that anybody has
	// seen. The query is not looked at. An unknown index, or another incarnation of it, gives NotFound(index).
	CreateDeleteTask(ctx context.Context, query DeleteQuery) (DeleteTask, error)

	// DeleteOpstampFloor returns the opstamp that those of all tasks created from now on are above, 0 if the next one may
	// be 1. An index that does not exist has the floor that it would have if it were created now.
	DeleteOpstampFloor(ctx context.Context, indexUID IndexUID) (uint64, error)

	// RaiseDeleteOpstampFloor makes the floor at least what is given, for splits that had tasks of a lost metastore
	// applied: new tasks would not be applied to them otherwise. A floor that is high enough stays, and nothing is
	// written. It is no task: LastDeleteOpstamp stays. A store that has one counter for all indexes raises it for
	// all. An unknown index gives NotFound(index), a floor of 2^63-1 and more, which leaves no opstamp, InvalidArgument.
	RaiseDeleteOpstampFloor(ctx context.Context, indexUID IndexUID, floor uint64) error

	// LastDeleteOpstamp returns the highest opstamp of the index's tasks, 0 if it has none or does not exist.
	LastDeleteOpstamp(ctx context.Context, indexUID IndexUID) (uint64, error)

	// ListDeleteTasks returns the index's tasks with an opstamp above after, in ascending order; none if
	// the index does not exist.
	ListDeleteTasks(ctx context.Context, indexUID IndexUID, after uint64) ([]DeleteTask, error)

	// ListStaleSplits visits splits as ListSplits does. An unknown index has none.
	ListStaleSplits(ctx context.Context, query StaleSplitsQuery, visit func(*SplitRow) error) error

	// UpdateSplitsDeleteOpstamp sets the delete opstamp of splits in any state; the update timestamp of
	// those that had another one moves. Unknown ids are ignored. An empty list succeeds without looking
	// at the index; otherwise an unknown one gives NotFound(index). An opstamp above 2^63-1 gives InvalidArgument.
	UpdateSplitsDeleteOpstamp(ctx context.Context, indexUID IndexUID, splitIDs []string, opstamp uint64) error
}

// IndexTemplateStore keeps index templates. Templates belong to no index.
type IndexTemplateStore interface {
	// CreateIndexTemplate stores a template. One that is not valid gives InvalidArgument, which is
	// checked first (ValidateIndexTemplate). If one of this id exists and overwrite is not set the call
	// gives AlreadyExists(index template). Overwriting a template with an equal one writes nothing.
	CreateIndexTemplate(ctx context.Context, template *indexconfig.IndexTemplate, overwrite bool) error

	// IndexTemplate returns a template. An unknown id gives NotFound(index template).
	IndexTemplate(ctx context.Context, templateID string) (*indexconfig.IndexTemplate, error)

	// FindIndexTemplateMatches returns, for each index id that a template matches, the template of the
	// highest priority; of equal ones that with the smallest id. Each index id counts once; they are
	// sorted. Nothing checks whether the ids are valid, or in use.
	FindIndexTemplateMatches(ctx context.Context, indexIDs []string) ([]IndexTemplateMatch, error)

	// ListIndexTemplates returns all templates, sorted by id.
	ListIndexTemplates(ctx context.Context) ([]*indexconfig.IndexTemplate, error)

	// DeleteIndexTemplates removes templates. Unknown ids are ignored.
	DeleteIndexTemplates(ctx context.Context, templateIDs []string) error
}

// ParquetSplitStore moves Parquet splits of both kinds through their life, as SplitStore does others. The splits of
// one kind are unknown to the calls about the other.
type ParquetSplitStore interface {
	// StageParquetSplits inserts splits as Staged and replaces those that are Staged, which keep their create
	// timestamp; all or nothing. A repeated id counts with its last occurrence. If any exists in another state the
	// call gives FailedPrecondition(splits) with all such ids, in the order of the request without repetitions. A document
	// of another index UID than the call's gives InvalidArgument. An unknown index gives NotFound(index). An empty
	// list succeeds without looking at the index.
	//
	// In PostgreSQL's schema the ids of one kind are unique over all indexes: there an id that another index has gives
	// FailedPrecondition(splits) too. On the file store each index has its own.
	StageParquetSplits(ctx context.Context, kind ParquetKind, indexUID IndexUID, splits []ParquetSplitMetadata) error

	// PublishParquetSplits follows all rules of PublishSplits.
	PublishParquetSplits(ctx context.Context, kind ParquetKind, request PublishSplitsRequest) error

	// ListParquetSplits calls visit for each split that matches, sorted by split id, and returns the first error
	// of visit unchanged. An unknown index has none.
	ListParquetSplits(ctx context.Context, kind ParquetKind, query *ListParquetSplitsQuery, visit func(*ParquetSplitRow) error) error

	// MarkParquetSplitsForDeletion marks splits of any state. Unknown ids, marked splits and an unknown
	// index are no errors.
	MarkParquetSplitsForDeletion(ctx context.Context, kind ParquetKind, indexUID IndexUID, splitIDs []string) error

	// DeleteParquetSplits removes splits that are marked. Unknown ids and an unknown index are no errors.
	// If any split is Staged or Published nothing is removed and the call gives
	// FailedPrecondition(splits) with all such ids, in the order of the request without repetitions.
	DeleteParquetSplits(ctx context.Context, kind ParquetKind, indexUID IndexUID, splitIDs []string) error
}

// CreateIndexRequest holds validated configurations.
type CreateIndexRequest struct {
	Config  *indexconfig.IndexConfig
	Sources []*indexconfig.SourceConfig
	// Incarnation is that of the new index; absent means that a fresh one is drawn. It is named by a recovery (package
	// reconcile, RPC RecoverIndex), because the split files and the logs of ingest nodes name it, and by
	// calls with an idempotency key (idempotency.Call), whose incarnation follows from the key.
	Incarnation Optional[ulid.ULID]
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
//
// Delta, if not nil, is the progress that the published splits hold. One that does not move forward
// (CheckpointDelta.Validate) is refused first. Its source must exist, else NotFound(source). A source
// that uses shards (indexconfig.SourceConfig.UsesShards) needs a PublishToken, else InvalidArgument;
// then each partition is the shard of that id: an absent one gives NotFound(shard) for the first,
// then the rules of Shard.CheckPublish apply, in the order of the shard ids. The progress of other
// sources is in the index metadata, see IndexMetadata.WithDelta, and the token is not looked at.
type PublishSplitsRequest struct {
	IndexUID         IndexUID
	StagedSplitIDs   []string
	ReplacedSplitIDs []string
	Delta            *CheckpointDelta
	PublishToken     Optional[string]
}
